// Read-only texts: sources, context, media.

import { BASE } from "./api.js";
import { fill, h } from "./dom.js";
import { directionOf, t } from "./i18n.js";

/** @param {string | null} text @param {string} language @param {string} name */
export function plainText(text, language, name) {
  return h("div", { class: name, lang: language, dir: directionOf(language) }, text);
}

/** The source of a segment with its media. @param {any} task @param {any} segment */
export function sourceText(task, segment) {
  const { source } = task.languages;
  return h("div", { class: "source" },
    segment.source !== null && plainText(segment.source, source, "text"),
    media(segment));
}

/** The media of a source. @param {any} segment */
export const media = (segment) => (segment.media || []).map(medium);

/** An image, audio or video, once its type is known. @param {string} code */
function medium(code) {
  const src = `${BASE}/media/${code}`;
  const place = h("div", { class: "medium" }, t("loading"));
  fetch(src).then((reply) => {
    if (!reply.ok) throw new Error(String(reply.status));
    const [kind] = (reply.headers.get("Content-Type") || "").split("/");
    if (kind === "audio") fill(place, h("audio", { src, controls: true, preload: "metadata", "aria-label": t("sound") }));
    else if (kind === "video") fill(place, h("video", { src, controls: true, preload: "metadata", "aria-label": t("film") }));
    else fill(place, h("img", { src, alt: t("picture") }));
  }).catch(() => fill(place, t("offline")));
  return place;
}

/** @param {any} task @param {string | null} text */
export function outputText(task, text) {
  if (!text?.trim()) return h("p", { class: "nothing" }, t("no-output"));
  return plainText(text, task.languages.target, "text");
}

/** A context segment. @param {any} task @param {any} segment @param {any[]} outputs @param {number} number */
export function context(task, segment, outputs, number) {
  return h("section", { class: "row context", "aria-label": t("context") },
    h("div", { class: "number" }, String(number + 1)),
    sourceText(task, segment),
    h("div", { class: "outputs" }, outputs.map((output) => h("div", { class: "cell" }, output.texts[number] !== null && [
      outputs.length > 1 && h("span", { class: "letter" }, output.label), outputText(task, output.texts[number])]))));
}
