/** The answer where an item is of one class: a press of its button or key. */
import { h } from "../lib/dom.js";
import { classes } from "../lib/store.js";
import { classList } from "./class_list.js";
import { marks } from "./marks.js";

/** @type {MakeControl} */
export function classButtons({ pick }) {
  const marking = marks({ pick, of: (name) => list.of(name) });
  const list = classList({ press: marking.press, add: pick });

  return {
    element: h("div", { class: "pick" }, list.element, marking.line),
    draw() {
      if (list.draw()) marking.again();
    },
    begin() {
      marking.clear();
      if (!classes().length) list.openNew();
    },
    key(key, event) {
      if (key === "/" && list.openFilter()) return true;
      if (marking.key(key, event)) return true;
      if (key === "n") list.openNew();
      return key === "n";
    },
    of: (label) => (typeof label === "string" ? [list.of(label)] : []),
    openNew: list.openNew,
  };
}
