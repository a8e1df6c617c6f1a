// Shared by the pages of the server's owner: the top bar, fields with their faults, refusals.

import { Refused } from "../api.js";
import { button, fill, h } from "../dom.js";
import { speak, t } from "../i18n.js";

/** @typedef {import("../dom.js").Child} Child */

/** Draw the page with its top bar. @param {...Child} nav */
export async function frame(...nav) {
  await speak("en");
  const main = h("main", { id: "main", class: "making", tabindex: "-1" });
  document.body.replaceChildren(
    h("a", { class: "skip", href: "#main" }, "Skip to content"),
    h("header", { class: "top" }, h("p", { class: "brand", translate: "no" }, "Assay"), h("nav", { "aria-label": "Pages" }, nav)), main);
  return main;
}

let fields = 0;

/**
 * A field with its label, a hint and room for a fault. `paths` are its names in refusals.
 * @param {string} label @param {HTMLElement} input
 * @param {{hint?: Child, paths?: string, beside?: Child}} [more]
 */
export function field(label, input, more = {}) {
  fields += 1;
  input.id ||= `field-${fields}`;
  const fault = h("p", { class: "fault", id: `${input.id}-fault`, hidden: true });
  const hint = more.hint ? h("p", { class: "hint", id: `${input.id}-hint` }, more.hint) : null;
  input.setAttribute("aria-describedby", `${fault.id}${hint ? ` ${hint.id}` : ""}`);
  return h("div", { class: "field", "data-paths": more.paths || "" },
    h("label", { for: input.id }, label), more.beside ? h("div", { class: "beside" }, input, more.beside) : input, hint, fault);
}

/** A choice of one. @param {[string, string][]} options @param {string} chosen @param {Record<string, any>} [props] */
export function choice(options, chosen, props = {}) {
  const select = h("select", props, options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  /** @type {HTMLSelectElement} */ (select).value = chosen;
  return /** @type {HTMLSelectElement} */ (select);
}

/** A number. @param {number | string} value @param {Record<string, any>} [props] */
export const number = (value, props = {}) =>
  /** @type {HTMLInputElement} */ (h("input", { type: "number", inputmode: "decimal", value, ...props }));

/** A box to tick. @param {string} label @param {boolean} checked @param {(event: Event) => void} act @param {Record<string, any>} [props] */
export const tick = (label, checked, act, props = {}) =>
  h("label", { class: "tick" }, h("input", { type: "checkbox", checked, onchange: act, ...props }), h("span", {}, label));

/**
 * Show faults, each at its field and the rest in a box; the first field gets the focus.
 * @param {Element} root @param {Element} box @param {{path: string, message: string}[]} faults @param {boolean} [go]
 */
export function tell(root, box, faults, go = true) {
  for (const one of root.querySelectorAll(".field")) {
    const own = faults.filter((fault) => (one.getAttribute("data-paths") || "").split(" ").some((path) => path && (fault.path === path || fault.path.startsWith(`${path}.`))));
    const place = one.querySelector(".fault");
    const input = one.querySelector("input, select, textarea");
    if (!place) continue;
    place.textContent = own.map((fault) => fault.message).join(" ");
    /** @type {HTMLElement} */ (place).hidden = own.length === 0;
    if (own.length) input?.setAttribute("aria-invalid", "true");
    else input?.removeAttribute("aria-invalid");
    faults = faults.filter((fault) => !own.includes(fault));
  }
  fill(box, faults.length > 0 && h("div", { class: "faults", role: "alert" }, faults.map((fault) => h("p", {}, fault.message))));
  const first = root.querySelector("[aria-invalid=true], .faults");
  if (go && first instanceof HTMLElement) {
    first.scrollIntoView({ block: "center" });
    if (first.matches("[aria-invalid]")) first.focus({ preventScroll: true });
  }
}

/** The faults of a refusal. @param {unknown} error @returns {{path: string, message: string}[]} */
export function faultsOf(error) {
  if (error instanceof Refused && error.errors.length) return error.errors;
  return [{ path: "", message: error instanceof Refused ? error.message : t("offline") }];
}

/** @param {number} count @param {string} word */
export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
