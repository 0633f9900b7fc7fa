/** Mouse, pen and fingers on a canvas, turned into move, zoom and click. */
const STILL = 5; // pixels: a pointer that moved less has clicked, one that moved more has dragged
const LINE = 16; // pixels per line, for mouse wheels that count lines

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{
 *   begin: (shift: boolean) => void,
 *   move: (dx: number, dy: number, at: Point, fingers: number) => void,
 *   end: () => void,
 *   zoom: (by: number, at: Point) => void,
 *   click: (at: Point) => void,
 *   over: (at: Point) => void,
 *   out: () => void,
 * }} handlers
 */
export function gestures(canvas, { begin, move, end, zoom, click, over, out }) {
  /** @type {Map<number, Point>} */
  const fingers = new Map();
  let traveled = 0;

  const at = (/** @type {MouseEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const middle = () => {
    const all = [...fingers.values()];
    return { x: sum(all, "x") / all.length, y: sum(all, "y") / all.length };
  };
  const reach = () => {
    const [a, b] = [...fingers.values()];
    return Math.max(1, Math.hypot(a.x - b.x, a.y - b.y));
  };

  /** @param {PointerEvent} event */
  function down(event) {
    canvas.setPointerCapture(event.pointerId);
    if (!fingers.size) {
      traveled = 0;
      begin(event.shiftKey);
    }
    fingers.set(event.pointerId, at(event));
    out();
  }

  /** @param {PointerEvent} event */
  function drag(event) {
    if (!fingers.has(event.pointerId)) {
      if (event.pointerType === "mouse") over(at(event));
      return;
    }
    const before = middle();
    const apart = fingers.size === 2 ? reach() : 0;
    fingers.set(event.pointerId, at(event));
    const now = middle();
    traveled += Math.hypot(now.x - before.x, now.y - before.y) + (apart ? STILL : 0);
    move(now.x - before.x, now.y - before.y, now, fingers.size);
    if (apart) zoom(reach() / apart, now);
  }

  /** @param {PointerEvent} event */
  function up(event) {
    const known = fingers.delete(event.pointerId);
    if (known && event.type === "pointerup" && !fingers.size && traveled < STILL) click(at(event));
    if (known && !fingers.size) end();
  }

  /** @param {WheelEvent} event */
  function wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? LINE : 1;
    zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0015)), at(event));
  }

  /** @type {Record<string, (event: any) => void>} */
  const listeners = { pointerdown: down, pointermove: drag, pointerup: up, pointercancel: up, pointerleave: out, wheel };
  for (const [name, listener] of Object.entries(listeners)) canvas.addEventListener(name, listener, { passive: false });
  return { leave: () => Object.entries(listeners).forEach(([name, listener]) => canvas.removeEventListener(name, listener)) };
}

/** @type {(all: Point[], key: "x" | "y") => number} */
const sum = (all, key) => all.reduce((total, one) => total + one[key], 0);
