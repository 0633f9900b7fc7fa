/** The labeling card of a notebook: one item, one key is label, save and next. The keys are those of the page. */

/** @type {Record<string, [AsideKind, string]>} */
const KINDS = { s: ["later", "Later"], c: ["cannot", "Cannot tell"], x: ["invalid", "Not a valid item"] };
/** @type {[string, string][]} */
const REST = [["n", "A new class"], ["Enter", "As suggested"], ["⌫ or u", "Undo"], ["?", "These keys"]];

/** Makes an element; attributes that are functions listen to events.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value);
  }
  made.append(...nodes(children));
  return made;
}

/** Flattens children; null and false are left out.
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  return children.flatMap((child) => Array.isArray(child) ? nodes(child)
    : child instanceof Node ? [child]
      : child === null || child === undefined || typeof child === "boolean" ? [] : [String(child)]);
}

/** Reads a letter or digit; on keyboards whose unshifted digits are signs, or whose letters are not Latin, the place of the key decides.
 * @param {KeyboardEvent} event
 */
function keyOf({ key, code, shiftKey }) {
  if (key.length !== 1) return key;
  if (!shiftKey && /^Digit\d$/.test(code) && !/[0-9a-z]/i.test(key)) return code.slice(5);
  if (key.charCodeAt(0) > 127 && /^Key[A-Z]$/.test(code)) return code.slice(3).toLowerCase();
  return key.toLowerCase();
}

/** Draws the card of a model into an element; returns how to end it.
 * @param {{ model: CardModel, el: HTMLElement }} given
 */
function render({ model, el }) {
  let waiting = false, help = false, naming = false, shownAt = performance.now();
  // Shortcuts of the notebook, x for "cut the cell" among them, must not hear the keys of the card.
  const root = h("div", { class: "askgraph-label", tabindex: "0", "data-lm-suppress-shortcuts": "true", onkeydown: press });
  el.append(root);

  const shown = () => model.get("shown");

  /** @param {CardSaid} said */
  function send(said) {
    if (waiting) return;
    waiting = true;
    root.classList.add("waiting");
    model.send({ ...said, item: shown().item?.id ?? null, seconds: (performance.now() - shownAt) / 1000 });
  }

  /** @param {string} to */
  function label(to) {
    if (shown().item) send({ kind: "label", label: to });
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    event.stopPropagation();
    if (event.target instanceof HTMLInputElement || event.repeat) return;
    const key = keyOf(event), { classes, suggested, item } = shown();
    const chosen = classes.find((one) => one.key === key);
    const onButton = event.target instanceof Element && event.target.closest("button");
    if (chosen) label(chosen.name);
    else if (key in KINDS && item) send({ kind: KINDS[key][0] });
    else if (key === "Backspace" || key === "u") send({ kind: "undo" });
    else if (key === "Enter" && suggested.length && !onButton) label(suggested[0].label);
    else if (key === "n") nameOne();
    else if (key === "?") { help = !help; draw(); }
    else return;
    event.preventDefault();
  }

  function nameOne() {
    naming = true;
    draw();
    root.querySelector("input")?.focus();
  }

  /** @param {SubmitEvent} event */
  function named(event) {
    event.preventDefault();
    const value = root.querySelector("input")?.value.trim();
    naming = false;
    if (value) label(value);
    else draw();
    root.focus();
  }

  /** @param {KeyboardEvent} event */
  function leave(event) {
    if (event.key !== "Escape") return;
    naming = false;
    draw();
    root.focus();
  }

  function draw() {
    const { project, item, classes, suggested, labels, items, finished, note, undo } = shown();
    root.replaceChildren(...nodes([
      h("div", { class: "top" }, h("b", {}, project), ` ${labels} of ${items} labeled`),
      item ? h("div", { class: "item" },
        item.image && h("img", { src: item.image, alt: item.title }),
        h("div", { class: "title" }, item.title),
        h("dl", {}, Object.entries(item.fields).map(([field, value]) => h("div", {}, h("dt", {}, field), h("dd", {}, String(value))))))
        : h("div", { class: "item" }, finished ?? "one moment"),
      item && suggested.map((one) => h("div", { class: "suggested" }, `suggested: ${one.label} (${one.by})`)),
      item && h("div", { class: "classes" }, classes.map((one) => button(one.name, one.key, () => label(one.name), one.count)),
        naming ? h("form", { onsubmit: named }, h("input", { placeholder: "Name of the new class", "aria-label": "Name of the new class", onkeydown: leave }))
          : button("New class", "n", nameOne)),
      h("div", { class: "rest" }, item && Object.entries(KINDS).map(([key, [kind, words]]) => button(words, key, () => send({ kind }))),
        undo && button(`Undo: ${undo}`, "⌫", () => send({ kind: "undo" })), button("Keys", "?", () => { help = !help; draw(); })),
      help && h("dl", { class: "keys" }, [...classes.filter((one) => one.key).map((one) => [one.key, one.name]),
        ...Object.entries(KINDS).map(([key, [, words]]) => [key, words]), ...REST].map(([key, words]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)))),
      note && h("div", { class: "note", role: "alert" }, note),
    ]));
  }

  /**
   * @param {string} words
   * @param {string} key
   * @param {() => void} onclick
   */
  function button(words, key, onclick, count = 0) {
    return h("button", { type: "button", onclick: () => { onclick(); if (!naming) root.focus(); } },
      words, count ? h("small", {}, ` ${count}`) : null, key ? h("kbd", {}, key) : null);
  }

  function changed() {
    waiting = false;
    root.classList.remove("waiting");
    shownAt = performance.now();
    draw();
  }

  model.on("change:shown", changed);
  draw();
  return () => model.off("change:shown", changed);
}

export default { render };
