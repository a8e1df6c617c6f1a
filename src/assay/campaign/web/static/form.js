// Questions to the rater, before the first task or after the last.

import { h } from "./dom.js";
import { t } from "./i18n.js";

/** One field per question: a choice if there are answers, else a text. */
export class FormView {
  /** @param {import("./main.js").Screen} screen */
  constructor({ task, codes, work }) {
    this.task = task;
    this.code = codes[0];
    this.work = work;
    /** @type {HTMLElement[]} */
    this.fields = task.questions.map((/** @type {any} */ question, /** @type {number} */ place) => this.field(question, place));
    this.root = h("div", { class: "form" }, this.fields);
  }

  static fresh() {
    return { text: "" };
  }

  /** @param {any} task @param {any[]} answers */
  static restore(task, answers) {
    return Object.fromEntries(answers.map((answer) => [String(answer.place), { text: answer.comment }]));
  }

  /** @param {any} question @param {number} place */
  field(question, place) {
    const set = (/** @type {string} */ text) => this.work.set(String(place), { text }, { tag: "text" });
    const named = h("span", { dir: "auto" }, question.text, question.optional && h("small", {}, ` (${t("optional")})`));
    if (!question.answers.length) {
      const area = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 2, maxlength: 20000, oninput: () => set(area.value) }));
      return h("label", { class: "card" }, named, area);
    }
    return h("fieldset", { class: "card reasons" }, h("legend", {}, named), question.answers.map((/** @type {string} */ one) =>
      h("label", { dir: "auto" }, h("input", { type: "radio", name: `question-${place}`, value: one, onchange: () => set(one) }), " ", one)));
  }

  refresh() {
    this.fields.forEach((field, place) => {
      const { text } = this.work.get(String(place));
      const area = field.querySelector("textarea");
      if (area && document.activeElement !== area) area.value = text;
      for (const input of field.querySelectorAll("input")) input.checked = input.value === text;
    });
  }

  missing() {
    return this.task.questions.flatMap((/** @type {any} */ question, /** @type {number} */ place) => {
      if (question.optional || this.work.get(String(place)).text.trim()) return [];
      const go = () => /** @type {HTMLElement} */ (this.fields[place].querySelector("textarea, input")).focus();
      return [{ text: question.text, go }];
    });
  }

  answers() {
    return this.task.questions.flatMap((/** @type {any} */ _, /** @type {number} */ place) => {
      const comment = this.work.get(String(place)).text.trim();
      return comment ? [{ code: this.code, place, comment }] : [];
    });
  }

  start() {
    this.refresh();
  }

  close() {}
}
