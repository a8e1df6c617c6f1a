// The owner's page: how the campaign stands, and to open, pause or close it.

import { Refused, call } from "./api.js";
import { button, fill, h } from "./dom.js";
import { speak, t } from "./i18n.js";

const ACTS = { draft: ["open", "close"], open: ["pause", "close"], paused: ["resume", "close"], closed: [] };
const NAMES = { open: "Open", pause: "Pause", resume: "Go on", close: "Close" };
const AGAIN = 10_000;

await speak("en");
const main = h("main", { id: "main" });
document.body.replaceChildren(h("header", { class: "top" }, h("p", { class: "brand", translate: "no" }, "Assay")), main);

/** @param {string} name @param {string | number} value */
const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

/** @param {string} slug @param {string} act */
async function steer(slug, act) {
  if (act === "close" && !window.confirm("Close the campaign for good? No answers are taken afterwards.")) return;
  try {
    await call("POST", `/c/${encodeURIComponent(slug)}/${act}`, {});
  } catch (error) {
    window.alert(error instanceof Error ? error.message : String(error));
  }
  await show();
}

/** @param {any} status @param {boolean} owner */
function draw(status, owner) {
  const acts = owner ? ACTS[/** @type {"open"} */ (status.state)] : [];
  const raters = status.raters.map((/** @type {any} */ one) => h("tr", {}, h("td", {}, one.rater), h("td", {}, one.state), h("td", {}, one.done), h("td", {}, one.open),
    h("td", {}, `${Math.round(one.seconds / 60)} min`), h("td", {}, one.checks ? `${one.checks_passed} of ${one.checks}` : "–")));
  fill(main, h("h1", {}, status.name),
    h("dl", { class: "facts" }, fact("State", status.state), fact("Protocol", status.protocol), fact("Tasks done", `${status.done} of ${status.tasks}`),
      fact("Answers", status.answers), fact("Waiting behind a gap", status.waiting), status.spent !== null && fact("Spent", `${status.spent.toFixed(2)} ${status.currency || ""}`)),
    h("div", { class: "steer" }, acts.map((act) => button(NAMES[/** @type {"open"} */ (act)], () => steer(status.slug, act), { class: act === "close" ? "" : "primary" }))),
    status.told.length > 0 && h("ul", {}, status.told.map((/** @type {string} */ line) => h("li", {}, line))),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Raters" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Rater", "State", "Done", "Open", "Worked", "Checks passed"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, raters))));
}

async function show() {
  try {
    const [campaign] = await call("GET", "/api/campaigns");
    draw(await call("GET", `/api/campaigns/${encodeURIComponent(campaign.slug)}`), campaign.role === "owner");
  } catch (error) {
    const status = error instanceof Refused ? error.status : 0;
    const text = status === 401 ? t("unknown-link") : status === 403 ? t("wrong-link") : t("offline");
    fill(main, h("div", { class: "message" }, h("h1", {}, text)));
    return status !== 401 && status !== 403;
  }
  return true;
}

if (await show()) setInterval(show, AGAIN);
