// Dialogs: guide, reasons, problems, the rater's answers, menu.

import { call } from "./api.js";
import { button, fill, h, key } from "./dom.js";
import { LANGUAGES, named, region, spoken, t } from "./i18n.js";
import { markdown } from "./markdown.js";

const READ = "assay:read";

/**
 * Open a dialog, which is removed from the page when it closes.
 * @param {string} title
 * @param {(import("./dom.js").Child | import("./dom.js").Child[])[]} content
 */
export function open(title, ...content) {
  const heading = h("h2", { id: "dialog-title", tabindex: "-1" }, title);
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { "aria-labelledby": "dialog-title" },
    h("header", {}, heading, button("×", () => dialog.close(), { class: "quiet", "aria-label": t("close") })),
    h("div", { class: "inside" }, ...content)));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  heading.toggleAttribute("autofocus", !dialog.querySelector("[autofocus]"));
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Ask for a reason; null if none was chosen.
 * @param {string} title @param {string[]} reasons @param {string} act @param {boolean} [more]  whether to offer a text field
 * @param {string} [help]  what follows from it
 * @returns {Promise<string | null>}
 */
function reasonDialog(title, reasons, act, more = true, help = "") {
  return new Promise((resolve) => {
    const own = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 2, "aria-label": t("say-more"), placeholder: t("say-more"), maxlength: 1500 }));
    const done = /** @type {HTMLButtonElement} */ (button(act, () => {
      const chosen = /** @type {HTMLInputElement[]} */ (inputs).find((input) => input.checked)?.value;
      const words = own.value.trim();
      answer = chosen && words ? `${chosen}: ${words}` : chosen || null;
      dialog.close();
    }, { class: "primary", disabled: true }));
    const inputs = reasons.map((reason) => h("input", { type: "radio", name: "reason", value: reason, onchange: () => { done.disabled = false; } }));
    /** @type {string | null} */
    let answer = null;
    const dialog = open(title, help && h("p", {}, help),
      h("fieldset", { class: "reasons" }, h("legend", {}, t("reason")), inputs.map((input, number) => h("label", {}, input, " ", named("reason", reasons[number])))),
      more && own,
      h("p", { class: "acts" }, button(t("cancel"), () => dialog.close()), done));
    dialog.addEventListener("close", () => resolve(answer));
  });
}

export const skipDialog = () => reasonDialog(t("skip-title"), ["cannot judge", "broken text", "offensive", "other"], t("skip"));

export const declineDialog = () => reasonDialog(t("decline-title"),
  ["language", "offensive", "broken", "conflict", "other"], t("decline"), false, t("decline-help"));

/** Report a problem to the organisers. @param {string} lease @param {(text: string) => void} say */
export function problemDialog(lease, say) {
  const text = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 4, "aria-label": t("problem-what"), placeholder: t("problem-what"), maxlength: 5000 }));
  const failure = h("p", { role: "status" });
  const dialog = open(t("problem"), h("p", {}, t("problem-help")), text, failure,
    h("p", { class: "acts" }, button(t("cancel"), () => dialog.close()), button(t("problem-send"), async () => {
      if (!text.value.trim()) {
        text.focus();
        return;
      }
      try {
        await call("POST", `/api/leases/${lease}/problem`, { text: text.value.trim() });
        dialog.close();
        say(t("problem-sent"));
      } catch {
        fill(failure, t("not-sent"));
      }
    }, { class: "primary" })));
}

/** Hide the page during a break. */
export function pauseDialog() {
  const dialog = open(t("paused"), h("p", {}, t("paused-help")), h("p", { class: "acts" }, button(t("go-on"), () => dialog.close(), { class: "primary", autofocus: true })));
  dialog.classList.add("paused");
  return dialog;
}

/** Whether this browser has not shown these instructions yet. @param {string | null | undefined} words */
export function unread(words) {
  if (!words || localStorage.getItem(READ) === words) return false;
  localStorage.setItem(READ, words);
  return true;
}

/** The instruction for a kind of task. @param {any} task */
export const how = (task) => t(`how-${task.protocol}${task.options.editing === "light" ? "-light" : ""}`);

/** The campaign's instructions, how this kind of task works, and all keys. @param {any} task @param {boolean} [first]  before the first task */
export function guide(task, first = false) {
  const keys = keysOf(task);
  const dialog = open(t("guide"),
    task.instructions && h("div", { class: "instructions" }, markdown(task.instructions)),
    h("p", {}, how(task)),
    ...meanings(task),
    h("h3", {}, t("keys")),
    h("dl", { class: "keys" }, keys.flatMap(([names, text]) => [h("dt", {}, names.map((name) => key(name))), h("dd", {}, text)])),
    first && h("p", { class: "acts" }, button(t("begin"), () => dialog.close(), { class: "primary" })));
  return dialog;
}

const ESA_POINTS = /** @type {[number, string][]} */ ([
  [0, "No meaning preserved"], [33, "Some meaning preserved"],
  [66, "Most meaning preserved and few grammar mistakes"], [100, "Perfect meaning and grammar"],
]);

/** What severities and points of the score mean, and how to mark by pointer. @param {any} task */
function meanings(task) {
  if (!task.severities?.length) return [];
  const [scale] = task.scales;
  const points = task.protocol === "esa" && scale?.low === 0 && scale.high === 100 && scale.anchors.length <= 2 ? ESA_POINTS : [];
  const severities = task.severities.map((/** @type {any} */ one) => [named("severity", one.name), named("means", one.name)]);
  const told = severities.filter((/** @type {[string, string]} */ [, text], /** @type {number} */ number) => text !== task.severities[number].name);
  return [
    h("p", {}, t("guide-pointer")),
    h("dl", { class: "keys" }, told.concat(points.map(([point, text]) => [String(point), named("anchor", text)]))
      .flatMap((/** @type {[string, string]} */ [name, text]) => [h("dt", {}, name), h("dd", {}, text)])),
  ];
}

/** @param {any} task @returns {[string[], string][]} */
function keysOf(task) {
  /** @type {[string[], string][]} */
  const send = [[["Ctrl+Enter"], t("key-send")], [["?"], t("key-guide")]];
  const undo = /** @type {[string[], string]} */ ([["Ctrl+Z", "Ctrl+Y"], t("key-undo")]);
  if (task.protocol === "pairwise") return [[["←", "→"], t("key-better")], [["="], t("same")], [["1", "2", "3"], t("how-much")], undo, ...send];
  if (task.protocol === "ranking") return [[["1", "2", "…"], t("key-rank")], [["Tab"], t("key-next")], undo, ...send];
  if (task.protocol === "post-edit") return [[["Ctrl+Enter"], t("done-next")], [["Ctrl+."], t("leave-as-is")]];
  const score = /** @type {[string[], string][]} */ (task.scales.length ? [[["0", "…", "9"], t("key-score")]] : []);
  const marks = /** @type {[string[], string][]} */ (task.severities.length ? [
    [["←", "→", "↑", "↓"], t("key-words")], [["Shift+→"], t("key-stretch")],
    ...task.severities.map((/** @type {any} */ one) => [[one.key], named("severity", one.name)]),
    [["M"], t("missing-after")], [["Shift+M"], t("missing-before")], [["0"], t("no-errors")], [["Del"], t("remove-mark")],
    ...(task.categories.length ? [[["Enter"], t("choose-category")]] : []), [["W"], t("key-characters")],
  ] : []);
  return [...marks, [["Tab"], t("key-next")], ...score, undo, ...send];
}

/** Show the solution of a tutorial example. @param {any} solution @param {any[]} answers @returns {Promise<void>} */
export function lessonDialog({ low, high, explanation }, answers) {
  const scores = answers.flatMap((answer) => Object.values(answer.scores || {}));
  return new Promise((resolve) => {
    const dialog = open(t("kind-tutorial"),
      scores.length > 0 && h("p", {}, t("lesson-yours", { score: scores.join(", ") })),
      h("p", {}, t("lesson-good", { low, high })),
      explanation && h("p", { dir: "auto" }, explanation),
      h("p", { class: "acts" }, button(t("go-on"), () => dialog.close(), { class: "primary", autofocus: true })));
    dialog.addEventListener("close", () => resolve());
  });
}

/** The rater's own answers. @param {(lease: string) => void} correct */
export async function mineDialog(correct) {
  const list = h("ul", { class: "mine" }, h("li", {}, t("loading")));
  const dialog = open(t("mine"), list);
  try {
    const tasks = await call("GET", "/api/mine");
    fill(list, tasks.length ? tasks.map((/** @type {any} */ task) => h("li", {},
      h("span", {}, task.number ? t("task-number", { number: task.number }) : t("task-current"), " ", h("small", {}, moment(task.sent))),
      button(t("correct"), () => {
        dialog.close();
        correct(task.lease);
      }))) : h("li", {}, t("mine-none")));
  } catch {
    fill(list, h("li", {}, t("offline")));
  }
}

/** @param {string} time */
function moment(time) {
  return time ? new Date(time).toLocaleString(region(), { dateStyle: "medium", timeStyle: "short" }) : "";
}

/** The menu. @param {{name: string, act: () => void}[]} entries @param {(tag: string) => void} language */
export function menu(entries, language) {
  const select = /** @type {HTMLSelectElement} */ (h("select", { id: "language", onchange: () => {
    dialog.close();
    language(select.value);
  } }, Object.entries(LANGUAGES).map(([tag, name]) => h("option", { value: tag, lang: tag, selected: tag === spoken() }, name))));
  const dialog = open(t("menu"),
    h("ul", { class: "entries" }, entries.map(({ name, act }) => h("li", {}, button(name, () => {
      dialog.close();
      act();
    })))),
    h("p", { class: "language" }, h("label", { for: "language" }, t("language")), select));
}
