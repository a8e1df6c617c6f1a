// How the files were understood: each guess in a field where it can be corrected.

import { fill, h } from "../dom.js";
import { choice, field, plural, tick } from "./frame.js";

/** @typedef {{columns: Record<string, string>, wide: string[], metrics: string[] | null, lower_metrics: string[] | null, exclude: string[], only: Record<string, string>}} Said */

const WIDE = "*";
/** @type {[string, string, boolean][]} role, label, whether it must be there */
const ROLES = [
  ["system", "System", true], ["seg", "Segment", true], ["target", "Output (the translation)", true],
  ["source", "Source text", false], ["reference", "Reference", false], ["doc", "Document", false], ["lp", "Language pair", false],
];
const HINTS = {
  system: "Who or what produced the translation. Raters never see it.", seg: "The number or name of the segment.",
  doc: "Segments of a document are shown together, in file order.", lp: "Needed only if the files have several.",
};

/** No corrections yet. @returns {Said} */
export const nothing = () => ({ columns: {}, wide: [], metrics: null, lower_metrics: null, exclude: [], only: {} });

/**
 * @param {any} seen what the server makes of the files
 * @param {Said} said what the person says
 * @param {string[]} all the systems before any was left out
 * @param {() => void} changed
 */
export function tableFields(seen, said, all, changed) {
  const { table, summary } = seen;
  const parts = [];
  if (table) {
    parts.push(h("p", {}, `${plural(table.rows, "row")} in ${plural(table.columns.length, "column")}. Check that each column was recognised correctly, and change it here if not.`));
    parts.push(h("div", { class: "roles" }, ROLES.map(([role, label, needed]) => roleField(seen, said, role, label, needed, changed))));
    if (isWide(seen, said)) parts.push(wideFields(seen, said, changed));
    parts.push(onlyFields(seen, said, changed));
    parts.push(metricFields(seen, said, changed));
  }
  if (all.length) parts.push(systemFields(all, said, changed));
  if (summary) parts.push(h("p", { class: "found" }, holds(summary)), firstOutput(summary));
  return parts;
}

/** @param {any} seen @param {Said} said */
const isWide = (seen, said) => said.columns.system === undefined ? seen.table.wide.length > 0 || said.wide.length > 0 : said.columns.system === WIDE;

/** @param {any} seen @param {Said} said @param {string} role @param {string} label @param {boolean} needed @param {() => void} changed */
function roleField(seen, said, role, label, needed, changed) {
  const { table } = seen;
  const now = role === "system" && isWide(seen, said) ? WIDE : said.columns[role] ?? table.roles[role] ?? "";
  /** @type {[string, string][]} */
  const options = [["", needed ? "– choose a column –" : "– none –"], ...table.columns.map((/** @type {string} */ name) => [name, name])];
  if (role === "system") options.push([WIDE, "one column per system"]);
  const select = choice(options, now, {
    id: `role-${role}`,
    onchange: () => {
      if (role === "system" && select.value !== WIDE) said.wide = [];
      said.columns[role] = select.value;
      changed();
    },
  });
  if (role === "target" && isWide(seen, said)) select.disabled = true;
  const example = now && now !== WIDE && table.examples[now] ? h("span", { class: "example", dir: "auto" }, table.examples[now]) : null;
  const hint = /** @type {Record<string, string>} */ (HINTS)[role];
  return field(label, select, { paths: `columns.${role} ${role}`, beside: example, hint });
}

/** The columns that each hold one system's outputs. @param {any} seen @param {Said} said @param {() => void} changed */
function wideFields(seen, said, changed) {
  const { table } = seen;
  const taken = new Set([...Object.entries(said.columns).filter(([role]) => role !== "system" && role !== "target").map(([, name]) => name),
    ...Object.entries(table.roles).filter(([role]) => role !== "system" && role !== "target").map(([, name]) => name), ...table.numbers]);
  const chosen = said.wide.length ? said.wide : table.wide;
  const able = table.columns.filter((/** @type {string} */ name) => !taken.has(name));
  return h("fieldset", { class: "ticks" }, h("legend", {}, "Columns with systems’ outputs (at least two)"), able.map((/** @type {string} */ name) => tick(name, chosen.includes(name), (event) => {
    const on = /** @type {HTMLInputElement} */ (event.target).checked;
    said.wide = able.filter((/** @type {string} */ one) => (one === name ? on : chosen.includes(one)));
    said.columns.system = WIDE;
    changed();
  })));
}

/** Asks which rows to use. @param {any} seen @param {Said} said @param {() => void} changed */
function onlyFields(seen, said, changed) {
  const question = seen.questions.find((/** @type {any} */ one) => one.path === "only");
  if (!question && !Object.keys(said.only).length) return null;
  const answers = question ? question.answers : Object.entries(said.only).map(([name, value]) => `${name}=${value}`);
  const select = choice([["", "– choose –"], ...answers.map((/** @type {string} */ one) => /** @type {[string, string]} */ ([one, `only rows with ${one.replace("=", " = ")}`]))],
    question ? "" : answers[0], { onchange: () => {
      const [name, ...value] = select.value.split("=");
      said.only = select.value ? { [name]: value.join("=") } : {};
      changed();
    } });
  return field("Rows", select, { paths: "only" });
}

/** @param {any} seen @param {Said} said @param {() => void} changed */
function metricFields(seen, said, changed) {
  const { table } = seen;
  if (!table.numbers.length) return null;
  const chosen = said.metrics ?? table.metrics;
  return h("fieldset", { class: "ticks" }, h("legend", {}, "Automatic metrics among the columns"),
    table.numbers.map((/** @type {string} */ name) => tick(table.unsure.includes(name) ? `${name} (not sure)` : name, chosen.includes(name), (event) => {
      const on = /** @type {HTMLInputElement} */ (event.target).checked;
      said.metrics = table.numbers.filter((/** @type {string} */ one) => (one === name ? on : chosen.includes(one)));
      changed();
    })), h("p", { class: "hint" }, "Metrics make estimates more precise. Do not tick counts, row numbers or earlier ratings."));
}

/** @param {string[]} all @param {Said} said @param {() => void} changed */
function systemFields(all, said, changed) {
  return h("fieldset", { class: "ticks systems" }, h("legend", {}, `Systems to be rated (of ${all.length})`), all.map((name) => tick(name, !said.exclude.includes(name), (event) => {
    const on = /** @type {HTMLInputElement} */ (event.target).checked;
    said.exclude = on ? said.exclude.filter((one) => one !== name) : [...said.exclude, name];
    changed();
  })));
}

/** @param {any} summary */
function holds(summary) {
  const texts = { source: "sources", target: "outputs", reference: "references" };
  const where = summary.documents ? ` in ${plural(summary.documents, "document")}` : "";
  const held = summary.texts.map((/** @type {"source"} */ name) => texts[name]);
  const last = held.length > 1 ? `${held.slice(0, -1).join(", ")} and ${held.at(-1)}` : held[0];
  return `${plural(summary.systems.length, "system")}, ${plural(summary.segments, "segment")}${where}, with ${last}.${summary.pairs.length > 1 ? ` Language pairs: ${summary.pairs.join(", ")}.` : ""}`;
}

/** @param {any} summary */
const firstOutput = (summary) => h("dl", { class: "first" }, Object.entries(summary.first).map(([name, text]) => h("div", {},
  h("dt", {}, name === "source" ? "First source" : "First output"), h("dd", { dir: "auto" }, String(text)))));

/** Redraw without losing the keyboard focus. @param {HTMLElement} place @param {import("../dom.js").Child[]} parts */
export function redraw(place, parts) {
  const held = place.contains(document.activeElement) ? document.activeElement : null;
  const boxes = [...place.querySelectorAll("input, select")];
  const at = held ? boxes.indexOf(held) : -1;
  const id = held?.id || "";
  fill(place, parts);
  const again = (id.startsWith("role-") && document.getElementById(id)) || place.querySelectorAll("input, select")[at];
  if (held && again instanceof HTMLElement) again.focus({ preventScroll: true });
}
