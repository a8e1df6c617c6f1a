// Texts that are only read: sources, context, media.

import { h } from "./dom.js";
import { directionOf, t } from "./i18n.js";

/** @param {string | null} text @param {string} language @param {string} name */
export function plainText(text, language, name) {
  return h("div", { class: name, lang: language, dir: directionOf(language) }, text);
}

/** The source of a segment with its pictures, sounds and films. @param {any} task @param {any} segment */
export function sourceText(task, segment) {
  const { source } = task.languages;
  return h("div", { class: "source" },
    segment.source !== null && plainText(segment.source, source, "text"),
    media(segment));
}

/** What belongs to a source beside its text. @param {any} segment */
export const media = (segment) => (segment.media || []).map(medium);

/** @param {{code: string, type: string}} item */
function medium({ code, type }) {
  const src = `/media/${code}`;
  if (type.startsWith("audio/")) return h("audio", { src, controls: true, preload: "metadata", "aria-label": t("sound") });
  if (type.startsWith("video/")) return h("video", { src, controls: true, preload: "metadata", "aria-label": t("film") });
  return h("img", { src, alt: t("picture"), loading: "lazy" });
}

/** @param {any} task @param {string | null} text */
export function outputText(task, text) {
  if (text === null) return h("p", { class: "nothing" }, t("no-output"));
  return plainText(text, task.languages.target, "text");
}

/** A segment around those that are rated. @param {any} task @param {any} segment @param {any[]} outputs @param {number} number */
export function context(task, segment, outputs, number) {
  return h("section", { class: "row context", "aria-label": t("context") },
    h("div", { class: "number" }, String(number + 1)),
    sourceText(task, segment),
    outputs.map((output) => h("div", { class: "cell" }, output.texts[number] !== null && [
      outputs.length > 1 && h("span", { class: "letter" }, output.label), outputText(task, output.texts[number])])));
}
