/** Mouse, pen and fingers on a canvas, told as move, zoom and click. */
const STILL = 5;

export function gestures(canvas, { move, zoom, click, over, out }) {
  const fingers = new Map();
  let travelled = 0;

  const at = (event) => {
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

  function down(event) {
    canvas.setPointerCapture(event.pointerId);
    if (!fingers.size) travelled = 0;
    fingers.set(event.pointerId, at(event));
    out();
  }

  function drag(event) {
    if (!fingers.has(event.pointerId)) return event.pointerType === "mouse" ? over(at(event)) : undefined;
    const before = middle();
    const apart = fingers.size === 2 ? reach() : 0;
    fingers.set(event.pointerId, at(event));
    const now = middle();
    travelled += Math.hypot(now.x - before.x, now.y - before.y) + (apart ? STILL : 0);
    move(now.x - before.x, now.y - before.y);
    if (apart) zoom(reach() / apart, now);
  }

  function up(event) {
    const known = fingers.delete(event.pointerId);
    if (known && event.type === "pointerup" && !fingers.size && travelled < STILL) click(at(event));
  }

  function wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0015)), at(event));
  }

  const listeners = { pointerdown: down, pointermove: drag, pointerup: up, pointercancel: up, pointerleave: out, wheel };
  for (const [name, listener] of Object.entries(listeners)) canvas.addEventListener(name, listener, { passive: false });
  return { leave: () => Object.entries(listeners).forEach(([name, listener]) => canvas.removeEventListener(name, listener)) };
}

const sum = (all, key) => all.reduce((total, one) => total + one[key], 0);
