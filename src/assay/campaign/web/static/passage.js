// A text in which words can be marked, by keyboard or pointer.

import { h } from "./dom.js";
import { codePoints, pieces, stretch } from "./text.js";
import { directionOf, named, t } from "./i18n.js";

/** @typedef {import("./work.js").Span} Span */
/** @typedef {import("./text.js").Piece} Piece */
/** @typedef {{anchor: number, focus: number, chosen: boolean}} Place  indices of pieces; `chosen` once words are selected on purpose */

/**
 * @typedef {object} Setup
 * @property {string} text
 * @property {string} language
 * @property {string} label
 * @property {string} side
 * @property {string} key  the cell it belongs to
 * @property {() => Span[]} spans
 * @property {import("./marker.js").Marker} marker
 */

/** A read-only text with a caret that moves from word to word. */
export class Passage {
  /** @param {Setup} setup */
  constructor(setup) {
    this.setup = setup;
    this.byWord = true;
    /** @type {Place} */
    this.place = { anchor: 0, focus: 0, chosen: false };
    /** @type {Piece[]} */
    this.pieces = [];
    /** @type {HTMLElement[]} */
    this.units = [];
    this.root = h("div", {
      class: "passage", role: "textbox", "aria-readonly": "true", "aria-multiline": "true", tabindex: "0",
      "aria-label": setup.label, lang: setup.language, dir: directionOf(setup.language),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event),
      onmousedown: (/** @type {MouseEvent} */ event) => event.preventDefault(),
      onpointerdown: (/** @type {PointerEvent} */ event) => this.onPress(event),
      onpointermove: (/** @type {PointerEvent} */ event) => this.onDrag(event),
      onpointerup: () => this.onRelease(),
      oncopy: (/** @type {ClipboardEvent} */ event) => this.onCopy(event),
      onfocus: () => setup.marker.enter(this),
      onblur: () => this.paint(),
    });
    this.pressed = -1;
    this.drawn = "";
    this.build();
  }

  /** Redraw the text if its marks changed; pieces end where marks do. */
  build() {
    const spans = this.setup.spans();
    const drawn = JSON.stringify([this.byWord, this.setup.key, spans]);
    if (drawn === this.drawn) {
      this.paint();
      return;
    }
    this.drawn = drawn;
    const at = this.pieces[this.place.focus]?.start ?? 0;
    const from = this.pieces[this.place.anchor]?.start ?? 0;
    this.pieces = pieces(this.setup.text, this.setup.language, this.byWord, spans.flatMap((span) => [span.start, span.end]));
    this.place = { ...this.place, anchor: this.pieceAt(from), focus: this.pieceAt(at) };
    this.units = this.pieces.map((piece, number) => h("span", { "data-n": number }, piece.text));
    /** @type {Node[]} */
    const nodes = [];
    const gaps = spans.filter((span) => span.missing);
    const gap = (/** @type {Span} */ span) =>
      h("span", { class: `gap s-${severityClass(span.severity)}`, title: named("severity", span.severity) }, `[${t("missing")}]`);
    this.pieces.forEach((piece, number) => {
      nodes.push(...gaps.filter((span) => span.start === piece.start).map(gap), this.units[number]);
    });
    const length = this.length();
    nodes.push(...gaps.filter((span) => span.start >= length).map(gap));
    this.root.replaceChildren(...nodes);
    this.paint();
  }

  length() {
    return this.pieces.length ? this.pieces[this.pieces.length - 1].end : codePoints(this.setup.text);
  }

  /** @param {number} offset */
  pieceAt(offset) {
    const found = this.pieces.findIndex((piece) => piece.start <= offset && offset < piece.end);
    const number = found < 0 ? Math.max(0, this.pieces.length - 1) : found;
    return this.pieces[number]?.stop === false ? this.step(number, 1) : number;
  }

  /** The selection in code points. */
  selection() {
    const { anchor, focus } = this.place;
    const [first, last] = anchor <= focus ? [anchor, focus] : [focus, anchor];
    return { start: this.pieces[first]?.start ?? 0, end: this.pieces[last]?.end ?? 0 };
  }

  /** The selected words. */
  selected() {
    const { start, end } = this.selection();
    return stretch(this.setup.text, start, end);
  }

  /** Show marks, selection and caret. */
  paint() {
    const here = document.activeElement === this.root || this.setup.marker.at === this;
    const { start, end } = this.selection();
    const spans = this.setup.spans().filter((span) => !span.missing);
    this.units.forEach((unit, number) => {
      const piece = this.pieces[number];
      const over = spans.filter((span) => span.start < piece.end && piece.start < span.end);
      const names = [];
      for (const span of over) names.push(`m s-${severityClass(span.severity)}`);
      if (over.length > 1) names.push("twice");
      if (here && piece.stop && number === this.place.focus) names.push("caret");
      if (here && this.place.chosen && piece.start >= start && piece.end <= end) names.push("chosen");
      const name = names.join(" ");
      if (unit.className !== name) unit.className = name;
    });
  }

  /** @param {number} from @param {number} by */
  step(from, by) {
    for (let number = from + by; number >= 0 && number < this.pieces.length; number += by) {
      if (this.pieces[number].stop) return number;
    }
    return from;
  }

  /** @param {number} focus @param {boolean} extend */
  go(focus, extend) {
    const anchor = extend ? this.place.anchor : focus;
    this.place = { anchor, focus, chosen: extend };
    this.paint();
    this.units[focus]?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.setup.marker.moved(this);
  }

  /** The nearest word in the line above (by = -1) or below (by = 1), or -1. @param {number} by */
  line(by) {
    const boxes = this.units.map((unit) => unit.getClientRects()[0]);
    const here = boxes[this.place.focus];
    if (!here) return -1;
    const middle = here.left + here.width / 2;
    let best = -1;
    let distance = Infinity;
    let row = 0;
    for (let number = this.place.focus + by; number >= 0 && number < boxes.length; number += by) {
      const box = boxes[number];
      if (!box || !this.pieces[number].stop) continue;
      const off = by * (box.top - here.top);
      if (off < here.height / 2) continue;
      row ||= box.top;
      if (Math.abs(box.top - row) > here.height / 2) break;
      const apart = Math.abs(box.left + box.width / 2 - middle);
      if (apart < distance) [best, distance] = [number, apart];
    }
    return best;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const forward = getComputedStyle(this.root).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const back = forward === "ArrowRight" ? "ArrowLeft" : "ArrowRight";
    const { focus } = this.place;
    const { marker } = this.setup;
    if (event.key === forward) this.go(this.step(focus, 1), event.shiftKey);
    else if (event.key === back) this.go(this.step(focus, -1), event.shiftKey);
    else if (event.key === "Home") this.go(this.step(-1, 1), event.shiftKey);
    else if (event.key === "End") this.go(this.step(this.pieces.length, -1), event.shiftKey);
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const by = event.key === "ArrowUp" ? -1 : 1;
      const found = this.line(by);
      if (found >= 0) this.go(found, event.shiftKey);
      else if (!event.shiftKey) marker.beyond(this, by);
    } else if (event.key === "w" || event.key === "W") this.byGrapheme();
    else if (event.key === "Escape") this.clear();
    else if (!marker.key(this, event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Switch between words and graphemes. */
  byGrapheme() {
    this.byWord = !this.byWord;
    this.build();
    this.setup.marker.say(t(this.byWord ? "by-word" : "by-character"));
  }

  /** Clear the selection. */
  clear() {
    this.place = { ...this.place, anchor: this.place.focus, chosen: false };
    this.pressed = -1;
    this.paint();
    this.setup.marker.hide();
  }

  /** @param {PointerEvent} event */
  unitOf(event) {
    const target = document.elementFromPoint(event.clientX, event.clientY);
    const unit = target instanceof Element ? target.closest("[data-n]") : null;
    if (!(unit instanceof HTMLElement) || !this.root.contains(unit)) return -1;
    return Number(unit.dataset.n);
  }

  /** @param {PointerEvent} event */
  onPress(event) {
    if (event.button !== 0) return;
    const number = this.unitOf(event);
    const open = this.setup.marker.at === this && this.place.chosen && this.place.anchor === this.place.focus;
    this.root.focus({ preventScroll: true });
    if (number < 0) return;
    const anchor = open ? this.place.anchor : number;
    this.pressed = number;
    this.place = { anchor: this.nearStop(anchor, number), focus: this.nearStop(number, anchor), chosen: true };
    this.paint();
  }

  /** The word next to a space, on the side pressed first. @param {number} number @param {number} towards */
  nearStop(number, towards) {
    return this.pieces[number].stop ? number : this.step(number, towards < number ? -1 : 1);
  }

  /** @param {PointerEvent} event */
  onDrag(event) {
    if (this.pressed < 0 || event.pointerType === "touch") return;
    const number = this.unitOf(event);
    if (number < 0 || number === this.pressed) return;
    this.place = { anchor: this.nearStop(this.pressed, number), focus: this.nearStop(number, this.pressed), chosen: true };
    this.paint();
  }

  /** Copy the selected words. @param {ClipboardEvent} event */
  onCopy(event) {
    event.clipboardData?.setData("text/plain", this.selected());
    event.preventDefault();
  }

  onRelease() {
    if (this.pressed < 0) return;
    this.pressed = -1;
    this.setup.marker.moved(this);
  }
}

/** The CSS class of a severity, whatever the campaign calls it. @param {string} name */
export function severityClass(name) {
  const plain = name.toLowerCase();
  if (["minor", "neutral"].includes(plain)) return plain;
  return plain.startsWith("crit") ? "critical" : "major";
}
