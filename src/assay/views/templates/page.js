"use strict";
// The page says everything without this; it sorts tables, answers a pointer, copies, and opens all for print.
const every = (query, inside = document) => [...inside.querySelectorAll(query)];
const button = (text, label, act) => {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
};

for (const table of every("table.sorts")) {
  const heads = every("thead th", table);
  heads.forEach((head, column) => {
    const name = head.textContent;
    head.append("\u2060", button("↕", `Sort by ${name}`, () => {
      const down = head.ariaSort === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => key(a).localeCompare(key(b), "en", { numeric: true }) * (down ? -1 : 1));
      if (rows.every((row) => row.cells[column].dataset.v || row.cells[column].textContent === "–")) {
        const number = (row) => Number(row.cells[column].dataset.v ?? NaN);
        rows.sort((a, b) => (number(a) - number(b)) * (down ? -1 : 1) || isNaN(number(a)) - isNaN(number(b)));
      }
      table.tBodies[0].append(...rows);
    }));
  });
}

for (const table of every("table.bars:has([data-said])")) {
  const said = document.createElement("p");
  const asked = "Point at a system, or tap it, to see how it compares with each of the others.";
  said.className = "said";
  said.setAttribute("aria-live", "polite");
  said.textContent = asked;
  table.after(said);
  for (const row of every("[data-said]", table)) {
    const name = row.querySelector("th");
    const show = () => { said.textContent = row.dataset.said; };
    const hide = () => { said.textContent = asked; };
    name.tabIndex = 0;
    name.addEventListener("focus", show);
    name.addEventListener("blur", hide);
    row.addEventListener("pointerenter", show);
    row.addEventListener("pointerleave", hide);
  }
}

for (const term of every("dfn")) {
  const place = () => {
    const here = term.getBoundingClientRect();
    const room = document.documentElement.clientWidth - 360;
    term.style.setProperty("--left", `${Math.max(8, Math.min(here.left, room))}px`);
    term.style.setProperty("--top", `${here.bottom + 4}px`);
    term.style.setProperty("--bottom", "auto");
  };
  term.addEventListener("pointerenter", place);
  term.addEventListener("focus", place);
}

for (const text of every(".copied")) {
  const copy = button("Copy", "Copy the methods paragraph", async () => {
    getSelection().selectAllChildren(text);
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      document.execCommand("copy");
    }
    copy.textContent = "Copied";
  });
  text.after(copy);
}

const closed = [];
addEventListener("beforeprint", () => {
  for (const part of every("details:not([open])")) {
    part.open = true;
    closed.push(part);
  }
});
addEventListener("afterprint", () => {
  while (closed.length) closed.pop().open = false;
});
