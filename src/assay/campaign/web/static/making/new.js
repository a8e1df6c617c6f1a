// A new campaign: files, columns, protocol, budget, links.

import { Refused, call } from "../api.js";
import { button, fill, h } from "../dom.js";
import { listed, rows, taken } from "../links.js";
import { choice, faultsOf, field, frame, number, plural, tell } from "./frame.js";
import { nothing, redraw, tableFields } from "./table.js";

const MOST = 64 * 1024 * 1024;
const PAUSE = 350;
/** @type {[string, string][]} */
const PROTOCOLS = [
  ["esa", "ESA: mark errors, then score 0–100"], ["da", "Direct assessment: score 0–100"], ["sqm", "SQM: score 0–6"], ["xsts", "XSTS: score 1–5"],
  ["mqm", "MQM: mark errors by category"], ["pairwise", "Pairwise: choose the better of two"], ["ranking", "Ranking: order several outputs"], ["post-edit", "Post-editing: correct the output"],
];
const RATED = ["esa", "da", "sqm", "xsts", "mqm"];
const SIDE_BY_SIDE = { pairwise: 2, ranking: 5 };
const CURRENCIES = ["EUR", "USD", "GBP", "CHF", "CZK", "JPY", "CNY", "INR", "PLN"];

const main = await frame(h("a", { href: "/campaigns" }, "All campaigns"));
document.title = "New campaign – Assay";

/** @type {any} */
let seen = null;
/** @type {string[]} */
let systems = [];
let upload = "";
let round = 0;
const said = nothing();

const box = h("div", { id: "faults" });
const list = h("ul", { class: "files" });
const busy = h("p", { class: "hint", role: "status", id: "busy" });
const table = h("section", { class: "part", id: "table", "aria-label": "Columns" });
const rest = h("div", { id: "rest", hidden: true });

/** The upload on the server, created when first needed. */
async function place() {
  upload ||= (await call("POST", "/api/uploads")).upload;
  return upload;
}

/** @param {File} file */
async function send(file) {
  if (file.size > MOST) throw new Refused(413, { error: `${file.name} is ${Math.ceil(file.size / 1024 / 1024)} MB; the limit is 64 MB. Remove columns, or pack it as .zip or .parquet.` });
  const reply = await fetch(`/api/uploads/${await place()}/files/${encodeURIComponent(file.name)}`, {
    method: "PUT", body: file, headers: { "Content-Type": "application/octet-stream", "X-Assay": "1" },
  });
  const data = await reply.json().catch(() => null);
  if (!reply.ok) throw new Refused(reply.status, data);
}

/** @param {FileList | File[] | null} files */
async function add(files) {
  /** @type {{path: string, message: string}[]} */
  const faults = [];
  for (const file of files || []) {
    busy.textContent = `Uploading ${file.name} …`;
    try {
      await send(file);
    } catch (error) {
      faults.push(...faultsOf(error).map((fault) => ({ path: "files", message: fault.message })));
    }
  }
  if (upload) await look(true);
  busy.textContent = "";
  if (faults.length) tell(main, box, faults);
}

/** Ask the server what the files hold, given the corrections so far. @param {boolean} [anew] */
async function look(anew = false) {
  round += 1;
  const own = round;
  if (anew) Object.assign(said, nothing());
  busy.textContent = "Reading the files …";
  try {
    const columns = Object.fromEntries(Object.entries(said.columns).filter(([, name]) => name !== "*"));
    const found = await call("POST", `/api/uploads/${upload}/table`, { ...said, columns });
    if (own !== round) return;
    seen = found;
    if (found.summary && !said.exclude.length) systems = found.summary.systems;
    if (!found.summary && anew) systems = [];
    draw();
  } catch (error) {
    if (own === round) tell(main, box, faultsOf(error));
  }
  if (own === round) busy.textContent = "";
}

function draw() {
  fill(list, seen.files.map((/** @type {any} */ one) => h("li", {}, h("span", {}, one.name), h("small", {}, size(one.bytes)),
    button("Remove", async () => {
      await call("DELETE", `/api/uploads/${upload}/files/${one.name.split("/").map(encodeURIComponent).join("/")}`);
      await look(true);
    }, { class: "quiet", "aria-label": `Remove ${one.name}` }))));
  redraw(table, seen.files.length ? [h("h2", {}, "2. Columns"), ...tableFields(seen, said, systems, look)] : []);
  const ready = Boolean(seen.summary);
  if (ready && rest.hidden) begin();
  rest.hidden = !ready;
  tell(main, box, [...seen.questions, ...seen.problems], false);
  if (ready) {
    pairs();
    plan();
  }
}

/** @param {number} bytes */
const size = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

const named = h("input", { type: "text", maxlength: 80, autocomplete: "off", oninput: () => named.setAttribute("data-own", "") });
const from = h("input", { type: "text", maxlength: 20, autocomplete: "off" });
const to = h("input", { type: "text", maxlength: 20, autocomplete: "off" });
const protocol = choice(PROTOCOLS, "esa", { onchange: () => { adapt(); plan(); } });
const beside = number(1, { min: 1, max: 8, step: 1 });
const raters = number(3, { min: 1, max: 10000, step: 1, oninput: plan });
const overlap = number(10, { min: 0, max: 100, oninput: plan });
const checks = number(0, { min: 0, max: 100 });
const repeats = number(0, { min: 0, max: 100 });
const price = number("", { min: 0, step: "any", oninput: plan });
const currency = choice(CURRENCIES.map((name) => [name, name]), "EUR", { "aria-label": "Currency", onchange: () => { units(); plan(); } });
const per = choice([["rating", "per rating"], ["hour", "per hour"]], "rating", { "aria-label": "Paid per", onchange: () => { adapt(); plan(); } });
const seconds = number("", { min: 1, step: "any", oninput: plan });
const amount = number("", { min: 0, step: "any", oninput: plan });
const unit = choice([], "", { "aria-label": "Unit of the budget", onchange: plan });
const planned = h("div", { class: "plan", role: "status", "aria-live": "polite" });
const outOf = field("Systems side by side", beside, { paths: "screen.outputs outputs" });
const time = field("Seconds per rating", seconds, { paths: "pay.seconds_per_rating seconds_per_rating", hint: "Approximate; 20 to 60 for ESA." });
const by = h("div");

/** @param {HTMLInputElement} input */
const value = (input) => (input.value.trim() === "" ? null : Number(input.value));

function units() {
  const rated = RATED.includes(protocol.value);
  const able = [...(rated ? [[currency.value, currency.value], ["hours", "hours"], ["ratings", "ratings"]] : []), ["segments", "segments"], ["%", "% of the segments"]];
  const before = unit.selectedIndex;
  fill(unit, able.map(([key, text]) => h("option", { value: key }, text)));
  unit.selectedIndex = Math.max(0, Math.min(before, able.length - 1));
}

function adapt() {
  units();
  const fixed = /** @type {Record<string, number>} */ (SIDE_BY_SIDE)[protocol.value];
  outOf.hidden = protocol.value === "post-edit";
  if (fixed) beside.value = String(Math.min(fixed, Math.max(2, systems.length)));
  else if (Number(beside.value) > 1 && protocol.value === "post-edit") beside.value = "1";
  time.hidden = !RATED.includes(protocol.value);
  price.closest(".field")?.querySelector("label")?.replaceChildren(RATED.includes(protocol.value) ? "Pay" : "Pay (a judgment counts as a rating)");
}

/** What is sent to the server in addition to the table. */
function wanted() {
  const rated = value(price);
  const spend = value(amount);
  return {
    protocol: protocol.value, raters: value(raters), overlap: value(raters) === 1 ? null : value(overlap), outputs: Number(beside.value) || 1,
    checks: value(checks) || null, repeats: value(repeats) || null,
    per_rating: per.value === "rating" ? rated : null, per_hour: per.value === "hour" ? rated : null,
    seconds_per_rating: value(seconds), currency: rated === null ? null : currency.value,
    budget: spend === null ? null : unit.value === "segments" ? String(spend) : unit.value === "%" ? `${spend}%` : `${spend} ${unit.value}`,
  };
}

let timer = 0;
let plans = 0;

function plan() {
  clearTimeout(timer);
  timer = setTimeout(replan, PAUSE);
}

async function replan() {
  if (!seen?.summary) return;
  const body = wanted();
  plans += 1;
  const own = plans;
  const count = seen.summary.segments * seen.summary.systems.length;
  if (body.budget === null) {
    fill(planned, h("p", {}, `All ${count.toLocaleString("en")} outputs are rated. Enter a budget to see which differences it can detect.`));
    tell(rest, h("div"), [], false);
    return;
  }
  if (!RATED.includes(body.protocol)) {
    fill(planned, h("p", {}, "For this protocol, plan on the command line: assay plan judgments or assay plan editors."));
    return;
  }
  try {
    const found = await call("POST", "/api/plans", { ...body, systems: seen.summary.systems.length, segments: seen.summary.segments });
    if (own !== plans) return;
    tell(rest, h("div"), [], false);
    fill(planned, h("p", { class: "lead" }, found.lead),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Ways to spend the budget" }, h("table", {},
        h("thead", {}, h("tr", {}, found.headings.map((/** @type {string} */ name) => h("th", { scope: "col" }, name || "way")))),
        h("tbody", {}, found.rows.map((/** @type {string[]} */ row) => h("tr", {}, row.map((cell, k) => h(k ? "td" : "th", k ? {} : { scope: "row" }, cell))))))),
      found.notes.map((/** @type {string} */ note) => h("p", { class: "hint" }, `${note[0].toUpperCase()}${note.slice(1)}.`)));
  } catch (error) {
    if (own !== plans) return;
    fill(planned);
    tell(rest, planned, faultsOf(error), false);
  }
}

/** Fill in what the files say. */
function pairs() {
  const { summary } = seen;
  if (!named.hasAttribute("data-own")) /** @type {HTMLInputElement} */ (named).value = seen.files[0].name.split("/").at(-1).replace(/\.[^.]*$/, "").replaceAll(/[_-]+/g, " ");
  if (summary.languages.length === 2) [from, to].forEach((input, k) => { /** @type {HTMLInputElement} */ (input).value ||= summary.languages[k]; });
  fill(by, summary.pairs.length > 1 && h("label", { class: "tick" }, h("input", { type: "checkbox", id: "by", checked: true }), h("span", {}, `One campaign for each of the ${summary.pairs.length} language pairs; the budget applies to each`)));
}

/** Draw the rest of the form, once the files are understood. */
function begin() {
  adapt();
  fill(rest,
    h("section", { class: "part" }, h("h2", {}, "3. Protocol and raters"),
      h("div", { class: "two" }, field("Name of the campaign", named, { paths: "name", hint: "Visible to raters." }), field("Protocol", protocol, { paths: "protocol" })),
      by,
      h("div", { class: "four" }, field("Source language", from, { paths: "languages screen.languages screen.languages[0] languages[0]", hint: "Such as de or pt-BR." }), field("Target language", to, { paths: "screen.languages[1] languages[1]" }), outOf, field("Raters", raters, { paths: "raters raters.number raters.per_task" })),
      h("div", { class: "four" }, field("Rated twice, %", overlap, { paths: "overlap raters.overlap", hint: "Measures how much raters differ." }),
        field("Attention checks, %", checks, { paths: "checks checks.share", hint: "Spoiled copies of outputs." }), field("Shown again, %", repeats, { paths: "repeats checks.repeats", hint: "Measures each rater’s consistency." }))),
    h("section", { class: "part" }, h("h2", {}, "4. Pay and budget"),
      h("div", { class: "three" }, field("Pay", price, { paths: "pay per_rating per_hour", beside: [currency, per] }), time, field("Budget", amount, { paths: "budget", beside: unit, hint: "Leave empty to rate everything." })), planned),
    h("div", { class: "steer" }, button("Create the campaign", create, { class: "primary", id: "create" })));
}

async function create() {
  const both = [from, to].map((input) => /** @type {HTMLInputElement} */ (input).value.trim());
  const split = document.getElementById("by");
  const columns = Object.fromEntries(Object.entries(said.columns).filter(([, name]) => name !== "*"));
  const body = {
    ...wanted(), upload, name: /** @type {HTMLInputElement} */ (named).value, table: { ...said, columns },
    languages: both[0] || both[1] ? both : null, by: split instanceof HTMLInputElement && split.checked ? "lp" : null,
  };
  if (body.by) body.languages = null;
  const act = /** @type {HTMLButtonElement} */ (document.getElementById("create"));
  act.disabled = true;
  act.textContent = "Creating …";
  try {
    const made = await call("POST", "/api/campaigns", body);
    showLinks(made.campaigns);
  } catch (error) {
    tell(main, box, faultsOf(error));
  }
  act.disabled = false;
  act.textContent = "Create the campaign";
}

/** A created campaign with its links. @param {any} made @param {any[]} all */
function createdCampaign(made, all) {
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

/** Show the created campaigns in place of the form. @param {any[]} all */
function showLinks(all) {
  const title = all.length === 1 ? `${all[0].name} is ready` : `${all.length} campaigns are ready`;
  const heading = h("h1", { tabindex: "-1" }, title);
  document.title = `${title} – Assay`;
  fill(main, heading, all.map((made) => createdCampaign(made, all)));
  heading.focus();
  window.scrollTo(0, 0);
}

/** Draw the first step. */
function start() {
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "file", multiple: true, id: "files", accept: ".xlsx,.csv,.tsv,.jsonl,.parquet,.txt,.zip,.gz" }));
  input.addEventListener("change", async () => {
    await add(input.files);
    input.value = "";
  });
  const drop = h("div", { class: "drop" }, field("Tables or text files", input, {
    paths: "files",
    hint: "A table with one row per output (.xlsx, .csv, .tsv, .jsonl, .parquet), or text files with one segment per line: source.txt and one file per system. You can also upload a .zip of these; at most 64 MB per file.",
  }));
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    add(event.dataTransfer?.files || null);
  });
  fill(main, h("h1", {}, "New campaign"), h("section", { class: "part" }, h("h2", {}, "1. System outputs"), drop, list, busy), table, rest, box);
}

start();
