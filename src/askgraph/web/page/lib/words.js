/** The words of the page in its language. They are all in words/en.js, and each translation has the same keys. */
import de from "../words/de.js";
import en from "../words/en.js";
import { language } from "./language.js";

const ALL = { en, de };

export const words = ALL[language];

/** The languages of the page by their code, each by its own name. */
export const NAMES = Object.fromEntries(Object.entries(ALL).map(([code, one]) => [code, one.language]));
