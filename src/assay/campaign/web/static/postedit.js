// Post-editing: the corrected text and the effort.

import { Stopwatch } from "./clock.js";
import { CommentField } from "./comment.js";
import { skipDialog } from "./dialogs.js";
import { button, fill, h, key } from "./dom.js";
import { directionOf, named, spoken, t } from "./i18n.js";
import { splitKey } from "./rating.js";
import { context, outputText, sourceText } from "./segment.js";
import { changedWords, changes } from "./text.js";

const NAVIGATION = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);
const PAUSES = [300, 1000];
const IDLE = 60_000;

/** The class of a pressed key, or null if it does not edit the text. @param {KeyboardEvent} event */
function keyClass(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null; // copy, paste and undo are counted separately
  if (NAVIGATION.has(event.key)) return "navigation";
  if (event.key === "Backspace" || event.key === "Delete") return "erase";
  if (event.key === " " || event.key === "Enter") return "space";
  if (event.key === "Process") return "letter"; // an input method is composing
  if ([...event.key].length !== 1) return null;
  if (/\p{L}|\p{M}/u.test(event.key)) return "letter";
  return /\p{N}/u.test(event.key) ? "digit" : "symbol";
}

/** One segment that is edited. */
class EditRow {
  /** @param {PostEditView} view @param {any} output @param {number} number */
  constructor(view, output, number) {
    this.view = view;
    this.output = output;
    this.number = number;
    this.segment = view.task.segments[number];
    this.key = `${output.code}:${this.segment.place}`;
    this.before = output.texts[number];
    /** @type {Stopwatch | null} */
    this.watch = null;
    this.opened = "";
    this.pressed = 0;
    const { target } = view.task.languages;
    this.field = /** @type {HTMLTextAreaElement} */ (h("textarea", {
      class: "edited", lang: target, dir: directionOf(target), "aria-label": t("translation-of", { number: number + 1 }), spellcheck: "true",
      oninput: (/** @type {InputEvent} */ event) => this.onInput(event), onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event),
      oncopy: () => this.count("copy"), oncut: () => this.count("cut"), onpaste: () => this.count("paste"),
    }));
    this.summary = h("p", { class: "summary" });
    this.diff = h("div", { class: "diff", lang: target, dir: directionOf(target) });
    this.skipped = h("p", { class: "skipped" });
    this.done = button(h("span", {}, t("done-next"), key("Ctrl+↵")), () => this.confirm(), { class: "primary" });
    this.comment = new CommentField((comment) => view.work.set(this.key, { comment }, { undo: false }));
    this.asked = h("div", { class: "asked" }, this.field, this.diff, this.summary, this.comment.root,
      h("div", { class: "tools" },
        this.before !== null && button(h("span", {}, t("leave-as-is"), key("Ctrl+.")), () => this.leave()),
        this.comment.opener, button(t("skip"), () => this.skip()), this.done));
    this.root = h("section", { class: "row edit", "aria-label": t("sentence", { number: number + 1 }) },
      h("div", { class: "number" }, String(number + 1)),
      sourceText(view.task, this.segment),
      h("div", { class: "cell" },
        this.before !== null && h("div", { class: "was" }, h("span", { class: "scale-name" }, t("was")), outputText(view.task, this.before)),
        this.asked, this.skipped));
    this.root.dataset.row = String(number);
    this.root.addEventListener("focusin", () => view.enter(this));
    this.field.value = this.state.edited;
  }

  get state() {
    return this.view.work.get(this.key);
  }

  /** Start work on this segment. */
  open() {
    this.watch = new Stopwatch();
    this.opened = new Date().toISOString();
    this.pressed = 0;
    this.root.classList.add("current");
  }

  /** Stop work on this segment for now. */
  leaveOff() {
    if (!this.watch) return;
    const session = this.session();
    this.watch = null;
    this.root.classList.remove("current");
    this.view.work.set(this.key, { sessions: [...this.state.sessions, session] }, { undo: false });
  }

  session() {
    return { opened: this.opened, closed: new Date().toISOString(), .../** @type {Stopwatch} */ (this.watch).read() };
  }

  /** @param {InputEvent} event */
  onInput(event) {
    if (event.inputType === "historyUndo" || event.inputType === "historyRedo") this.count("undo");
    this.view.work.set(this.key, { edited: this.field.value, confirmed: false }, { undo: false });
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && !this.state.confirmed) {
      event.preventDefault();
      event.stopPropagation();
      this.confirm();
    } else if ((event.ctrlKey || event.metaKey) && event.key === "." && this.before !== null) {
      event.preventDefault();
      this.leave();
    } else {
      const kind = keyClass(event);
      if (kind) this.count(kind);
    }
  }

  /** @param {string} kind */
  count(kind) {
    const { keys, pauses } = this.state;
    const now = Date.now();
    const gap = this.pressed ? now - this.pressed : 0;
    this.pressed = now;
    const longer = { ...pauses };
    for (const least of PAUSES) {
      if (gap < least || gap > IDLE) continue;
      longer[`n_${least}`] = (longer[`n_${least}`] || 0) + 1;
      longer[`ms_${least}`] = (longer[`ms_${least}`] || 0) + gap;
    }
    this.view.work.set(this.key, { keys: { ...keys, [kind]: (keys[kind] || 0) + 1 }, pauses: longer }, { undo: false });
  }

  /** Restore the original text in a way that the field can undo. */
  leave() {
    if (this.field.value !== this.before) {
      this.field.focus();
      this.field.select();
      document.execCommand("insertText", false, this.before);
    }
    this.confirm();
  }

  confirm() {
    if (!this.field.value.trim()) {
      this.field.focus();
      this.view.say(t("empty-text"));
      return;
    }
    this.view.work.set(this.key, { confirmed: true, skipped: "" }, { undo: false });
    this.leaveOff();
    this.view.next(this);
  }

  async skip() {
    const reason = await skipDialog();
    if (!reason) return;
    this.view.work.set(this.key, { skipped: reason, confirmed: false }, { undo: false });
    this.leaveOff();
  }

  refresh() {
    const { edited, confirmed, skipped, comment } = this.state;
    this.comment.update(comment);
    if (document.activeElement !== this.field && this.field.value !== edited) this.field.value = edited;
    this.root.classList.toggle("confirmed", confirmed);
    this.done.setAttribute("aria-pressed", String(confirmed));
    fill(this.done, h("span", {}, confirmed ? `✓ ${t("done")}` : t("done-next"), !confirmed && key("Ctrl+↵")));
    this.asked.hidden = Boolean(skipped);
    fill(this.skipped, skipped && `${t("skipped")}: ${named("reason", skipped)} `,
      skipped && button(t("skip-undo"), () => this.view.work.set(this.key, { skipped: "" }, { undo: false })));
    this.drawDiff(edited);
    this.drawSummary(edited);
  }

  /** @param {string} edited */
  drawDiff(edited) {
    this.runs = this.before === null || this.before === edited ? [] : changes(this.before, edited, this.view.task.languages.target);
    this.diff.hidden = this.runs.length === 0;
    const tags = { same: "span", out: "del", in: "ins" };
    fill(this.diff, this.runs.map(([kind, text]) => h(tags[/** @type {"same"} */ (kind)], {}, text)));
  }

  /** @param {string} edited */
  drawSummary(edited) {
    const { active, idle } = this.time();
    const changed = this.before === edited || this.before === null ? 0 : changedWords(this.runs || [], this.view.task.languages.target);
    fill(this.summary, this.before !== null && `${t("words-changed", { n: changed })} · `, t("active", { time: minutes(active) }),
      idle >= 1000 && ` ${t("idle", { time: minutes(idle) })}`);
  }

  /** The total of all sessions, including the open one. */
  time() {
    const sessions = this.watch ? [...this.state.sessions, this.watch.read()] : this.state.sessions;
    const total = (/** @type {string} */ name) => sessions.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one[name], 0);
    return { active: total("active_ms"), idle: total("idle_ms") };
  }
}

/** A screen of texts to edit. */
export class PostEditView {
  /** @param {import("./main.js").Screen} screen */
  constructor({ task, codes, work, say }) {
    this.task = task;
    this.work = work;
    this.say = say;
    const outputs = task.outputs.filter((/** @type {any} */ one) => codes.includes(one.code));
    /** @type {EditRow[]} */
    this.rows = [];
    const all = task.segments.flatMap((/** @type {any} */ segment, /** @type {number} */ number) => {
      if (!segment.rate) return [context(task, segment, outputs, number)];
      const rows = outputs.map((/** @type {any} */ output) => new EditRow(this, output, number));
      this.rows.push(...rows);
      return rows.map((/** @type {EditRow} */ row) => row.root);
    });
    this.root = h("div", { class: "editing" }, h("div", { class: "rows n1" }, all));
    /** @type {EditRow | null} */
    this.at = null;
    this.watching = new AbortController();
    const { signal } = this.watching;
    for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) {
      document.addEventListener(name, () => this.at?.watch?.settle(), { signal, passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => this.at?.watch?.leave(document.hidden), { signal });
    this.ticking = setInterval(() => this.at?.watch && this.at.drawSummary(this.at.state.edited), 1000);
  }

  /** @param {any} task @param {string} key */
  static fresh(task, key) {
    const [code, place] = splitKey(key);
    const number = task.segments.findIndex((/** @type {any} */ segment) => segment.place === place);
    const output = task.outputs.find((/** @type {any} */ one) => one.code === code);
    return { edited: output?.texts[number] ?? "", keys: {}, pauses: {}, sessions: [], confirmed: false, skipped: "", comment: "" };
  }

  /** @param {any} task @param {any[]} answers */
  static restore(task, answers) {
    return Object.fromEntries(answers.map((answer) => [`${answer.code}:${answer.place}`, {
      ...PostEditView.fresh(task, `${answer.code}:${answer.place}`), edited: answer.edited ?? "", keys: answer.keys || {}, pauses: answer.pauses || {},
      sessions: answer.sessions || [], confirmed: !answer.skipped, skipped: answer.skipped || "", comment: answer.comment || "",
    }]));
  }

  /** @param {EditRow} row */
  enter(row) {
    if (this.at === row && row.watch) return;
    this.at?.leaveOff();
    this.at = row;
    row.open();
  }

  /** Go to the next unfinished segment. @param {EditRow} row */
  next(row) {
    const from = this.rows.indexOf(row);
    const order = [...this.rows.slice(from + 1), ...this.rows.slice(0, from)];
    const open = order.find((one) => !one.state.confirmed && !one.state.skipped);
    if (open) {
      open.field.focus();
      open.root.scrollIntoView({ block: "nearest" });
    } else {
      document.querySelector("#send")?.focus();
    }
  }

  /** @param {string | null} key */
  refresh(key) {
    for (const row of this.rows) if (key === null || row.key === key) row.refresh();
  }

  start() {
    this.refresh(null);
    (this.rows.find((row) => !row.state.confirmed && !row.state.skipped) || this.rows[0])?.field.focus({ preventScroll: true });
  }

  missing() {
    return this.rows.filter((row) => !row.state.confirmed && !row.state.skipped).map((row) => ({
      text: `${t("lacks-done")} ${t("in-sentence", { number: row.number + 1 })}`, go: () => row.field.focus(),
    }));
  }

  answers() {
    this.at?.leaveOff();
    return this.rows.map((row) => {
      const { edited, keys, pauses, sessions, skipped, comment } = row.state;
      const said = comment.trim() ? { comment: comment.trim() } : {};
      const what = { code: row.output.code, place: row.segment.place, ...said };
      return skipped ? { ...what, skipped } : { ...what, edited, keys, pauses, sessions };
    });
  }

  close() {
    this.watching.abort();
    clearInterval(this.ticking);
  }
}

/** `1:05` for 65,000 ms. @param {number} ms */
function minutes(ms) {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60).toLocaleString(spoken())}:${String(seconds % 60).padStart(2, "0")}`;
}
