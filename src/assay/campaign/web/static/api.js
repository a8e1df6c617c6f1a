// Requests, and answers that are kept in this browser until the server has them.

import { randomKey } from "./dom.js";

/** @typedef {{lease: string, screen: number, body: Record<string, any>}} Parcel */

/** The base of a rater's requests, which differs for a preview. */
export const BASE = location.pathname.endsWith("/preview/rate") ? location.pathname.slice(0, -"/rate".length) : "";
const OUTBOX = "assay:outbox:";
const ASIDE = "assay:aside:";
const WAITS = [1, 2, 4, 8, 15, 30];

/** A refusal by the server. */
export class Refused extends Error {
  /** @param {number} status @param {any} data */
  constructor(status, data) {
    super(data?.error || `HTTP ${status}`);
    this.status = status;
    /** @type {{path: string, message: string}[]} */
    this.errors = data?.errors || [];
    /** @type {string | undefined} where to send the rater instead */
    this.address = data?.address;
  }
}

/** Whether a retry may succeed: no connection, too many requests, or a full disk. @param {unknown} error */
export const isPassing = (error) => !(error instanceof Refused) || error.status === 429 || error.status >= 500;

/**
 * Send a request and return its data; throws `Refused`, or a TypeError without a connection.
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @param {boolean} [keepalive]  whether it goes out even as the page closes
 */
export async function call(method, path, body, keepalive = false) {
  /** @type {RequestInit} */
  const options = { method, headers: { Accept: "application/json" }, cache: "no-store", keepalive };
  if (method !== "GET") {
    options.headers = { ...options.headers, "Content-Type": "application/json", "X-Assay": "1" };
    options.body = JSON.stringify(body ?? {});
  }
  const reply = await fetch(BASE + path, options);
  const text = await reply.text();
  let data = null;
  try {
    data = text ? JSON.parse(text) : null;
  } catch {
    if (reply.ok) throw new TypeError("the reply is not from Assay");
  }
  if (!reply.ok) throw new Refused(reply.status, data);
  return data;
}

/** Whether it belongs to another link, which may be opened again later. @param {unknown} error */
const isForeign = (error) => error instanceof Refused && [401, 403, 404].includes(error.status);

/** Sends every answer exactly once, however often the connection breaks. */
export class Outbox {
  /** @param {() => void} changed @param {(parcel: Parcel, error: Refused) => void} refused */
  constructor(changed, refused) {
    this.changed = changed;
    this.refused = refused;
    this.tries = 0;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** @type {Promise<void> | null} */
    this.running = null;
    window.addEventListener("online", () => this.flush());
    for (const [name] of kept(ASIDE)) rename(name, name.replace(ASIDE, OUTBOX)); // they may belong to this link
  }

  /** The waiting answers, oldest first. */
  waiting() {
    return kept(OUTBOX);
  }

  /**
   * Send a screen; without a connection it is kept and sent later.
   * @param {Parcel} parcel
   * @returns {Promise<Record<string, any> | null>} the reply, or null while it waits
   */
  async send(parcel) {
    parcel.body.key ||= randomKey();
    const name = `${OUTBOX}${String(Date.now()).padStart(15, "0")}:${parcel.body.key}`;
    let kept = true;
    try {
      localStorage.setItem(name, JSON.stringify(parcel));
    } catch {
      kept = false; // the storage is full, but it can still be sent now
    }
    try {
      const reply = await deliver(parcel);
      localStorage.removeItem(name);
      return reply;
    } catch (error) {
      if (!kept || !isPassing(error)) {
        localStorage.removeItem(name);
        throw error;
      }
      this.later();
      return null;
    } finally {
      this.changed();
    }
  }

  /** Send all waiting answers. */
  flush() {
    this.running ||= this.drain().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  async drain() {
    for (const [name, parcel] of this.waiting()) {
      try {
        await deliver(parcel);
        this.tries = 0;
      } catch (error) {
        if (isPassing(error)) {
          this.later();
          return;
        }
        if (isForeign(error)) rename(name, name.replace(OUTBOX, ASIDE));
        else this.refused(parcel, /** @type {Refused} */ (error));
      }
      localStorage.removeItem(name);
      this.changed();
    }
  }

  later() {
    clearTimeout(this.timer);
    const wait = WAITS[Math.min(this.tries, WAITS.length - 1)];
    this.tries += 1;
    this.timer = setTimeout(() => this.flush(), wait * 1000 * (0.8 + 0.4 * Math.random()));
  }
}

/** The stored parcels whose names have this prefix, oldest first. @param {string} prefix @returns {[string, Parcel][]} */
function kept(prefix) {
  const names = Object.keys(localStorage).filter((name) => name.startsWith(prefix)).sort();
  return names.map((name) => [name, JSON.parse(localStorage.getItem(name) || "{}")]);
}

/** @param {string} name @param {string} other */
function rename(name, other) {
  const parcel = localStorage.getItem(name) || "{}";
  localStorage.removeItem(name);
  localStorage.setItem(other, parcel);
}

/** @param {Parcel} parcel */
function deliver(parcel) {
  return call("POST", `/api/leases/${parcel.lease}/screens/${parcel.screen}/answers`, parcel.body);
}
