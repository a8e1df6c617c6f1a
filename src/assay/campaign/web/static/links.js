// Lists of links to copy or save, after a campaign is created and on the owner's page.

import { button, h } from "./dom.js";

/** @typedef {[string, string, string]} Row who, link, what it is for */

const ROLES = [["owner", "Owner", "runs the campaign and sees results"], ["viewer", "Viewer", "sees results"], ["join", "Join", "lets new raters sign up"]];

/** @param {any} links by role, and those of raters @returns {Row[]} */
export function rows(links) {
  const own = ROLES.filter(([key]) => links[key]).map(([key, who, what]) => /** @type {Row} */ ([who, links[key], what]));
  return [...links.raters.map((/** @type {any} */ one) => [one.rater, one.link, ""]), ...own];
}

/** Copy a text, even on a page without HTTPS, which has no clipboard access. @param {string} text */
async function copy(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const held = /** @type {HTMLTextAreaElement} */ (h("textarea", { value: text, class: "hidden" }));
  (document.querySelector("dialog[open]") || document.body).append(held);
  held.select();
  document.execCommand("copy");
  held.remove();
}

/** A button that copies a text. @param {string} name @param {() => string} text @param {string} [label] */
function copier(name, text, label) {
  const own = button(name, async () => {
    await copy(text());
    own.textContent = "Copied";
    setTimeout(() => { own.textContent = name; }, 2000);
  }, label ? { "aria-label": label } : {});
  return own;
}

/** @param {Row[]} found */
export const listed = (found) => h("ul", { class: "links" }, found.map(([who, link, what]) => h("li", {},
  h("span", { class: "who" }, who, what && h("small", {}, what)), h("code", {}, link), copier("Copy", () => link, `Copy link for ${who}`))));

/** Buttons that copy or save all links. @param {Row[]} found @param {string} file */
export const taken = (found, file) => [
  copier("Copy all", () => found.map(([who, link]) => `${who}\t${link}`).join("\n")),
  button("Save as CSV", () => {
    const address = URL.createObjectURL(new Blob([csv(found)], { type: "text/csv" }));
    h("a", { href: address, download: file }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }),
];

/** @param {Row[]} found */
function csv(found) {
  const lines = found.map(([who, link]) => [who, link].map(cell).join(","));
  return `\ufeff${["who,link", ...lines].join("\r\n")}\r\n`;
}

/** One CSV cell; a value that a spreadsheet would run as a formula becomes text. @param {string} value */
const cell = (value) => `"${(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`;
