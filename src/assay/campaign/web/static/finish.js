// The way back to a crowd platform: a link, or a completion code.

import { button, fill, h } from "./dom.js";
import { t } from "./i18n.js";

/** @param {{code?: string, address?: string | null}} end  an address may be a code as well */
export function finishing({ code, address }) {
  if (address && /^https?:/.test(address)) return h("p", {}, h("a", { class: "button primary", href: address, rel: "noreferrer" }, t("return")));
  const text = code || address;
  if (!text) return null;
  const shown = h("code", { class: "code" }, text);
  return h("div", {}, h("p", {}, t("code-help")), h("p", { class: "finish" }, shown,
    button(t("copy"), (event) => {
      getSelection()?.selectAllChildren(shown);
      document.execCommand("copy");
      fill(/** @type {Element} */ (event.target), t("copied"));
    })));
}
