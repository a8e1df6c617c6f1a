// Marking: severities, categories, missing words, and the toolbar next to the selection.

import { button, fill, h, key } from "./dom.js";
import { named, t } from "./i18n.js";
import { severityClass } from "./passage.js";
import { stretch } from "./text.js";

/** @typedef {import("./passage.js").Passage} Passage */
/** @typedef {import("./work.js").Span} Span */

/** Marking in all passages of a screen. */
export class Marker {
  /**
   * @param {Record<string, any>} task
   * @param {import("./work.js").Work} work
   * @param {(text: string) => void} say
   */
  constructor(task, work, say) {
    this.work = work;
    this.say = say;
    /** @type {{name: string, key: string}[]} */
    this.severities = task.severities;
    /** @type {string[]} */
    this.categories = task.categories;
    /** @type {Passage | null} */
    this.at = null;
    this.bar = h("div", { class: "bar", role: "group", "aria-label": t("mark-here"), hidden: true });
    /** @type {(passage: Passage, by: number) => void} */
    this.beyond = () => {};
    /** @type {(passage: Passage) => void} */
    this.entered = () => {};
  }

  /** @param {Passage} passage */
  enter(passage) {
    const before = this.at;
    this.at = passage;
    if (before && before !== passage) {
      before.place = { ...before.place, anchor: before.place.focus, chosen: false };
      before.paint();
      this.hide();
    }
    passage.paint();
    this.entered(passage);
  }

  /** @param {Passage} passage @returns {Span[]} */
  spans(passage) {
    return this.work.get(passage.setup.key).spans;
  }

  /** @param {Passage} passage */
  under(passage) {
    const piece = passage.pieces[passage.place.focus];
    const found = passage.setup.spans().filter((span) => piece
      && (span.missing ? span.start === piece.end || span.start === piece.start : span.start < piece.end && piece.start < span.end));
    return found.sort((a, b) => (a.end - a.start) - (b.end - b.start));
  }

  /** The caret or the selection moved. @param {Passage} passage */
  moved(passage) {
    const [mark] = this.under(passage);
    const chosen = passage.selected();
    const described = mark && this.describe(mark, passage.setup.text);
    const whole = mark && !mark.missing && stretch(passage.setup.text, mark.start, mark.end) === chosen;
    this.say(described ? (whole ? described : `${chosen} · ${described}`) : chosen);
    if (passage.place.chosen) this.show(passage);
    else this.hide();
  }

  /** @param {Span} span @param {string} text */
  describe(span, text) {
    const what = span.missing ? t("missing") : `“${stretch(text, span.start, span.end)}”`;
    const kind = span.category ? `, ${categoryName(span.category)}` : "";
    return `${named("severity", span.severity)} ${what}${kind}`;
  }

  /** Handle a key in a passage; true if it was a command. @param {Passage} passage @param {KeyboardEvent} event */
  key(passage, event) {
    const severity = this.severities.find((one) => one.key === event.key);
    const [mark] = this.under(passage);
    if (severity) {
      if (mark && !passage.place.chosen) this.change(passage, mark, { severity: severity.name });
      else this.mark(passage, severity.name);
    } else if (event.key === "0") this.none(passage.setup.key);
    else if (event.key === "m" || event.key === "M") this.gap(passage, event.shiftKey);
    else if ((event.key === "Delete" || event.key === "Backspace") && mark) this.remove(passage, mark);
    else if (event.key === "Enter" && mark && this.categories.length) this.chooseCategory(passage, mark);
    else return false;
    return true;
  }

  /** Say that there is no error, or undo that. @param {string} cell */
  none(cell) {
    const { none, spans } = this.work.get(cell);
    if (spans.length && !none) {
      this.say(t("none-with-marks"));
      return;
    }
    this.work.set(cell, { none: !none });
    this.say(t(none ? "none-taken-back" : "no-errors"));
  }

  /** @param {Passage} passage @param {string} severity */
  mark(passage, severity) {
    const { start, end } = passage.selection();
    if (start < end) this.add(passage, { side: passage.setup.side, start, end, severity });
  }

  /** Mark missing words after the caret's word, or before it. @param {Passage} passage @param {boolean} before */
  gap(passage, before) {
    const { start, end } = passage.selection();
    const place = before ? start : end;
    const severity = (this.severities.find((one) => one.name.toLowerCase() === "major") || this.severities[0]).name;
    const span = { side: passage.setup.side, start: place, end: place, severity, missing: true };
    this.add(passage, span);
    const keys = this.severities.map((one) => one.key).join(" ");
    if (this.severities.length > 1) this.say(t("missing-marked", { what: this.describe(span, passage.setup.text), keys }));
  }

  /** @param {Passage} passage @param {Span} span */
  add(passage, span) {
    const cell = passage.setup.key;
    const same = (/** @type {Span} */ one) => one.side === span.side && one.start === span.start && one.end === span.end
      && Boolean(one.missing) === Boolean(span.missing) && !(one.category && this.categories.length);
    const twin = this.spans(passage).find(same);
    if (twin) {
      this.change(passage, twin, { severity: span.severity });
      return;
    }
    this.work.set(cell, { spans: [...this.spans(passage), span], none: false });
    passage.clear();
    this.say(t("marked", { what: this.describe(span, passage.setup.text) }));
    if (this.categories.length) this.chooseCategory(passage, span);
  }

  /** @param {Passage} passage @param {Span} span @param {Partial<Span>} change */
  change(passage, span, change) {
    const changed = { ...span, ...change };
    if (span.origin === "kept") changed.origin = "changed";
    const spans = this.spans(passage).map((one) => (sameSpan(one, span) ? changed : one));
    this.work.set(passage.setup.key, { spans });
    passage.clear();
    this.say(t("marked", { what: this.describe(changed, passage.setup.text) }));
    return changed;
  }

  /** @param {Passage} passage @param {Span} span */
  remove(passage, span) {
    this.work.set(passage.setup.key, { spans: this.spans(passage).filter((one) => !sameSpan(one, span)) });
    this.hide();
    this.say(t("mark-removed"));
  }

  /** The next severity of a mark. @param {Passage} passage @param {Span} span */
  cycle(passage, span) {
    const at = this.severities.findIndex((one) => one.name === span.severity);
    this.change(passage, span, { severity: this.severities[(at + 1) % this.severities.length].name });
  }

  hide() {
    this.bar.hidden = true;
  }

  /** Show the toolbar next to the selection. @param {Passage} passage */
  show(passage) {
    const act = (/** @type {() => void} */ run) => () => {
      run();
      if (document.activeElement === document.body || this.bar.contains(document.activeElement)) passage.root.focus({ preventScroll: true });
    };
    const [mark] = this.under(passage);
    fill(
      this.bar,
      this.severities.map((one) => button(
        h("span", { class: `sev s-${severityClass(one.name)}` }, key(one.key), named("severity", one.name)),
        act(() => this.mark(passage, one.name)),
      )),
      button(h("span", {}, key("M"), t("missing-here")), act(() => this.gap(passage, false)), { title: t("missing-after") }),
      mark && button(t("remove-mark"), act(() => this.remove(passage, mark))),
      button("×", act(() => passage.clear()), { "aria-label": t("close"), class: "quiet" }),
    );
    this.open(passage);
  }

  /** @param {Passage} passage */
  open(passage) {
    this.bar.hidden = false;
    const unit = passage.units[passage.place.focus] || passage.root;
    const box = unit.getBoundingClientRect();
    const text = passage.root.getBoundingClientRect(); // keep it free for the second click
    const { offsetWidth, offsetHeight } = this.bar;
    const width = document.documentElement.clientWidth;
    const middle = Math.max(text.left, Math.min(box.left + box.width / 2 - offsetWidth / 2, text.right - offsetWidth));
    const left = Math.max(8, Math.min(middle, width - offsetWidth - 8));
    const below = text.bottom + offsetHeight + 80 < window.innerHeight;
    this.bar.style.left = `${left + window.scrollX}px`;
    this.bar.style.top = `${(below ? text.bottom + 4 : text.top - offsetHeight - 4) + window.scrollY}px`;
  }

  /** Show the searchable list of categories. @param {Passage} passage @param {Span} span */
  chooseCategory(passage, span) {
    const field = h("input", {
      type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "categories", "aria-autocomplete": "list",
      "aria-label": t("category"), placeholder: t("type-to-find"), autocomplete: "off", spellcheck: "false",
    });
    const list = h("ul", { id: "categories", role: "listbox", "aria-label": t("category") });
    const likely = span.missing ? this.categories.findIndex((one) => /omission/i.test(one)) : -1;
    let at = Math.max(0, span.category ? this.categories.indexOf(span.category) : likely);
    /** @type {string[]} */
    let found = [];
    const leave = () => {
      this.hide();
      passage.root.focus({ preventScroll: true });
    };
    const choose = (/** @type {string} */ category) => {
      const current = this.spans(passage).find((one) => sameSpan(one, span));
      if (current) this.change(passage, current, { category });
      leave();
    };
    const draw = () => {
      const wish = /** @type {HTMLInputElement} */ (field).value.trim().toLowerCase();
      found = this.categories.filter((one) => matches(one, wish));
      at = Math.max(0, Math.min(at, found.length - 1));
      fill(list, found.map((one, number) => h("li", {
        role: "option", id: `category-${number}`, "aria-selected": String(number === at), onmousedown: (/** @type {Event} */ event) => event.preventDefault(),
        onclick: () => choose(one),
      }, categoryName(one))));
      field.setAttribute("aria-activedescendant", found.length ? `category-${at}` : "");
      list.children[at]?.scrollIntoView({ block: "nearest" });
    };
    field.addEventListener("input", () => {
      at = 0;
      draw();
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") at += 1;
      else if (event.key === "ArrowUp") at -= 1;
      else if (event.key === "Enter" && found.length) choose(found[at]);
      else if (event.key === "Escape") leave();
      else return;
      event.preventDefault();
      event.stopPropagation();
      if (!this.bar.hidden) draw();
    });
    fill(this.bar, h("div", { class: "choose" }, h("p", { class: "what" }, this.describe(span, passage.setup.text)), field, list));
    this.open(passage);
    draw();
    this.open(passage);
    field.focus({ preventScroll: true });
  }
}

/** @param {Span} a @param {Span} b */
export function sameSpan(a, b) {
  return a.side === b.side && a.start === b.start && a.end === b.end && Boolean(a.missing) === Boolean(b.missing)
    && (a.category || null) === (b.category || null);
}

/** `Accuracy/Omission` for display. @param {string} category */
export const categoryName = (category) => category.split("/").map((part) => named("category", part.replaceAll("_", " "))).join(" › ");

/** @param {string} category @param {string} wish */
function matches(category, wish) {
  const name = `${categoryName(category)} ${category}`.toLowerCase();
  return wish.split(/\s+/).every((part) => name.includes(part));
}

