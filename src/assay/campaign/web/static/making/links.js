// A campaign was made: everybody's link, to copy or to save, and the way to its page.

import { call } from "../api.js";
import { button, fill, h } from "../dom.js";
import { copier, faultsOf, plural, tell } from "./frame.js";

const ROLES = [["owner", "Owner", "opens and closes the campaign, sees results"], ["viewer", "Viewer", "sees results"], ["join", "Join", "for raters whom you do not know beforehand"]];

/** @param {any} made @returns {[string, string, string][]} who, link, what it is for */
function rows(made) {
  const own = ROLES.map(([key, who, what]) => /** @type {[string, string, string]} */ ([who, made.links[key], what]));
  return [...made.links.raters.map((/** @type {any} */ one) => [one.rater, one.link, ""]), ...own];
}

/** One cell of a file; what a spreadsheet would take for a formula is a text. @param {string} value */
const cell = (value) => `"${(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`;

/** @param {any[]} all */
function csv(all) {
  const lines = all.flatMap((made) => rows(made).map(([who, link]) => [made.name, who, link].map(cell).join(",")));
  return `\ufeff${["campaign,who,link", ...lines].join("\r\n")}\r\n`;
}

/** @param {any} made @param {any[]} all */
function one(made, all) {
  const box = h("div");
  const state = h("p", { class: "hint", role: "status" }, "It is a draft: raters get tasks once you open it.");
  const open = button("Open it now", async () => {
    try {
      await call("POST", `/c/${encodeURIComponent(made.slug)}/open`, {});
      open.remove();
      state.textContent = "It is open: raters get tasks.";
    } catch (error) {
      tell(section, box, faultsOf(error));
    }
  }, { class: "primary" });
  const found = rows(made);
  const section = h("section", { class: "part" },
    h("h2", {}, all.length > 1 ? made.name : "Links"),
    h("p", {}, `${plural(made.tasks, "task")} with ${plural(made.outputs, "output")}${made.checks ? `, about ${plural(made.checks, "attention check")}` : ""}. A link is as good as a password: give every rater their own.`),
    h("ul", { class: "links" }, found.map(([who, link, what]) => h("li", {},
      h("span", { class: "who" }, who, what && h("small", {}, what)), h("code", {}, link), copier("Copy", () => link, `Copy the link of ${who}`)))),
    h("div", { class: "steer" }, copier("Copy all", () => found.map(([who, link]) => `${who}\t${link}`).join("\n")), save(all.length > 1 ? [made] : all)),
    state, h("div", { class: "steer" }, open, h("a", { class: "button", href: `/c/${encodeURIComponent(made.slug)}` }, "Go to the campaign's page")), box);
  return section;
}

/** @param {any[]} all */
function save(all) {
  return button("Save as CSV", () => {
    const address = URL.createObjectURL(new Blob([csv(all)], { type: "text/csv" }));
    const link = h("a", { href: address, download: `${all[0].slug}-links.csv` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
}

/** @param {Element} main @param {any[]} all */
export function showLinks(main, all) {
  const title = all.length === 1 ? `${all[0].name} is made` : `${all.length} campaigns are made`;
  const heading = h("h1", { tabindex: "-1" }, title);
  document.title = `${title} – Assay`;
  fill(main, heading, all.map((made) => one(made, all)));
  heading.focus();
  window.scrollTo(0, 0);
}
