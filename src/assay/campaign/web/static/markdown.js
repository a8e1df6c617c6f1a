// Markdown without HTML: headings, lists, paragraphs, emphasis, code, links.

import { h } from "./dom.js";

const INLINE = /(`[^`]+`)|\*\*(.+?)\*\*|\*(.+?)\*|_(.+?)_|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)/g;

/** Parts of a line. @param {string} text @returns {(Node | string)[]} */
function inline(text) {
  /** @type {(Node | string)[]} */
  const parts = [];
  let last = 0;
  for (const found of text.matchAll(INLINE)) {
    parts.push(text.slice(last, found.index));
    const [all, code, strong, star, line, label, address] = found;
    if (code) parts.push(h("code", {}, code.slice(1, -1)));
    else if (strong) parts.push(h("strong", {}, inline(strong)));
    else if (star || line) parts.push(h("em", {}, inline(star || line)));
    else parts.push(h("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, label));
    last = found.index + all.length;
  }
  return [...parts, text.slice(last)];
}

/** Blocks of a text, as elements. @param {string} text @returns {HTMLElement[]} */
export function markdown(text) {
  /** @type {HTMLElement[]} */
  const blocks = [];
  /** @type {{tag: string, lines: string[]} | null} */
  let open = null;
  const close = () => {
    if (!open) return;
    const { tag, lines } = open;
    blocks.push(tag === "p" ? h("p", {}, inline(lines.join(" "))) : h(tag, {}, lines.map((line) => h("li", {}, inline(line)))));
    open = null;
  };
  const add = (/** @type {string} */ tag, /** @type {string} */ line) => {
    if (open?.tag !== tag) close();
    open ||= { tag, lines: [] };
    open.lines.push(line);
  };
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim();
    const heading = /^(#{1,4})\s+(.*)$/.exec(line);
    const item = /^[-*+]\s+(.*)$/.exec(line);
    const step = /^\d+[.)]\s+(.*)$/.exec(line);
    if (!line) close();
    else if (heading) {
      close();
      blocks.push(h(`h${Math.min(heading[1].length + 1, 4)}`, {}, inline(heading[2])));
    } else if (item) add("ul", item[1]);
    else if (step) add("ol", step[1]);
    else if (open && open.tag !== "p" && /^\s/.test(raw)) open.lines[open.lines.length - 1] += ` ${line}`;
    else add("p", line);
  }
  close();
  return blocks;
}
