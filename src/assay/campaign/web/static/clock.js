// Time worked: every second until the page is left, long breaks apart.

const IDLE = 60_000;
const MOST = 7 * 24 * 3600_000; // what the server takes: a page may be left open for longer
const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchmove"];

/** Counts active, idle and hidden milliseconds between signs of life. */
export class Stopwatch {
  /** @param {{active_ms?: number, idle_ms?: number, hidden_ms?: number}} [before] */
  constructor(before = {}) {
    this.active = before.active_ms || 0;
    this.idle = before.idle_ms || 0;
    this.hidden = before.hidden_ms || 0;
    this.last = Date.now();
    this.away = document.hidden;
  }

  /** A sign of life: count the time since the one before. */
  settle() {
    const { active, idle, hidden, now } = this.counted();
    Object.assign(this, { active, idle, hidden, last: now });
  }

  /** All times up to now. Looking at them is no sign of life. */
  counted() {
    const now = Date.now();
    const gap = Math.max(0, now - this.last);
    const here = this.away ? 0 : Math.min(gap, IDLE);
    const gone = this.away ? gap : 0;
    return { active: this.active + here, idle: this.idle + gap - here - gone, hidden: this.hidden + gone, now };
  }

  /** The page was left or came back. @param {boolean} away */
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

/** The clock of one screen, which goes on where a draft left off. */
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

  /** The first act on this screen. */
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
