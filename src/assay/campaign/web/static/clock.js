// Working time, without long breaks.

const IDLE = 60_000;
const MOST = 7 * 24 * 3600_000; // the server's limit; a page may stay open longer
const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchmove"];

/** Counts active, idle and hidden milliseconds. */
export class Stopwatch {
  /** @param {{active_ms?: number, idle_ms?: number, hidden_ms?: number}} [before] */
  constructor(before = {}) {
    this.active = before.active_ms || 0;
    this.idle = before.idle_ms || 0;
    this.hidden = before.hidden_ms || 0;
    this.last = Date.now();
    this.away = document.hidden;
  }

  /** Count the time since the last action. */
  settle() {
    const { active, idle, hidden, now } = this.counted();
    Object.assign(this, { active, idle, hidden, last: now });
  }

  /** The times up to now, without counting this as an action. */
  counted() {
    const now = Date.now();
    const gap = Math.max(0, now - this.last);
    const here = this.away ? 0 : Math.min(gap, IDLE);
    const gone = this.away ? gap : 0;
    return { active: this.active + here, idle: this.idle + gap - here - gone, hidden: this.hidden + gone, now };
  }

  /** Record that the page was hidden or shown. @param {boolean} away */
  leave(away) {
    this.settle();
    this.away = away;
  }

  read() {
    const { active, idle, hidden } = this.counted();
    const whole = (/** @type {number} */ ms) => Math.min(Math.round(ms), MOST);
    return { active_ms: whole(active), idle_ms: whole(idle), hidden_ms: whole(hidden) };
  }
}

/** The clock of one screen, continued from its draft. */
export class Clock {
  /** @param {Record<string, any>} [before] */
  constructor(before = {}) {
    this.watch = new Stopwatch(before);
    this.opened = before.opened || new Date().toISOString();
    /** @type {string | null} */
    this.first = before.first || null;
    this.awayTimes = before.away || 0;
    this.devices = new Set(before.device === "both" ? ["pointer", "keyboard"] : before.device ? [before.device] : []);
    this.active = new AbortController();
    const { signal } = this.active;
    for (const name of SIGNS) {
      document.addEventListener(name, () => this.watch.settle(), { signal, passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => {
      this.watch.leave(document.hidden);
      if (document.hidden) this.awayTimes += 1;
    }, { signal });
    document.addEventListener("keydown", (event) => {
      if (event.key.length === 1 || event.key === "Enter") this.devices.add("keyboard");
    }, { signal, capture: true });
    document.addEventListener("pointerdown", () => this.devices.add("pointer"), { signal, capture: true });
  }

  /** Record the first action on this screen. */
  act() {
    this.first ||= new Date().toISOString();
  }

  stop() {
    this.active.abort();
  }

  read() {
    const { active_ms, idle_ms } = this.watch.read();
    const device = this.devices.size === 2 ? "both" : [...this.devices][0];
    return { opened: this.opened, first: this.first, active_ms, idle_ms, away: this.awayTimes, device: device || null };
  }
}
