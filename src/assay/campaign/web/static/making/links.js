// A campaign was made: everybody's link, to copy or to save, and the way to its page.

import { call } from "../api.js";
import { button, fill, h } from "../dom.js";
import { listed, rows, taken } from "../links.js";
import { faultsOf, plural, tell } from "./frame.js";

/** @param {any} made @param {any[]} all */
function one(made, all) {
  const box = h("div");
  const state = h("p", { class: "hint", role: "status" }, "The campaign is a draft: raters get tasks once you open it.");
  const open = button("Open now", async () => {
    try {
      await call("POST", `/c/${encodeURIComponent(made.slug)}/open`, {});
      open.remove();
      state.textContent = "The campaign is open: raters get tasks.";
    } catch (error) {
      tell(section, box, faultsOf(error));
    }
  }, { class: "primary" });
  const found = rows(made.links);
  const section = h("section", { class: "part" },
    h("h2", {}, all.length > 1 ? made.name : "Links"),
    h("p", {}, `${plural(made.tasks, "task")} with ${plural(made.outputs, "output")}${made.checks ? `, about ${plural(made.checks, "attention check")}` : ""}. Treat each link like a password, and give every rater a different one.`),
    listed(found), h("div", { class: "steer" }, taken(found, `${made.slug}-links.csv`)),
    state, h("div", { class: "steer" }, open, h("a", { class: "button", href: `/c/${encodeURIComponent(made.slug)}` }, "Go to the campaign")), box);
  return section;
}

/** @param {Element} main @param {any[]} all */
export function showLinks(main, all) {
  const title = all.length === 1 ? `${all[0].name} is ready` : `${all.length} campaigns are ready`;
  const heading = h("h1", { tabindex: "-1" }, title);
  document.title = `${title} – Assay`;
  fill(main, heading, all.map((made) => one(made, all)));
  heading.focus();
  window.scrollTo(0, 0);
}
