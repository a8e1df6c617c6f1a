// Comparisons: the better of two, or several ranked.

import { skipDialog } from "./dialogs.js";
import { button, fill, h, isTyping, key } from "./dom.js";
import { named, t } from "./i18n.js";
import { outputText, sourceText } from "./segment.js";

const CELL = "screen";

/** The base of both comparisons: texts, skipping, a comment. */
class ComparisonView {
  /** @param {import("./main.js").Screen} screen */
  constructor({ task, codes, work, say }) {
    this.task = task;
    this.work = work;
    this.say = say;
    this.outputs = codes.map((code) => task.outputs.find((/** @type {any} */ output) => output.code === code));
    this.number = task.segments.findIndex((/** @type {any} */ segment) => segment.rate);
    const around = (/** @type {any} */ segment, /** @type {number} */ number) => (segment.rate ? null : this.around(segment, number));
    this.comment = /** @type {HTMLTextAreaElement} */ (h("textarea", {
      rows: 2, "aria-label": t("why"), placeholder: t("why"), maxlength: 20000, oninput: () => this.work.set(CELL, { comment: this.comment.value }, { undo: false }),
    }));
    this.skipped = h("p", { class: "skipped" });
    this.ask = h("div", { class: "ask" });
    this.cards = h("div", { class: "cards" });
    this.cards.style.setProperty("--outputs", String(this.outputs.length));
    this.root = h("div", { class: "comparison" },
      h("div", { class: "rows around" }, task.segments.slice(0, this.number).map(around)),
      h("section", { class: "row current asked-source" }, h("div", { class: "number" }, t("source")), sourceText(task, task.segments[this.number])),
      this.cards, this.ask, this.skipped, this.comment,
      h("div", { class: "tools" }, button(t("skip"), () => this.skip())),
      h("div", { class: "rows around" }, task.segments.slice(this.number + 1).map((/** @type {any} */ segment, /** @type {number} */ n) => around(segment, n + this.number + 1))));
  }

  get state() {
    return this.work.get(CELL);
  }

  /** A context segment with the outputs' texts. @param {any} segment @param {number} number */
  around(segment, number) {
    const texts = this.outputs.filter((output) => output.texts[number] !== null);
    return h("section", { class: "row context", "aria-label": t("context") },
      h("div", { class: "number" }, String(number + 1)), sourceText(this.task, segment),
      h("div", { class: "cell" }, texts.map((output) => h("div", { class: "lettered" },
        h("span", { class: "letter" }, output.label), outputText(this.task, output.texts[number])))));
  }

  async skip() {
    if (this.state.skipped) this.work.set(CELL, { skipped: "" });
    else {
      const reason = await skipDialog();
      if (reason) this.work.set(CELL, { skipped: reason });
    }
  }

  /** @param {any} output */
  text(output) {
    return outputText(this.task, output.texts[this.number]);
  }

  refresh() {
    const { skipped, comment } = this.state;
    fill(this.skipped, skipped && `${t("skipped")}: ${named("reason", skipped)} `, skipped && button(t("skip-undo"), () => this.skip()));
    this.ask.hidden = Boolean(skipped);
    if (document.activeElement !== this.comment) this.comment.value = comment;
    this.draw();
  }

  draw() {}

  /** @returns {{text: string, go: () => void}[]} */
  missing() {
    return [];
  }

  /** @param {Record<string, any>} given @param {string} words  the name of the comment's field */
  answer(given, words) {
    const { skipped, comment } = this.state;
    const said = comment.trim() ? { [skipped ? "comment" : words]: comment.trim() } : {};
    return [skipped ? { skipped, ...said } : { ...given, ...said }];
  }

  start() {
    this.refresh();
  }

  close() {}
}

/** Two outputs: the better one, or a tie. */
export class PairwiseView extends ComparisonView {
  /** @param {import("./main.js").Screen} screen */
  constructor(screen) {
    super(screen);
    this.strengths = screen.task.options?.strengths || 0;
    fill(this.cards, this.outputs.map((output) => {
      const card = button("", () => this.choose(output.code), { class: "card" });
      fill(card, h("span", { class: "letter" }, output.label), this.text(output));
      return card;
    }));
    const [a, b] = this.outputs;
    this.buttons = [
      button(h("span", {}, key("←"), t("is-better", { label: a.label })), () => this.choose(a.code)),
      button(h("span", {}, key("="), t("same")), () => this.choose(null)),
      button(h("span", {}, t("is-better", { label: b.label }), key("→")), () => this.choose(b.code)),
    ];
    this.strong = h("div", { class: "strengths", role: "group", "aria-label": t("how-much") },
      Array.from({ length: this.strengths }, (_, number) =>
        button(h("span", {}, key(String(number + 1)), t(`strength-${number + 1}`)), () => this.strength(number + 1))));
    fill(this.ask, h("div", { class: "verdict", role: "group", "aria-label": t("which-better") }, this.buttons), this.strong);
    this.keys = new AbortController();
    document.addEventListener("keydown", (event) => this.onKey(event), { signal: this.keys.signal });
  }

  static fresh() {
    return { winner: undefined, strength: null, comment: "", skipped: "" };
  }

  /** @param {any} task @param {any[]} answers */
  static restore(task, [answer]) {
    const winner = answer.skipped ? undefined : answer.winner ?? null;
    return { [CELL]: { winner, strength: answer.strength ?? null, comment: answer.reason || answer.comment || "", skipped: answer.skipped || "" } };
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const [a, b] = document.dir === "rtl" ? [...this.outputs].reverse() : this.outputs;
    if (event.key === "ArrowLeft") this.choose(a.code);
    else if (event.key === "ArrowRight") this.choose(b.code);
    else if (event.key === "=" || event.key === "0") this.choose(null);
    else if (Number(event.key) >= 1 && Number(event.key) <= this.strengths && this.state.winner) this.strength(Number(event.key));
    else return;
    event.preventDefault();
  }

  /** @param {string | null} winner */
  choose(winner) {
    this.work.set(CELL, { winner, strength: winner && this.state.winner === winner ? this.state.strength : null, skipped: "" });
    const label = this.outputs.find((output) => output.code === winner)?.label;
    this.say(label ? t("is-better", { label }) : t("same"));
  }

  /** @param {number} strength */
  strength(strength) {
    this.work.set(CELL, { strength: this.state.strength === strength ? null : strength });
  }

  draw() {
    const { winner, strength } = this.state;
    const chosen = [this.outputs[0].code, null, this.outputs[1].code];
    this.buttons.forEach((one, number) => one.setAttribute("aria-pressed", String(winner !== undefined && winner === chosen[number])));
    [...this.cards.children].forEach((card, number) => {
      card.setAttribute("aria-pressed", String(winner === this.outputs[number].code));
      card.classList.toggle("same", winner === null);
    });
    this.strong.classList.toggle("off", !winner);
    [...this.strong.children].forEach((one, number) => {
      one.setAttribute("aria-pressed", String(strength === number + 1));
      one.toggleAttribute("disabled", !winner);
    });
  }

  missing() {
    const { winner, skipped } = this.state;
    return winner !== undefined || skipped ? [] : [{ text: t("lacks-choice"), go: () => this.buttons[0].focus() }];
  }

  answers() {
    const { winner, strength } = this.state;
    return this.answer(strength ? { winner, strength } : { winner }, "reason");
  }
}

/** Several outputs ranked; equal ranks are ties. */
export class RankingView extends ComparisonView {
  /** @param {import("./main.js").Screen} screen */
  constructor(screen) {
    super(screen);
    fill(this.cards, this.outputs.map((output, number) => this.card(output, number)));
    this.cards.classList.add("ranked");
    this.order = h("p", { class: "order", "aria-live": "polite" });
    fill(this.ask, this.order);
  }

  static fresh() {
    return { ranks: {}, comment: "", skipped: "" };
  }

  /** @param {any} task @param {any[]} answers */
  static restore(task, [answer]) {
    return { [CELL]: { ranks: answer.ranks || {}, comment: answer.comment || "", skipped: answer.skipped || "" } };
  }

  /** @param {any} output @param {number} number */
  card(output, number) {
    const choices = this.outputs.map((_, rank) => h("label", {},
      h("input", { type: "radio", name: `rank-${number}`, value: String(rank + 1), onchange: () => this.rank(output.code, rank + 1) }),
      h("span", {}, String(rank + 1))));
    const card = h("div", { class: "card", role: "radiogroup", "aria-label": t("rank-of", { label: output.label }) },
      h("span", { class: "letter", "aria-hidden": "true" }, output.label), this.text(output), h("div", { class: "choices" }, choices));
    card.addEventListener("keydown", (event) => {
      const rank = Number(event.key);
      if (!(rank >= 1 && rank <= this.outputs.length) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.rank(output.code, rank);
      this.focus(Math.min(number + 1, this.outputs.length - 1));
    });
    return card;
  }

  /** @param {number} number */
  focus(number) {
    const card = this.cards.children[number];
    const input = card.querySelector("input:checked") || card.querySelector("input");
    if (input instanceof HTMLElement) input.focus();
  }

  /** @param {string} code @param {number} rank */
  rank(code, rank) {
    this.work.set(CELL, { ranks: { ...this.state.ranks, [code]: rank }, skipped: "" });
  }

  draw() {
    const { ranks } = this.state;
    this.outputs.forEach((output, number) => {
      for (const input of this.cards.children[number].querySelectorAll("input")) input.checked = Number(input.value) === ranks[output.code];
    });
    const given = this.outputs.filter((output) => ranks[output.code]).sort((a, b) => ranks[a.code] - ranks[b.code]);
    const line = given.map((output, number) => (number === 0 ? "" : ranks[given[number - 1].code] === ranks[output.code] ? " = " : " > ") + output.label);
    fill(this.order, given.length ? h("bdi", { dir: "ltr" }, line.join("")) : t("rank-help"));
  }

  missing() {
    const { ranks, skipped } = this.state;
    if (skipped) return [];
    return this.outputs.flatMap((output, number) => (ranks[output.code] ? [] : [{ text: t("lacks-rank", { label: output.label }), go: () => this.focus(number) }]));
  }

  answers() {
    return this.answer({ ranks: this.state.ranks }, "comment");
  }
}
