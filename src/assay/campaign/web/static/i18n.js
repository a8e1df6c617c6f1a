// The texts of the pages: one catalogue per language.

/** @type {Record<string, string>} */
let words = {};
let language = "en";
/** @type {Intl.PluralRules} */
let plurals = new Intl.PluralRules("en");

/** Languages of the pages, each by its own name. */
export const LANGUAGES = {
  en: "English", de: "Deutsch", es: "Español", cs: "Čeština", zh: "中文", ja: "日本語", ar: "العربية",
};
const RIGHT_TO_LEFT = /^(ar|arc|ckb|dv|fa|he|iw|nqo|ps|sd|syr|ug|ur|yi)\b|-(Arab|Hebr|Syrc|Thaa|Nkoo|Adlm)\b/i;
const CHOSEN = "assay:language";

/** The direction of a language, or `auto` if it is unknown. @param {string | null | undefined} tag */
export function directionOf(tag) {
  if (!tag) return "auto";
  return RIGHT_TO_LEFT.test(tag) ? "rtl" : "ltr";
}

/** The chosen language, else the first of the browser's that has a catalogue. */
export function preferred() {
  const wishes = [localStorage.getItem(CHOSEN), ...navigator.languages];
  for (const tag of wishes) {
    const base = (tag || "").split("-")[0].toLowerCase();
    if (base in LANGUAGES) return base;
  }
  return "en";
}

/** Switch to this language. @param {string} tag */
export async function speak(tag) {
  const fetched = await fetch(`/static/words/${tag}.json`);
  words = await fetched.json();
  language = tag;
  plurals = new Intl.PluralRules(tag);
  document.documentElement.lang = tag;
  document.documentElement.dir = directionOf(tag);
}

/** Keep the rater's choice. @param {string} tag */
export function choose(tag) {
  localStorage.setItem(CHOSEN, tag);
}

export const spoken = () => language;

/** The browser's own kind of this language, such as `en-GB`, for dates and times. */
export const region = () => navigator.languages.find((tag) => tag.split("-")[0].toLowerCase() === language) || language;

/**
 * The text for `name`, with `{slots}` filled; `n` selects the plural form.
 * @param {string} name
 * @param {Record<string, string | number>} [slots]
 */
export function t(name, slots = {}) {
  const form = "n" in slots ? `${name}.${plurals.select(Number(slots.n))}` : name;
  const found = words[form] ?? words[`${name}.other`] ?? words[name] ?? name;
  return found.replace(/\{(\w+)\}/g, (_, slot) => {
    const value = slots[slot];
    return typeof value === "number" ? value.toLocaleString(language) : (value ?? "");
  });
}

/** A word of the campaign, translated if the catalogue has it. @param {string} kind @param {string} name */
export function named(kind, name) {
  return words[`${kind}.${name.toLowerCase()}`] ?? name;
}
