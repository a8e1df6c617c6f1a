// One output of one segment: its text, its marks, its scores, a comment.

import { CommentField } from "./comment.js";
import { skipDialog } from "./dialogs.js";
import { button, fill, h, key } from "./dom.js";
import { named, t } from "./i18n.js";
import { categoryName } from "./marker.js";
import { Passage, severityClass } from "./passage.js";
import { scoreControl } from "./score.js";
import { outputText } from "./segment.js";
import { stretch } from "./text.js";

/** A cell of a row. */
export class OutputCell {
  /** @param {import("./rating.js").RatingView} view @param {any} output @param {number} number  of the segment */
  constructor(view, output, number) {
    this.view = view;
    this.output = output;
    this.code = output.code;
    this.number = number;
    this.segment = view.task.segments[number];
    this.key = `${output.code}:${this.segment.place}`;
    /** @type {Passage | null} */
    this.passage = view.marks && output.texts[number] ? this.makePassage(output.texts[number]) : null;
    this.scales = view.task.scales.map((/** @type {any} */ scale) => ({ scale, control: this.makeScore(scale) }));
    this.list = h("ul", { class: "marks" });
    this.hint = h("div", { class: "hint", hidden: true }, t("ask-low"), " ",
      button(t("ask-low-fine"), () => view.work.set(this.key, { asked: true })));
    this.none = button(h("span", {}, key("0"), t("no-errors")), () => view.marker.none(this.key), { class: view.task.protocol === "mqm" ? "none needed" : "none", "aria-pressed": "false", tabindex: "-1" });
    this.comment = new CommentField((comment) => view.work.set(this.key, { comment }, { undo: false }));
    this.rating = [
      view.marks && this.none,
      this.passage && button(h("span", {}, key("M"), t("missing-here")), () => this.gap(), { tabindex: "-1" }),
    ];
    this.skipper = button(t("skip"), () => this.skip());
    this.skipped = h("p", { class: "skipped" });
    this.work = h("div", { class: "asked" }, this.list,
      this.scales.map(({ scale, control }) => view.task.scales.length > 1
        ? h("div", { class: "named" }, h("span", { class: "scale-name" }, scale.name), control.root) : control.root),
      this.hint);
    this.root = h("div", { class: "cell", role: "group", "aria-label": this.label() },
      view.outputs.length > 1 && h("div", { class: "letter", "aria-hidden": "true" }, output.label),
      this.passage?.root || outputText(view.task, output.texts[number]),
      this.work, this.skipped, this.comment.root,
      h("div", { class: "tools" }, this.rating, this.comment.opener, this.skipper));
  }

  get state() {
    return this.view.work.get(this.key);
  }

  label() {
    const place = { number: this.number + 1, label: this.output.label };
    return this.view.outputs.length > 1 ? t("output-of", place) : t("translation-of", place);
  }

  /** @param {string} text */
  makePassage(text) {
    return new Passage({
      text, language: this.view.task.languages.target, side: "target", key: this.key, marker: this.view.marker, label: this.label(),
      spans: () => this.state.spans.filter((/** @type {any} */ span) => span.side !== "source"),
    });
  }

  /** @param {any} scale */
  makeScore(scale) {
    const name = this.view.task.scales.length > 1 ? scale.name : t("score");
    return scoreControl(scale, `${name}: ${this.label()}`, (value) =>
      this.view.work.set(this.key, { scores: { ...this.state.scores, [scale.name]: value } }, { tag: `score ${scale.name}` }));
  }

  /** The passage of this cell, or the source if only that can be marked. */
  passageOrSource() {
    return /** @type {Passage} */ (this.passage || this.view.rows[this.number]?.source);
  }

  gap() {
    const passage = /** @type {Passage} */ (this.passage);
    if (!passage.place.chosen) passage.place = { anchor: passage.pieces.length - 1, focus: passage.pieces.length - 1, chosen: false };
    this.view.marker.gap(passage, false);
  }

  async skip() {
    if (this.state.skipped) this.view.work.set(this.key, { skipped: "" });
    else {
      const reason = await skipDialog();
      if (reason) this.view.work.set(this.key, { skipped: reason });
    }
  }

  /** Focus the text if it can be marked, else the first score. */
  start() {
    const options = { preventScroll: true };
    if (this.passage) this.passage.root.focus(options);
    else this.scales[0]?.control.focus(options);
  }

  /** Focus the first missing answer. */
  goToGap() {
    const { scores } = this.state;
    const open = this.scales.find(({ scale }) => scores[scale.name] === undefined);
    if (open) open.control.focus();
    else if (this.passage) this.passage.root.focus();
    else this.none.focus();
  }

  refresh() {
    const { scores, spans, none, skipped, comment } = this.state;
    this.passage?.build();
    for (const { scale, control } of this.scales) control.update(scores[scale.name]);
    fill(this.list, spans.map((/** @type {any} */ span) => this.mark(span)));
    this.none.setAttribute("aria-pressed", String(none));
    this.none.toggleAttribute("disabled", spans.length > 0);
    this.hint.hidden = !this.view.doubtful(this.state);
    this.work.hidden = Boolean(skipped);
    this.root.classList.toggle("is-skipped", Boolean(skipped));
    for (const one of [...this.rating, this.skipper]) if (one) one.hidden = Boolean(skipped);
    fill(this.skipped, skipped && `${t("skipped")}: ${named("reason", skipped)} `, skipped && button(t("skip-undo"), () => this.skip()));
    this.comment.update(comment);
  }

  /** An entry in the list of marks. @param {any} span */
  mark(span) {
    const { marker, task } = this.view;
    const source = span.side === "source";
    const passage = source ? /** @type {Passage} */ (this.view.rows[this.number]?.source) : /** @type {Passage} */ (this.passage);
    const text = source ? this.segment.source : this.output.texts[this.number];
    const severity = named("severity", span.severity);
    const quote = span.missing ? `[${t("missing")}]` : `“${stretch(text, span.start, span.end)}”`;
    return h("li", {},
      button(severity, () => marker.cycle(passage, span), { class: `sev s-${severityClass(span.severity)}`, tabindex: "-1", title: t("change-severity"), "aria-label": `${severity}: ${t("change-severity")}` }),
      h("span", { class: "quote" }, source && h("em", {}, `${t("source")}: `), h("bdi", {}, quote)),
      task.categories.length > 0 && button(span.category ? categoryName(span.category) : t("choose-category"), () => marker.chooseCategory(passage, span), { class: span.category ? "category" : "category open", tabindex: "-1" }),
      button("×", () => marker.remove(passage, span), { class: "quiet", tabindex: "-1", "aria-label": `${t("remove-mark")}: ${quote}` }));
  }
}
