// Messages from the organisers, shown above the task until they are read.

import { call } from "./api.js";
import { button, h } from "./dom.js";
import { region, t } from "./i18n.js";

const AGAIN = 20_000;
const FIRST = 1_500;

/** @param {{id: number, at: string, text: string}} message */
function banner(message) {
  const at = new Date(message.at).toLocaleTimeString(region(), { hour: "2-digit", minute: "2-digit" });
  const box = h("aside", { class: "organisers", role: "status", id: `message-${message.id}`, "aria-label": t("message-from") },
    h("p", {}, h("b", {}, t("message-from")), " ", h("small", {}, at)),
    h("p", { class: "words", dir: "auto" }, message.text),
    button(t("message-read"), async () => {
      await call("POST", `/api/messages/${message.id}/read`);
      box.remove();
    }));
  return box;
}

/** Show what has come and was not read. */
export async function look() {
  if (document.hidden) return;
  try {
    const messages = await call("GET", "/api/messages");
    for (const message of messages) {
      if (!document.getElementById(`message-${message.id}`)) document.querySelector("main")?.before(banner(message));
    }
  } catch {
    // no link, or no connection: the page says so
  }
}

setTimeout(look, FIRST);
setInterval(look, AGAIN);
document.addEventListener("visibilitychange", look);
