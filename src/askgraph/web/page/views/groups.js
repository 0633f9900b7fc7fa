/** A group of items that look alike and are predicted alike: one key confirms all, a click takes an odd one out, another key enlarges one. */
import { post } from "../lib/api.js";
import { clear, h } from "../lib/dom.js";
import { flash } from "../lib/flash.js";
import { percent, translated } from "../lib/format.js";
import { sayError } from "../lib/notices.js";
import { save } from "../lib/session.js";
import { answers, store, watch } from "../lib/store.js";
import { bold } from "../parts/bold.js";
import { lookAt } from "../parts/item.js";
import { lines } from "../parts/item_line.js";
import { labelTag } from "../parts/label_tag.js";
import { told } from "../parts/together.js";
import { words } from "../lib/words.js";

const AGAIN = 500; // milliseconds before asking again for a group that is being computed
const GUARD = 300; // milliseconds for which a new group takes no key: keys pressed before are meant for the last one
const ODD = "o"; // the key that takes an item out
/** @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** @type {MakeView} */
export function groupsView(root) {
  const title = h("h1", { id: "title" }, words.views.groups);
  const gist = h("p", { class: "soft" });
  const grid = h("div", { class: "grid", role: "group", "aria-labelledby": "title" });
  const done = h("button", { class: "primary", onclick: confirm });
  done.hidden = true;
  clear(root, h("section", { class: "page groups", "aria-labelledby": "title" }, h("header", { class: "heading" }, title), gist, grid, h("p", { class: "ways" }, done)));
  /** @type {Group | null} */
  let group = null;
  /** @type {Set<string>} */
  const odd = new Set();
  let timer = 0;
  let shownAt = 0;
  let left = false;

  /** Asks for a group, once it is known that there are groups here. */
  function begin() {
    if (!store.state) return;
    stop();
    if (answers().groups) load();
    else clear(gist, words.groups.without);
  }

  async function load() {
    clearTimeout(timer);
    const found = await post("/api/group", { who: store.who }).catch(sayError);
    if (left || !found) return;
    if (found.waiting) timer = setTimeout(load, AGAIN);
    show(found.group ?? null, found.waiting ?? null);
  }

  /**
   * @param {Group | null} next
   * @param {string | null} waiting
   */
  function show(next, waiting) {
    group = next;
    odd.clear();
    shownAt = performance.now();
    done.hidden = !group;
    clear(title, group ? words.groups.title(group.items.length, labelTag(group.label, true)) : words.views.groups);
    clear(gist, group ? words.groups.gist(percent(group.chance)) : waiting ? translated(waiting) : words.groups.none);
    clear(grid, group?.items.map(tile));
    draw();
  }

  /** @type {(one: GroupItem) => HTMLElement} */
  const tile = (one) => h("div", { class: "cell" },
    h("button", { class: "tile", "aria-pressed": "true", "aria-keyshortcuts": `${ODD} Space`, "data-item": one.item, onclick: () => toggle(one.item) },
      one.image?.startsWith("/images/") && h("img", { src: one.image, alt: "" }), lines(one, group?.common.columns ?? [], (text) => bold(text, group?.common.words ?? []))),
    h("button", { class: "look", tabindex: "-1", title: words.picture.enlarge, "aria-label": words.groups.enlarge(one.title), onclick: () => lookAt(one.item) }, "⤢"));

  const tiles = () => /** @type {HTMLElement[]} */ ([...grid.querySelectorAll(".tile")]);

  /** The item whose tile has the keyboard. */
  const focused = () => tiles().find((one) => one === document.activeElement)?.dataset.item;

  /** @param {string} item */
  function toggle(item) {
    if (!odd.delete(item)) odd.add(item);
    for (const one of tiles()) one.setAttribute("aria-pressed", String(!odd.has(one.dataset.item ?? "")));
    draw();
  }

  function draw() {
    if (group) clear(done, words.groups.confirm(group.items.length - odd.size), h("kbd", {}, "⏎"));
  }

  async function confirm() {
    if (!group) return;
    if (performance.now() - shownAt < GUARD) {
      flash(grid);
      return;
    }
    const { label, items } = group;
    const kept = items.map((one) => one.item).filter((id) => !odd.has(id));
    const seconds = Math.round(performance.now() - shownAt) / 1000;
    const body = { label, items: kept, odd: [...odd], seconds };
    group = null;
    done.hidden = true;
    if (await save("/api/group/confirm", body, (reply) => told(reply, label), { undo: true }) && !left) load();
  }

  /** @param {number} step */
  function move(step) {
    const all = tiles();
    const at = all.findIndex((one) => one === document.activeElement);
    all.at(at < 0 && step > 0 ? 0 : (at + step) % all.length)?.focus();
  }

  const stop = watch(begin);
  begin();
  return {
    leave() {
      left = true;
      stop();
      clearTimeout(timer);
    },
    key(key) {
      const item = focused();
      const elsewhere = document.activeElement?.closest("button:not(.tile), a");
      if (key in STEPS && grid.children.length) move(STEPS[key]);
      else if (key === " " && item) lookAt(item);
      else if (key === ODD && item) toggle(item);
      else if (key === "Enter" && (!elsewhere || elsewhere === done)) confirm();
      else return false;
      return true;
    },
  };
}
