// The rater's page: fetches a task, shows it, sends the answers, fetches the next.

import { Outbox, Refused, call, isPassing } from "./api.js";
import { PairwiseView, RankingView } from "./compare.js";
import { declineDialog, guide, how, lessonDialog, menu, mineDialog, pauseDialog, problemDialog, unread } from "./dialogs.js";
import { button, fill, h, isTyping, key } from "./dom.js";
import { finishing } from "./finish.js";
import { FormView } from "./form.js";
import { choose, named, preferred, speak, t } from "./i18n.js";
import { look } from "./messages.js";
import { PostEditView } from "./postedit.js";
import { RatingView } from "./rating.js";
import { Work } from "./work.js";

/** @typedef {{task: any, codes: string[], work: Work, say: (text: string, quietly?: boolean) => void}} Screen */

const VIEWS = { pairwise: PairwiseView, ranking: RankingView, "post-edit": PostEditView };
const BEAT = 60_000;
const ASK_AGAIN = 10_000;
const LONG = 50; // minutes of work before a break is suggested
const BREAK = 5; // minutes of inactivity that count as a break

class Page {
  constructor() {
    this.main = h("main", { id: "main" });
    this.progress = h("p", { class: "progress" });
    this.name = h("p", { class: "campaign" });
    this.status = h("p", { class: "say", role: "status" });
    this.gaps = h("div", { class: "gaps" });
    this.net = h("p", { class: "net", role: "alert" });
    this.sendButton = button("", () => this.send(), { class: "primary", id: "send" });
    this.undoing = h("div", { class: "undoing", hidden: true });
    this.head = h("header", { class: "top" });
    this.foot = h("footer", { class: "bottom", hidden: true }, h("div", { class: "telling" }, this.gaps, this.status, this.net), this.undoing, this.sendButton);
    document.body.replaceChildren(this.head, this.main, this.foot);
    this.outbox = new Outbox(() => this.showNet(), (parcel, error) => this.lost(parcel, error));
    /** @type {any} */
    this.task = null;
    /** @type {any} */
    this.view = null;
    /** @type {Work | null} */
    this.work = null;
    this.screen = 0;
    this.correcting = false;
    this.sending = false;
    this.warned = false;
    this.acted = false;
    this.worked = 0;
    this.rested = 0;
    /** @type {number | undefined} */
    this.again = undefined;
    document.addEventListener("keydown", (event) => this.onKey(event));
    window.addEventListener("offline", () => this.showNet());
    window.addEventListener("online", () => this.showNet());
    for (const name of ["keydown", "pointerdown", "input"]) document.addEventListener(name, () => { this.acted = true; }, { capture: true, passive: true });
    setInterval(() => this.beat(), BEAT);
  }

  /** Write the header and buttons in the current language. */
  dress() {
    document.title = "Assay";
    fill(this.head,
      h("a", { class: "skip", href: "#main" }, t("to-work")),
      h("p", { class: "brand", translate: "no" }, "Assay"), this.name, this.progress,
      h("nav", { "aria-label": t("menu") },
        button(h("span", {}, t("guide"), key("?")), () => guide(this.task), { class: "working" }),
        button(t("pause"), () => this.pause(), { class: "working" }),
        button(t("menu"), () => this.openMenu())));
    fill(this.undoing,
      button("↶", () => this.undo(false), { "aria-label": t("undo"), title: t("undo") }),
      button("↷", () => this.undo(true), { "aria-label": t("redo"), title: t("redo") }));
    fill(this.sendButton, h("span", {}, t("send"), key("Ctrl+↵")));
  }

  /** @param {string} text @param {boolean} [quietly]  only if nothing else is shown */
  say(text, quietly = false) {
    if (quietly && this.status.textContent) return;
    fill(this.status, text);
  }

  /** Say why nothing was sent; gone with the next change. @param {string} text */
  warn(text) {
    this.say(text);
    this.warned = true;
  }

  /** Send all waiting answers, then show the next task. */
  async load() {
    clearTimeout(this.again);
    try {
      await this.outbox.flush();
      if (this.outbox.waiting().length) throw new TypeError("answers wait"); // the server would show the same again
      const reply = await call("POST", "/api/next", {});
      this.correcting = false;
      if (reply.state === "task") this.showTask(reply, firstOpen(reply));
      else await this.rest(reply);
    } catch (error) {
      this.failed(error);
    }
    this.showNet();
  }

  /** @param {unknown} error */
  failed(error) {
    if (error instanceof Refused && !isPassing(error)) {
      const { status, message, address } = error;
      if (status === 401) this.message(t("unknown-link"), t("unknown-link-help"));
      else if (status === 403) this.message(t("wrong-link"), t("wrong-link-help"));
      else this.message(t("state-stopped"), named("said", message), finishing({ address }));
      return;
    }
    if (!this.work || this.work.closed) this.message(t("offline"), t("offline-help"));
    this.again = setTimeout(() => this.load(), 5000);
  }

  /** Say that there is nothing to do, for now or for good. @param {any} reply */
  async rest(reply) {
    this.showProgress(reply);
    const content = [];
    if (reply.state === "done") {
      try {
        content.push(finishing(await call("GET", "/finish")));
      } catch {
        // the message alone is enough
      }
    } else {
      this.again = setTimeout(() => this.load(), ASK_AGAIN);
    }
    this.message(t(`state-${reply.state}`), named("said", reply.message), ...content);
  }

  /** @param {string} title @param {string} [text] @param {...(Node | null)} more */
  message(title, text, ...more) {
    this.leave();
    this.foot.hidden = true;
    this.head.classList.add("resting");
    fill(this.main, h("div", { class: "message" }, h("h1", {}, title), text && h("p", { dir: "auto" }, text), more));
    this.turn();
  }

  /** Count what was shown, so that tests can wait for the next page. */
  turn() {
    this.main.dataset.turn = String(Number(this.main.dataset.turn || 0) + 1);
  }

  /** @param {any} reply */
  showProgress(reply) {
    fill(this.name, reply.campaign || "");
    const { done, minutes } = reply.progress || {};
    fill(this.progress, done === undefined ? "" : `${t("tasks-done", { n: done })} · ${t("minutes", { n: minutes })}`);
  }

  /** @param {any} task @param {number} screen */
  showTask(task, screen) {
    this.leave();
    this.task = task;
    this.screen = screen;
    this.showProgress(task);
    const codes = task.screens[screen];
    const View = task.questions ? FormView : VIEWS[/** @type {"pairwise"} */ (task.protocol)] || RatingView;
    const fresh = (/** @type {string} */ name) => View.fresh(task, name);
    const answers = task.answers?.[screen]; // given before, to be corrected
    const draft = task.drafts?.[screen] || (answers && { at: 0, cells: View.restore(task, answers, codes) });
    const work = new Work(task.lease, screen, draft, fresh);
    this.work = work;
    const say = (/** @type {string} */ text, quietly = false) => this.say(text, quietly);
    this.view = new View({ task, codes, work, say });
    work.addEventListener("change", (event) => {
      this.view?.refresh(/** @type {CustomEvent} */ (event).detail);
      this.showGaps();
    });
    work.addEventListener("elsewhere", () => this.load());
    fill(this.status);
    fill(this.main, this.banner(task), this.lead(task), this.view.root);
    this.turn();
    this.view.start();
    this.foot.hidden = false;
    const typing = task.protocol === "post-edit" || Boolean(task.questions); // fields undo on their own
    this.undoing.hidden = typing;
    this.head.classList.toggle("typing", typing);
    this.head.classList.remove("resting");
    this.showGaps();
    this.reveal();
    if (!task.questions && unread(task.instructions)) this.offTheClock(guide(task, true));
  }

  /** Scroll to the question, past any context above it. */
  reveal() {
    window.scrollTo(0, 0);
    requestAnimationFrame(() => {
      for (const wanted of [".ask", ".current"]) this.main.querySelector(wanted)?.scrollIntoView({ block: "nearest" });
    });
  }

  /** The instruction, shown until the first task is done. @param {any} task */
  lead(task) {
    return task.progress?.done || this.correcting || task.questions ? null : h("p", { class: "lead" }, how(task));
  }

  /** The kind and part of this task. @param {any} task */
  banner(task) {
    const parts = [];
    if (task.screens.length > 1) parts.push(t("screen-of", { number: this.screen + 1, all: task.screens.length }));
    if (["tutorial", "qualify", "form"].includes(task.kind)) parts.push(t(`kind-${task.kind}`));
    if (this.correcting) parts.push(t("correcting"));
    const back = this.correcting && button(t("back-to-work"), () => this.load());
    return h("h1", { class: parts.length ? "banner" : "hidden" }, parts.length ? parts.join(" · ") : t("task"), " ", back || null);
  }

  leave() {
    this.view?.close();
    this.work?.close(false);
    this.view = null;
    this.work = null;
    this.task = null;
  }

  /** Show what is still missing, with a button that leads there. */
  showGaps() {
    if (!this.view) return;
    if (this.warned) fill(this.status); // it may be about what is no longer missing
    this.warned = false;
    const gaps = this.view.missing();
    this.sendButton.classList.toggle("ready", gaps.length === 0);
    if (!gaps.length) {
      fill(this.gaps, h("span", { class: "all" }, `✓ ${t("complete")}`));
      return;
    }
    const more = gaps.length > 1 ? ` (${t("and-more", { n: gaps.length - 1 })})` : "";
    fill(this.gaps, `${t("missing-is", { what: gaps[0].text })}${more} `, button(t("go-there"), () => gaps[0].go(), { class: "go" }));
  }

  showNet() {
    const waiting = this.outbox.waiting().length;
    const offline = !navigator.onLine || waiting > 0;
    fill(this.net, offline ? (waiting ? t("waiting", { n: waiting }) : t("offline")) : "");
  }

  /** Send the screen if nothing is missing. */
  async send() {
    const { view, work, task } = this;
    if (!view || !work || this.sending) return;
    const [gap] = view.missing();
    if (gap) {
      gap.go();
      this.warn(t("missing-is", { what: gap.text }));
      return;
    }
    const doubts = view.doubts?.() || [];
    if (doubts.length) { // sending stops once for all of them
      for (const doubt of doubts) view.stopped.add(doubt.key);
      doubts[0].go();
      this.warn(doubts[0].text);
      return;
    }
    this.sending = true;
    this.sendButton.setAttribute("aria-busy", "true");
    const sent = new Date().toISOString();
    const answers = view.answers();
    const body = { timing: { ...work.clock.read(), sent }, answers };
    try {
      const reply = await this.outbox.send({ lease: task.lease, screen: this.screen, body });
      work.close(true);
      task.sent = [...(task.sent || []), this.screen];
      if (task.solution && !this.correcting) await lessonDialog(task.solution, answers);
      const next = firstOpen(task);
      if (this.correcting) await this.load();
      else if (next < task.screens.length) this.showTask(task, next);
      else await this.load();
      this.say(t(reply ? "sent" : "kept-here"));
      look();
    } catch (error) {
      const { errors = [], message = "" } = error instanceof Refused ? error : {};
      this.say(errors.length ? errors.map((one) => one.message).join("; ") : message || t("not-sent"));
    } finally {
      this.sending = false;
      this.sendButton.removeAttribute("aria-busy");
    }
  }

  /** Keep a waiting answer that the server refused. @param {import("./api.js").Parcel} parcel @param {Refused} error */
  lost(parcel, error) {
    localStorage.setItem(`assay:refused:${parcel.lease}:${parcel.screen}`, JSON.stringify({ parcel, why: error.message }));
    this.say(`${t("not-sent")} ${error.message}`);
  }

  async beat() {
    this.remind();
    if (!this.task || !this.acted || document.hidden) return;
    this.acted = false;
    try {
      await call("POST", `/api/leases/${this.task.lease}/beat`, {});
    } catch {
      // late answers are accepted too
    }
  }

  /** Called every minute: suggest a break after long uninterrupted work. */
  remind() {
    const working = this.task && this.acted && !document.hidden;
    this.rested = working ? 0 : this.rested + 1;
    if (this.rested >= BREAK) this.worked = 0;
    if (working) this.worked += 1;
    if (this.worked < LONG) return;
    const box = h("aside", { class: "organisers", role: "status" },
      h("p", { class: "words" }, t("break-time", { n: this.worked })),
      button(t("pause"), () => {
        box.remove();
        this.pause();
      }),
      button("×", () => box.remove(), { class: "quiet", "aria-label": t("close") }));
    this.main.before(box);
    this.worked = 0;
  }

  /** Hide the task and stop the clock. */
  pause() {
    this.offTheClock(pauseDialog());
  }

  /** Stop the clock while a dialog is open. @param {HTMLDialogElement} dialog */
  offTheClock(dialog) {
    const away = (/** @type {boolean} */ gone) => {
      this.work?.clock.watch.leave(gone);
      this.view?.at?.watch?.leave?.(gone);
    };
    away(true);
    dialog.addEventListener("close", () => away(false));
  }

  openMenu() {
    const { task } = this;
    const entries = [
      { name: t("mine"), act: () => mineDialog((lease) => this.correct(lease)) },
      ...(task ? [
        { name: t("problem"), act: () => problemDialog(task.lease, (text) => this.say(text)) },
        ...(task.questions ? [] : [{ name: t("decline-title"), act: () => this.decline() }]),
      ] : []),
    ];
    menu(entries, (tag) => this.language(tag));
  }

  /** @param {string} tag */
  async language(tag) {
    choose(tag);
    await speak(tag);
    this.dress();
    call("PUT", "/api/language", { language: tag }).catch(() => {});
    const { task, screen } = this;
    if (task && !this.correcting) this.showTask({ ...task, drafts: {} }, screen);
    else await this.load();
  }

  async decline() {
    const { task, work } = this;
    const reason = await declineDialog();
    if (!reason) return;
    try {
      await call("POST", `/api/leases/${task.lease}/decline`, { reason });
      work?.close(true);
      await this.load();
      this.say(t("returned"));
    } catch (error) {
      this.say(error instanceof Refused ? error.message : t("not-sent"));
    }
  }

  /** Reopen one of the rater's own tasks. @param {string} lease */
  async correct(lease) {
    try {
      const task = await call("GET", `/api/mine/${lease}`);
      this.correcting = true;
      this.showTask(task, 0);
      if (task.screens.length > 1) this.main.prepend(this.screenChoice(task));
    } catch (error) {
      this.failed(error);
    }
  }

  /** @param {any} task */
  screenChoice(task) {
    return h("nav", { class: "screens", "aria-label": t("mine") }, task.screens.map((/** @type {any} */ _, /** @type {number} */ number) =>
      button(String(number + 1), () => {
        this.showTask(task, number);
        this.main.prepend(this.screenChoice(task));
      }, { "aria-pressed": String(number === this.screen) })));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (document.querySelector("dialog[open]")) return;
    const command = event.ctrlKey || event.metaKey;
    const name = event.key.toLowerCase();
    if (command && event.key === "Enter") this.send();
    else if (command && !isTyping(event.target) && (name === "z" || name === "y")) this.undo(name === "y" || event.shiftKey);
    else if (event.key === "?" && !isTyping(event.target) && this.task) guide(this.task);
    else return;
    event.preventDefault();
  }

  /** @param {boolean} again */
  undo(again) {
    const done = again ? this.work?.redo() : this.work?.undo();
    this.say(t(done ? (again ? "redone" : "undone") : "nothing-to-undo"));
  }
}

/** The first screen not sent yet. @param {any} task */
function firstOpen(task) {
  const sent = new Set(task.sent || []);
  const found = task.screens.findIndex((/** @type {any} */ _, /** @type {number} */ number) => !sent.has(number));
  return found < 0 ? task.screens.length : found;
}

await speak(preferred());
const page = new Page();
page.dress();
await page.load();
