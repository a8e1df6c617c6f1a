// Outputs rated one by one: scales, ESA, MQM; one output or several side by side.

import { fill, h } from "./dom.js";
import { t } from "./i18n.js";
import { OutputCell } from "./cell.js";
import { Marker } from "./marker.js";
import { Passage } from "./passage.js";
import { anchors } from "./score.js";
import { context, media, outputText, sourceText } from "./segment.js";

/** @typedef {{text: string, go: () => void}} Gap  what is still missing, and how to reach it */

const NEAR = "700px 0px";

/** One segment: its source, and its outputs side by side. */
class Row {
  /** @param {RatingView} view @param {number} number  of the segment in the task */
  constructor(view, number) {
    this.view = view;
    this.number = number;
    this.segment = view.task.segments[number];
    /** @type {OutputCell[]} */
    this.cells = [];
    this.built = false;
    /** @type {Passage | null} */
    this.source = null;
    this.root = h("section", { class: "row unbuilt", "aria-label": t("sentence", { number: number + 1 }) });
    this.root.dataset.row = String(number);
    this.plain();
  }

  /** Show the text alone while the row is far away. */
  plain() {
    const { view } = this;
    fill(this.root,
      h("div", { class: "number" }, String(this.number + 1)),
      sourceText(view.task, { ...this.segment, media: [] }),
      h("div", { class: "outputs" }, view.outputs.map((output) => h("div", { class: "cell" }, outputText(view.task, output.texts[this.number])))));
  }

  /** Build the whole row once it comes near. */
  build() {
    if (this.built) return;
    this.built = true;
    const { view } = this;
    this.cells = view.outputs
      .filter((output) => output.texts[this.number] !== null)
      .map((output) => new OutputCell(view, output, this.number));
    this.active = this.cells[0];
    const source = view.marks && this.segment.source ? this.sourcePassage() : sourceText(view.task, this.segment);
    this.rail = view.outputs.length > 1 && view.task.scales.length === 1 ? h("div", { class: "rail", "aria-hidden": "true" }) : null;
    fill(this.root,
      h("div", { class: "number" }, String(this.number + 1)),
      source,
      h("div", { class: "outputs" }, view.outputs.map((output) => this.cellOf(output.code)?.root
        || h("div", { class: "cell" }, outputText(view.task, null)))),
      this.rail);
    this.root.classList.remove("unbuilt");
    this.refresh();
  }

  /** @param {string} code */
  cellOf(code) {
    return this.cells.find((cell) => cell.code === code);
  }

  sourcePassage() {
    const { view } = this;
    const setup = {
      text: this.segment.source, language: view.task.languages.source, side: "source", marker: view.marker,
      label: t("source-of", { number: this.number + 1 }), key: "",
      spans: () => view.work.get(setup.key).spans.filter((/** @type {any} */ span) => span.side === "source"),
    };
    setup.key = this.active?.key || "";
    this.source = new Passage(setup);
    return h("div", { class: "source" }, this.source.root, media(this.segment));
  }

  /** The output that marks on the source belong to. @param {OutputCell} cell */
  activate(cell) {
    if (this.active === cell) return;
    this.active = cell;
    if (this.source) {
      this.source.setup.key = cell.key;
      this.source.build();
    }
  }

  /** @param {string | null} [key]  the cell that changed; all of them without it */
  refresh(key = null) {
    if (!this.built) return;
    for (const cell of this.cells) if (key === null || cell.key === key) cell.refresh();
    if (key === null || this.source?.setup.key === key) this.source?.build();
    if (this.rail) this.drawRail();
  }

  /** Draw the scores of a segment on one line, for comparison. */
  drawRail() {
    const [scale] = this.view.task.scales;
    const dots = this.cells
      .filter((cell) => cell.state.scores[scale.name] !== undefined && !cell.state.skipped)
      .map((cell) => {
        const dot = h("span", { class: "dot" }, cell.output.label);
        const share = (cell.state.scores[scale.name] - scale.low) / (scale.high - scale.low);
        dot.style.insetInlineStart = `${share * 100}%`;
        return dot;
      });
    /** @type {HTMLElement} */ (this.rail).hidden = !dots.length;
    fill(/** @type {HTMLElement} */ (this.rail), h("span", { class: "end" }, String(scale.low)), h("div", { class: "line" }, dots), h("span", { class: "end" }, String(scale.high)));
  }
}

/** A screen of ratings. */
export class RatingView {
  /** @param {import("./main.js").Screen} screen */
  constructor({ task, codes, work, say }) {
    this.task = task;
    this.work = work;
    this.say = say;
    this.marks = task.severities.length > 0;
    this.askBelow = task.options?.ask_below;
    /** @type {Set<string>} cells that sending stopped for */
    this.stopped = new Set();
    this.outputs = task.outputs.filter((/** @type {any} */ output) => codes.includes(output.code));
    this.marker = new Marker(task, work, say);
    this.marker.beyond = (passage, by) => this.beyond(passage, by);
    this.marker.entered = (passage) => this.entered(passage);
    /** @type {(Row | null)[]} */
    this.rows = task.segments.map((/** @type {any} */ segment, /** @type {number} */ number) => (segment.rate ? new Row(this, number) : null));
    const rows = h("div", { class: `rows n${this.outputs.length}${this.outputs.length > 1 ? " several" : ""}` },
      task.segments.map((/** @type {any} */ segment, /** @type {number} */ number) =>
        this.rows[number]?.root || context(task, segment, this.outputs, number)));
    this.root = h("div", { class: "rating" }, this.legend(), rows, this.marker.bar);
    this.root.addEventListener("focusin", (event) => this.onFocus(event));
    this.near = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        this.near.unobserve(entry.target);
        this.rowOf(entry.target)?.build();
      }
    }, { rootMargin: NEAR });
    for (const row of this.rows) if (row) this.near.observe(row.root);
  }

  /** The start of a new cell: the marks given in advance. @param {any} task @param {string} key */
  static fresh(task, key) {
    const [code, place] = splitKey(key);
    const output = task.outputs.find((/** @type {any} */ one) => one.code === code);
    const number = task.segments.findIndex((/** @type {any} */ segment) => segment.place === place);
    const spans = (output?.spans?.[number] || []).map((/** @type {any} */ span) => ({ ...span, origin: "kept" }));
    return { scores: {}, spans, none: false, skipped: "", comment: "", asked: false };
  }

  /** @param {Element} element */
  rowOf(element) {
    const found = element.closest("[data-row]");
    return found instanceof HTMLElement ? this.rows[Number(found.dataset.row)] : null;
  }

  legend() {
    const anchored = this.task.scales.filter((/** @type {any} */ scale) => scale.anchors.length);
    if (!anchored.length) return null;
    return h("div", { class: "legend" }, anchored.map((/** @type {any} */ scale) => h("p", {},
      this.task.scales.length > 1 && h("strong", {}, `${scale.name} `),
      anchors(scale).map(([value, text]) => h("span", {}, h("b", {}, String(Math.round(value))), ` ${text}`)))));
  }

  /** @param {FocusEvent} event */
  onFocus(event) {
    const target = /** @type {Element} */ (event.target);
    const row = this.rowOf(target);
    if (!row) return;
    this.root.querySelector(".row.current")?.classList.remove("current");
    row.root.classList.add("current");
    const cell = row.cells.find((one) => one.root.contains(target));
    if (cell) row.activate(cell);
  }

  /** @param {Passage} passage */
  entered(passage) {
    const keys = this.marker.severities.map((one) => one.key);
    if (passage.setup.side === "target") this.say(t("passage-help", { keys: keys.join(" ") }), true);
  }

  /** Go from the last line of a text to the same output of the next segment, or back. @param {Passage} passage @param {number} by */
  beyond(passage, by) {
    const row = this.rowOf(passage.root);
    if (!row) return;
    const cell = row.cells.find((one) => one.passage === passage);
    for (let number = row.number + by; number >= 0 && number < this.rows.length; number += by) {
      const next = this.rows[number];
      if (!next) continue;
      next.build();
      const target = cell ? next.cellOf(cell.code)?.passage : next.source;
      if (!target) continue;
      target.root.focus();
      target.go(by > 0 ? target.step(-1, 1) : target.step(target.pieces.length, -1), false);
      return;
    }
  }

  /** @param {string | null} key */
  refresh(key) {
    const place = key === null ? null : splitKey(key)[1];
    for (const row of this.rows) if (row && (place === null || row.segment.place === place)) row.refresh(key);
  }

  /** Build the first row of the screen. */
  start() {
    this.rows.find((row) => row)?.build();
    this.root.querySelector(".row:not(.context)")?.classList.add("current");
    this.rows.find((row) => row)?.cells[0]?.start();
  }

  /** Every cell that is asked for. @returns {{output: any, number: number, key: string, cell: any}[]} */
  asked() {
    const found = [];
    for (const row of this.rows) {
      if (!row) continue;
      for (const output of this.outputs) {
        if (output.texts[row.number] === null) continue;
        const key = `${output.code}:${row.segment.place}`;
        found.push({ output, number: row.number, key, cell: this.work.get(key) });
      }
    }
    return found;
  }

  /** What is still missing. @returns {Gap[]} */
  missing() {
    /** @type {Gap[]} */
    const found = [];
    for (const { output, number, cell } of this.asked()) {
      if (cell.skipped) continue;
      const what = this.lacking(cell);
      if (!what) continue;
      const where = { number: number + 1, label: output.label };
      const side = this.outputs.length > 1 ? "in-sentence-output" : "in-sentence";
      found.push({ get text() { return `${what} ${t(side, where)}`; }, go: () => this.go(output.code, number, what) });
    }
    return found;
  }

  /** Whether a low score has no mark, and the rater has not said that this is right. @param {any} cell */
  doubtful({ scores, spans, none, skipped, asked }) {
    const low = Object.values(scores).some((score) => score < (this.askBelow ?? -Infinity));
    return low && !spans.length && !none && !skipped && !asked;
  }

  /** Doubtful cells that sending has not stopped for yet. @returns {(Gap & {key: string})[]} */
  doubts() {
    const found = this.asked().filter(({ key, cell }) => !this.stopped.has(key) && this.doubtful(cell));
    return found.map(({ output, number, key }) => ({
      key,
      text: `${t("sentence", { number: number + 1 })}${this.outputs.length > 1 ? ` ${output.label}` : ""}: ${t("ask-low")}`,
      go: () => {
        const row = this.rows[number];
        row?.build();
        const cell = row?.cellOf(output.code);
        cell?.root.scrollIntoView({ block: "center" });
        cell?.hint.querySelector("button")?.focus({ preventScroll: true });
      },
    }));
  }

  /** @param {any} cell */
  lacking(cell) {
    if (this.task.categories.length && cell.spans.some((/** @type {any} */ span) => !span.category)) return t("lacks-category");
    if (this.task.protocol === "mqm" && !cell.spans.length && !cell.none) return t("lacks-mark");
    const scale = this.task.scales.find((/** @type {any} */ one) => cell.scores[one.name] === undefined);
    if (!scale) return "";
    return this.task.scales.length > 1 ? scale.name : t("lacks-score");
  }

  /** @param {string} code @param {number} number @param {string} what */
  go(code, number, what) {
    const row = this.rows[number];
    if (!row) return;
    row.build();
    row.root.scrollIntoView({ block: "center" });
    const cell = row.cellOf(code);
    const open = cell?.state.spans.find((/** @type {any} */ span) => !span.category);
    if (cell && what === t("lacks-category") && open) this.marker.chooseCategory(open.side === "source" && row.source ? row.source : cell.passageOrSource(), open);
    else cell?.goToGap();
  }

  /** The answers as they are sent. */
  answers() {
    return this.asked().map(({ output, number, key, cell }) => {
      /** @type {Record<string, any>} */
      const answer = { code: output.code, place: this.task.segments[number].place };
      if (cell.comment.trim()) answer.comment = cell.comment.trim();
      if (cell.skipped) return { ...answer, skipped: cell.skipped };
      if (this.task.scales.length) answer.scores = cell.scores;
      if (cell.spans.length) answer.spans = cell.spans.map(wireSpan);
      if (this.marks && cell.none) answer.no_error = true;
      if (this.askBelow !== undefined && (cell.asked || (this.stopped.has(key) && this.doubtful(cell)))) answer.asked = true;
      return answer;
    });
  }

  /** Cells from earlier answers. @param {any} task @param {any[]} answers @param {string[]} codes */
  static restore(task, answers, codes) {
    /** @type {Record<string, any>} */
    const cells = {};
    for (const answer of answers.filter((one) => codes.includes(one.code))) {
      cells[`${answer.code}:${answer.place}`] = {
        scores: answer.scores || {}, spans: answer.spans || [], none: Boolean(answer.no_error),
        skipped: answer.skipped || "", comment: answer.comment || "", asked: Boolean(answer.asked),
      };
    }
    return cells;
  }

  close() {
    this.near.disconnect();
  }
}

/** @param {any} span */
function wireSpan(span) {
  const { side, start, end, severity } = span;
  /** @type {Record<string, any>} */
  const sent = { side, start, end, severity };
  if (span.category) sent.category = span.category;
  if (span.origin) sent.origin = span.origin;
  if (span.missing) sent.missing = true;
  return sent;
}

/** @param {string} key @returns {[string, number]} */
export function splitKey(key) {
  const cut = key.lastIndexOf(":");
  return [key.slice(0, cut), Number(key.slice(cut + 1))];
}

