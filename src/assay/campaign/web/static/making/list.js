// All campaigns of the server: how far each is, what it has cost.

import { call } from "../api.js";
import { fill, h } from "../dom.js";
import { frame, plural, refuse } from "./frame.js";

const AGAIN = 15_000;
const PROTOCOLS = { esa: "ESA", da: "direct assessment", sqm: "SQM", xsts: "XSTS", mqm: "MQM", pairwise: "pairs" };
const STATES = { draft: "Draft", open: "Open", paused: "Paused", closed: "Closed" };

const main = await frame();
document.title = "Campaigns – Assay";

/** @param {any} one */
function card(one) {
  const share = one.tasks ? one.done / one.tasks : 0;
  const facts = [PROTOCOLS[/** @type {"esa"} */ (one.protocol)] || one.protocol, plural(one.raters, "rater"), plural(one.answers, "answer"), one.spent !== null && `${one.spent.toFixed(2)} ${one.currency || ""} spent`];
  return h("li", { class: "card" },
    h("h2", {}, h("a", { href: `/c/${encodeURIComponent(one.slug)}` }, one.name)), h("span", { class: `state ${one.state}` }, STATES[/** @type {"open"} */ (one.state)]),
    h("div", { class: "done" }, h("progress", { max: one.tasks || 1, value: one.done, "aria-label": `Tasks of ${one.name} done` }), h("span", {}, `${Math.round(100 * share)} %`)),
    h("p", { class: "what" }, `${one.done.toLocaleString("en")} of ${plural(one.tasks, "task")} done · `, facts.filter(Boolean).join(" · ")));
}

async function show() {
  try {
    const found = await call("GET", "/api/overview");
    const begin = h("a", { class: "button primary", href: "/campaigns/new" }, "New campaign");
    const heading = h("div", { class: "heading" }, h("h1", {}, "Campaigns"), found.new && found.campaigns.length > 0 && begin);
    fill(main, heading, found.campaigns.length
      ? h("ul", { class: "cards" }, found.campaigns.map(card))
      : h("div", { class: "message" }, h("h2", {}, "No campaign yet"), h("p", {}, "Upload the outputs of your systems, say how they are judged and by how many raters, and send everybody a link."), found.new && begin));
  } catch (error) {
    if (!main.querySelector(".card")) refuse(main, error);
    return false;
  }
  return true;
}

if (await show()) setInterval(show, AGAIN);
