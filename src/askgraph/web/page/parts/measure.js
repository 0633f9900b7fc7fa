/** How the expected error is said: as a share of right predictions, as an F1, or as how far predictions are off. */
import { percent } from "../lib/format.js";
import { inUnit } from "../lib/labels.js";
import { brief, rough } from "../lib/numbers.js";
import { answers } from "../lib/store.js";
import { words } from "../lib/words.js";

const CENT = 0.1; // the width of what is written with two decimals

/**
 * @typedef {object} Measure
 * @property {typeof words.progress.measures.right} say the sentences
 * @property {(error: number) => string} said how good predictions are at this error: of a share, how many are right
 * @property {(error: number) => string} short the same, where the button beside it has the unit
 * @property {(error: number) => string} error
 * @property {(error: number) => string} axis
 * @property {number[]} targets errors to aim at; none where only a person knows which there could be
 * @property {number} least the least distance of two lines of the curve
 * @property {number} most the largest error there is
 */

/** @type {Measure} */
const RIGHT = { say: words.progress.measures.right, said: (error) => percent(1 - error), short: (error) => percent(1 - error), error: percent, axis: (error) => `${Math.round(100 * error)} %`,
  targets: [0.2, 0.1, 0.05, 0.03, 0.02, 0.01], least: 0.01, most: 1 };
/** @type {Measure} */
const F1 = { say: words.progress.measures.f1, said: (error) => rough(1 - error, CENT), short: (error) => rough(1 - error, CENT), error: (error) => rough(error, CENT), axis: brief,
  targets: [0.4, 0.3, 0.2, 0.15, 0.1, 0.05], least: 0.01, most: 1 };
/** @type {Measure} */
const STEPS = { say: words.progress.measures.off, said: (error) => words.progress.steps(rough(error)), short: (error) => rough(error), error: (error) => words.progress.steps(rough(error)), axis: brief,
  targets: [1, 0.75, 0.5, 0.3, 0.2, 0.1], least: 0, most: Infinity };
/** @type {Measure} */
const NUMBERS = { say: words.progress.measures.off, said: (error) => inUnit(rough(error)), short: (error) => rough(error), error: (error) => inUnit(rough(error)), axis: brief, targets: [], least: 0, most: Infinity };

const MEASURES = { classes: RIGHT, several: F1, ordered: STEPS, numbers: NUMBERS };

/** How the error of this project is said. */
export const measure = () => MEASURES[answers().kind];
