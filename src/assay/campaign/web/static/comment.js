// An optional comment.

import { button, h } from "./dom.js";
import { t } from "./i18n.js";

/** A field that opens at a button. */
export class CommentField {
  /** @param {(comment: string) => void} said */
  constructor(said) {
    this.root = /** @type {HTMLTextAreaElement} */ (h("textarea", {
      rows: 2, class: "comment", "aria-label": t("comment"), placeholder: t("comment"), hidden: true, maxlength: 20000, oninput: () => said(this.root.value),
    }));
    this.opener = button(t("comment"), () => this.open());
  }

  open() {
    this.root.hidden = false;
    this.root.focus();
  }

  /** @param {string} comment */
  update(comment) {
    if (document.activeElement !== this.root) this.root.value = comment;
    if (comment) this.root.hidden = false;
  }
}
