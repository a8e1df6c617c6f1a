// The page for an unknown link, in the visitor's language.

import { fill } from "./dom.js";
import { preferred, speak, t } from "./i18n.js";

await speak(preferred());
for (const element of document.querySelectorAll("[data-words]")) fill(element, t(element.getAttribute("data-words") || ""));
