// The unfinished work on one screen: answers, undo, and a draft that survives reloads.

import { call, isPassing } from "./api.js";
import { Clock } from "./clock.js";

/** @typedef {{side: string, start: number, end: number, severity: string, category?: string | null, origin?: string | null, missing?: boolean}} Span */
/** @typedef {Record<string, any>} Cell */

const DRAFT = "assay:draft:";
const TOGETHER = 1000;
const SOON = 150;
const AT_REST = 1500;

/** The answers of a screen by cell; every change can be undone. */
export class Work extends EventTarget {
  /**
   * @param {string} lease
   * @param {number} screen
   * @param {Record<string, any> | null} draft  the draft on the server
   * @param {(key: string) => Cell} fresh  makes a new cell
   */
  constructor(lease, screen, draft, fresh) {
    super();
    this.lease = lease;
    this.screen = screen;
    this.fresh = fresh;
    this.name = `${DRAFT}${lease}:${screen}`;
    const kept = this.newest(draft);
    /** @type {Map<string, Cell>} the cells with answers */
    this.cells = new Map(Object.entries(kept?.cells || {}));
    /** @type {Map<string, Cell>} the cells without */
    this.untouched = new Map();
    this.at = kept?.at || 0;
    /** Whether the server lacks what this browser has. */
    this.ahead = Boolean(kept && kept.at > (draft?.at || 0));
    this.clock = new Clock(kept?.clock);
    /** @type {{key: string, before: Cell, after: Cell, tag: string, time: number}[]} */
    this.done = [];
    /** @type {{key: string, before: Cell, after: Cell, tag: string, time: number}[]} */
    this.undone = [];
    this.closed = false;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** @type {number | undefined} */
    this.soon = undefined;
    if (this.ahead) this.timer = setTimeout(() => this.upload(), AT_REST);
    this.onLeave = () => {
      this.store();
      if (this.ahead) this.upload(true);
    };
    window.addEventListener("pagehide", this.onLeave);
    document.addEventListener("visibilitychange", this.onLeave);
    this.onStorage = (/** @type {StorageEvent} */ event) => this.otherTab(event);
    window.addEventListener("storage", this.onStorage);
  }

  /** @param {Record<string, any> | null} draft */
  newest(draft) {
    let own = null;
    try {
      own = JSON.parse(localStorage.getItem(this.name) || "null");
    } catch {
      own = null;
    }
    return own && (!draft || own.at >= (draft.at || 0)) ? own : draft;
  }

  /** @param {string} key @returns {Cell} */
  get(key) {
    let cell = this.cells.get(key) || this.untouched.get(key);
    if (!cell) {
      cell = this.fresh(key);
      this.untouched.set(key, cell);
    }
    return cell;
  }

  /**
   * Change a cell; changes with the same tag in quick succession are undone together.
   * @param {string} key
   * @param {Cell} change
   * @param {{tag?: string, undo?: boolean}} [options]
   */
  set(key, change, { tag = "", undo = true } = {}) {
    const before = this.get(key);
    const after = { ...before, ...change };
    if (JSON.stringify(after) === JSON.stringify(before)) return; // nothing that could be undone
    this.cells.set(key, after);
    if (undo) {
      const last = this.done[this.done.length - 1];
      const now = Date.now();
      if (tag && last && last.key === key && last.tag === tag && now - last.time < TOGETHER) {
        last.after = after;
        last.time = now;
      } else {
        this.done.push({ key, before, after, tag, time: now });
      }
      this.undone = [];
    }
    this.changed(key);
  }

  /** Undo the last change and return the key of its cell. */
  undo() {
    const step = this.done.pop();
    if (!step) return null;
    this.undone.push(step);
    this.cells.set(step.key, step.before);
    this.changed(step.key);
    return step.key;
  }

  redo() {
    const step = this.undone.pop();
    if (!step) return null;
    this.done.push(step);
    this.cells.set(step.key, step.after);
    this.changed(step.key);
    return step.key;
  }

  /** @param {string} key */
  changed(key) {
    this.clock.act();
    this.keep();
    this.dispatchEvent(new CustomEvent("change", { detail: key }));
  }

  snapshot() {
    return { at: this.at, cells: Object.fromEntries(this.cells), clock: this.clock.read() };
  }

  /** Keep the draft: in the browser almost at once, on the server after a pause. */
  keep() {
    if (this.closed) return;
    this.at = Math.max(Date.now(), this.at + 1);
    this.ahead = true;
    this.soon ||= setTimeout(() => this.store(), SOON);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.upload(), AT_REST);
  }

  store() {
    clearTimeout(this.soon);
    this.soon = undefined;
    if (this.closed || !this.at) return;
    try {
      localStorage.setItem(this.name, JSON.stringify(this.snapshot()));
    } catch {
      // the storage is full: the server still has the draft
    }
  }

  /** @param {boolean} [leaving]  the request has to outlive the page */
  async upload(leaving = false) {
    if (this.closed) return;
    const { at } = this;
    try {
      await call("PUT", `/api/leases/${this.lease}/screens/${this.screen}/draft`, { body: this.snapshot() }, leaving);
      if (at === this.at) this.ahead = false;
    } catch (error) {
      if (isPassing(error)) this.timer = setTimeout(() => this.upload(), 10_000);
    }
  }

  /** Another tab changed the same screen: take over its work. @param {StorageEvent} event */
  otherTab(event) {
    if (event.key !== this.name || this.closed) return;
    if (event.newValue === null) {
      this.dispatchEvent(new Event("elsewhere"));
      return;
    }
    const other = JSON.parse(event.newValue);
    if (other.at <= this.at) return;
    this.at = other.at;
    this.cells = new Map(Object.entries(other.cells));
    this.done = [];
    this.undone = [];
    this.dispatchEvent(new CustomEvent("change", { detail: null }));
  }

  /** Stop keeping a draft; delete it if the answers were sent. @param {boolean} sent */
  close(sent) {
    if (!sent) this.store();
    this.closed = true;
    clearTimeout(this.timer);
    clearTimeout(this.soon);
    window.removeEventListener("pagehide", this.onLeave);
    document.removeEventListener("visibilitychange", this.onLeave);
    window.removeEventListener("storage", this.onStorage);
    this.clock.stop();
    if (sent) localStorage.removeItem(this.name);
  }
}
