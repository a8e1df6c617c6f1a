// Scores: a slider for many values, buttons for few.

import { fill, h } from "./dom.js";
import { named, t } from "./i18n.js";

/** @typedef {{name: string, low: number, high: number, step: number, anchors: string[]}} Scale */
/** @typedef {{root: HTMLElement, update: (value: number | undefined) => void, focus: (how?: FocusOptions) => void}} Control */

const FEW = 11;
const TYPING = 1200;

/** The anchor texts of a scale, evenly spaced. @param {Scale} scale @returns {[number, string][]} */
export function anchors(scale) {
  const last = scale.anchors.length - 1;
  return scale.anchors.map((text, number) => [scale.low + ((scale.high - scale.low) * number) / Math.max(1, last), named("anchor", text)]);
}

/**
 * @param {Scale} scale
 * @param {string} label
 * @param {(value: number | undefined) => void} chosen
 * @returns {Control}
 */
export function scoreControl(scale, label, chosen) {
  const count = Math.round((scale.high - scale.low) / scale.step) + 1;
  return count <= FEW ? buttons(scale, label, chosen, count) : slider(scale, label, chosen);
}

let groups = 0;

/** @param {Scale} scale @param {string} label @param {(value: number | undefined) => void} chosen @param {number} count @returns {Control} */
function buttons(scale, label, chosen, count) {
  groups += 1;
  const words = new Map(anchors(scale).map(([value, text]) => [Math.round(value), text]));
  const summary = h("span", { class: "summary" });
  const inputs = Array.from({ length: count }, (_, number) => {
    const value = scale.low + number * scale.step;
    return h("input", {
      type: "radio", name: `score-${groups}`, id: `score-${groups}-${number}`, value: String(value),
      onchange: () => chosen(value),
    });
  });
  const root = h("div", { class: "score few", role: "radiogroup", "aria-label": label },
    h("div", { class: "choices" }, inputs.map((input) => {
      const value = Number(/** @type {HTMLInputElement} */ (input).value);
      const word = words.get(value);
      return h("label", { title: word || null }, input, h("span", {}, String(value)), word && h("span", { class: "hidden" }, word));
    })), summary);
  root.addEventListener("keydown", (event) => {
    const found = inputs.find((input) => /** @type {HTMLInputElement} */ (input).value === event.key);
    if (!found || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    found.focus();
    found.click();
  });
  return {
    root,
    update(value) {
      for (const input of /** @type {HTMLInputElement[]} */ (inputs)) input.checked = value !== undefined && Number(input.value) === value;
      fill(summary, value === undefined ? t("not-set") : words.get(value) || "");
    },
    focus(how) {
      const set = inputs.find((input) => /** @type {HTMLInputElement} */ (input).checked);
      (set || inputs[0]).focus(how);
    },
  };
}

/** @param {Scale} scale @param {string} label @param {(value: number | undefined) => void} chosen @returns {Control} */
function slider(scale, label, chosen) {
  const input = /** @type {HTMLInputElement} */ (h("input", {
    type: "range", min: scale.low, max: scale.high, step: scale.step, "aria-label": label,
  }));
  const shown = h("output", { class: "value", "aria-hidden": "true" });
  const ticks = h("div", { class: "ticks", "aria-hidden": "true" },
    [0, 1 / 3, 2 / 3, 1].map((part) => h("span", {}, String(Math.floor(scale.low + (scale.high - scale.low) * part)))));
  const root = h("div", { class: "score many unset" }, h("div", { class: "track" }, input, ticks), shown);
  const take = () => chosen(Number(input.value));
  input.addEventListener("input", take);
  input.addEventListener("click", () => {
    if (root.classList.contains("unset")) take(); // the thumb may already be where the click was
  });
  let typed = "";
  let time = 0;
  input.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") take();
    else if (event.key === "Backspace" || event.key === "Delete") {
      typed = event.key === "Delete" || root.classList.contains("unset") ? "" : input.value.slice(0, -1);
      time = Date.now();
      const value = typed && Number(typed) >= scale.low ? Number(typed) : undefined;
      chosen(value);
    } else if (/^[0-9.,]$/.test(event.key)) {
      const now = Date.now();
      typed = (now - time < TYPING ? typed : "") + event.key.replace(",", ".");
      while (Number(typed) > scale.high) typed = typed.slice(1); // 8, then 100: the last digits that fit
      time = now;
      const value = Number(typed);
      if (value >= scale.low && value <= scale.high) {
        input.value = String(value);
        take();
      }
    } else return;
    event.preventDefault();
  });
  return {
    root,
    update(value) {
      root.classList.toggle("unset", value === undefined);
      input.value = String(value ?? (scale.low + scale.high) / 2);
      const share = (Number(input.value) - scale.low) / (scale.high - scale.low);
      input.style.setProperty("--share", value === undefined ? "0" : String(share));
      if (value === undefined) input.setAttribute("aria-valuetext", t("not-set"));
      else input.removeAttribute("aria-valuetext");
      fill(shown, value === undefined ? t("not-set") : String(value));
    },
    focus: (how) => input.focus(how),
  };
}
