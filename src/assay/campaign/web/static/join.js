// The join page: consent before the first task.

import { Refused, call } from "./api.js";
import { button, fill, h } from "./dom.js";
import { finishing } from "./finish.js";
import { named, preferred, speak, t } from "./i18n.js";
import { markdown } from "./markdown.js";

await speak(preferred());
const slug = decodeURIComponent(location.pathname.split("/").pop() || "");
const params = Object.fromEntries(new URLSearchParams(location.search));
const main = h("main", { id: "main" });
document.body.replaceChildren(h("header", { class: "top" }, h("p", { class: "brand", translate: "no" }, "Assay")), main);

/** Show what went wrong, and the way back to the crowd platform. @param {unknown} error */
function failed(error) {
  const { message, address } = error instanceof Refused ? error : { message: t("offline"), address: "" };
  fill(main, h("div", { class: "message" }, h("h1", {}, t("join-failed")), h("p", {}, named("said", message)), finishing({ address })));
}

async function begin() {
  try {
    const { next } = await call("POST", `/api/join/${encodeURIComponent(slug)}`, { params, consent: true });
    location.assign(next);
  } catch (error) {
    failed(error);
  }
}

try {
  const { campaign, consent } = await call("GET", `/api/join/${encodeURIComponent(slug)}`);
  const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id: "agree", onchange: () => { start.disabled = !box.checked; } }));
  const start = /** @type {HTMLButtonElement} */ (button(t("begin"), begin, { class: "primary", disabled: Boolean(consent) }));
  fill(main, h("div", { class: "message" }, h("h1", {}, t("join-title")), h("p", {}, campaign), h("p", {}, t("join-plain")),
    consent && h("div", { class: "consent", tabindex: "0", role: "region", "aria-label": t("join-title") }, markdown(consent)),
    consent && h("label", { class: "agree", for: "agree" }, box, t("join-agree")), start));
} catch (error) {
  failed(error);
}
