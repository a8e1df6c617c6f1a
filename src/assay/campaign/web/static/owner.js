// The owner's pages: panels that refresh themselves, dialogs that confirm each action.

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { listed, rows, taken } from "./links.js";

const AGAIN = 5_000;
const slug = document.body.dataset.slug || "";
const panels = document.body.dataset.panels || `/c/${encodeURIComponent(slug)}/panel/`;
const lost = /** @type {HTMLElement} */ (document.querySelector(".lost"));
/** @type {Map<string, string>} */
const tags = new Map();
let pressed = false;

/** Show times in the reader's time zone. @param {ParentNode} inside */
function localTimes(inside) {
  const today = new Date().toDateString();
  for (const time of inside.querySelectorAll("time")) {
    const at = new Date(time.dateTime);
    const clock = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
    const day = at.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
    if (time.className === "day") {
      const far = at.getTime() - Date.now() > 6 * 24 * 3_600_000;
      time.textContent = far ? day : at.toDateString() === today ? "today" : at.toLocaleDateString("en-GB", { weekday: "long" });
      continue;
    }
    time.textContent = at.toDateString() === today ? clock : `${day}, ${clock}`;
  }
}

/** @param {HTMLElement} panel */
async function renew(panel) {
  const name = panel.dataset.panel || "";
  const headers = { Accept: "text/html", "If-None-Match": tags.get(name) || "" };
  const reply = await fetch(panels + name, { headers, cache: "no-store" });
  if (reply.status === 304) return;
  if (!reply.ok) throw new TypeError(`HTTP ${reply.status}`);
  const text = await reply.text();
  if (pressed) return; // do not move a button while it is being pressed
  const known = tags.has(name);
  tags.set(name, reply.headers.get("ETag") || "");
  if (!known && panel.innerHTML.trim() === text.trim()) return;
  const focused = panel.contains(document.activeElement) ? document.activeElement?.id : "";
  const open = new Set(Array.from(panel.querySelectorAll("details[open]"), (part) => part.id));
  panel.innerHTML = text; // made and escaped by the server
  for (const part of panel.querySelectorAll("details")) part.open ||= open.has(part.id);
  localTimes(panel);
  if (focused) document.getElementById(focused)?.focus();
}

async function renewAll() {
  if (document.hidden) return;
  try {
    await Promise.all(Array.from(document.querySelectorAll("[data-panel]"), (panel) => renew(/** @type {HTMLElement} */ (panel))));
    lost.hidden = true;
  } catch {
    lost.hidden = false;
  }
}

/** @param {HTMLElement} opener */
function ask(opener) {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById(`dialog-${opener.dataset.dialog}`));
  const rater = opener.dataset.rater || "";
  dialog.querySelector("form")?.reset();
  const fault = /** @type {HTMLElement | null} */ (dialog.querySelector(".fault"));
  if (fault) fault.hidden = true;
  for (const place of dialog.querySelectorAll("[data-name]")) place.textContent = rater;
  for (const field of /** @type {NodeListOf<HTMLInputElement>} */ (dialog.querySelectorAll("[name=rater]"))) field.value = rater;
  dialog.showModal();
}

/** @param {HTMLFormElement} form */
async function send(form) {
  /** @type {Record<string, any>} */
  const body = {};
  for (const [name, value] of new FormData(form)) {
    const field = form.elements.namedItem(name);
    if (value !== "") body[name] = field instanceof HTMLInputElement && field.type === "number" ? Number(value) : value;
  }
  const fault = /** @type {HTMLElement} */ (form.querySelector(".fault"));
  const submit = /** @type {HTMLButtonElement} */ (form.querySelector("[type=submit]"));
  submit.disabled = true;
  try {
    const reply = await call("POST", form.dataset.post || "", body);
    form.closest("dialog")?.close();
    if (reply?.links) showLinks("New links", reply.links);
    await renewAll();
  } catch (error) {
    fault.textContent = error instanceof TypeError ? "The server is not responding. Try again." : error instanceof Error ? error.message : String(error);
    fault.hidden = false;
  } finally {
    submit.disabled = false;
  }
}

/** @param {string} title @param {any} links */
function showLinks(title, links) {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("dialog-links-shown"));
  const found = rows(Array.isArray(links) ? { raters: links } : links);
  /** @type {HTMLElement} */ (dialog.querySelector("h2")).textContent = title;
  fill(/** @type {HTMLElement} */ (dialog.querySelector(".list")), listed(found), h("div", { class: "steer" }, taken(found, `${slug}-links.csv`)));
  dialog.showModal();
}

/** Show the links that this server keeps. */
async function showKept() {
  try {
    showLinks("Links", await call("GET", `/c/${encodeURIComponent(slug)}/links`));
  } catch {
    lost.hidden = false;
  }
}

for (const [kind, down] of /** @type {[string, boolean][]} */ ([["pointerdown", true], ["pointerup", false], ["pointercancel", false]])) {
  document.addEventListener(kind, () => { pressed = down; }, { capture: true });
}
document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const opener = /** @type {HTMLElement | null} */ (target?.closest("[data-dialog]") ?? null);
  if (opener) ask(opener);
  if (target?.closest("#do-links")) showKept();
  if (target?.closest("[data-cancel]")) target.closest("dialog")?.close();
});
document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!form.dataset.post) return;
  event.preventDefault();
  send(form);
});
document.addEventListener("change", (event) => {
  const filters = event.target instanceof Element ? event.target.closest(".filters") : null;
  if (!filters) return;
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(/** @type {HTMLFormElement} */ (filters))) if (value) query.set(name, String(value));
  location.search = query.toString();
});
document.addEventListener("visibilitychange", renewAll);
localTimes(document);
document.documentElement.dataset.ready = "";
if (document.querySelector("[data-panel]")) setInterval(renewAll, AGAIN);
