// Time worked: every second until the page is left, long breaks apart.

const IDLE = 60_000;
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

  /** Count the time since the last sign of life. */
  settle() {
    const now = Date.now();
    const gap = Math.max(0, now - this.last);
    this.last = now;
    if (this.away) {
      this.hidden += gap;
    } else {
      this.active += Math.min(gap, IDLE);
      this.idle += Math.max(0, gap - IDLE);
    }
  }

  /** The page was left or came back. @param {boolean} away */
  leave(away) {
    this.settle();
    this.away = away;
  }

  read() {
    this.settle();
    return { active_ms: Math.round(this.active), idle_ms: Math.round(this.idle), hidden_ms: Math.round(this.hidden) };
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
