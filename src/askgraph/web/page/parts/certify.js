/** The offer to certify a search by a random sample of what is left: how many items to read is told first. */
import { h } from "../lib/dom.js";
import { percent } from "../lib/format.js";
import { language } from "../lib/language.js";
import { words } from "../lib/words.js";
import { certify, percentProven, sought } from "./search.js";

const FIRST = 0.945; // a confidence below it is that of a further sample

/** Returns the offer; nothing while a sample is read, or where nothing is found or left.
 * @param {Findings} find
 */
export function certifyOffer({ offers, rest, confidence, lost }) {
  const most = offers.find((one) => one.most);
  return [
    lost && h("p", { class: "gist" }, words.certify.lost),
    offers.length > 0 && [
      h("p", { class: "gist" }, words.certify.means(rest, sought(), percent(confidence))),
      confidence < FIRST && h("p", { class: "soft" }, words.certify.again),
      h("div", { class: "ways start-ways" }, offers.map((one) => (one.read > 0
        ? h("button", { class: "button", onclick: () => certify(one.share) }, words.certify.read(percent(one.share), one.read))
        : h("span", { class: "soft" }, words.certify.already(percent(one.share)))))),
      most && h("p", { class: "soft" }, words.certify.most(percent(most.share))),
      offers.some((one) => one.read > 0) && h("p", { class: "soft" }, words.certify.hits(after(offers, 1), after(offers, 2))),
    ],
  ];
}

/** Says what is proven after some hits, for each offer.
 * @param {Offer[]} offers
 * @param {1 | 2} place
 */
const after = (offers, place) => new Intl.ListFormat(language).format(offers.filter((one) => one.proves.length > place).map((one) => percentProven(one.proves[place])));
