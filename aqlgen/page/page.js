
"use strict";
// What the page does beyond being read: views, search and filters, the panel of one operation, overrides.
// Texts of the document only ever become text: no markup is made from strings anywhere below.

const data = JSON.parse(document.getElementById("data").textContent);
const operations = data.operations;
const byName = new Map(operations.map((one, index) => [one.name, index]));
const $ = (id) => document.getElementById(id);

/** Makes an element; children are elements or text, attributes with no value are left out. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((one) => one !== undefined && one !== ""));
  return element;
}

/** Gives a long name in parts, so that it may break before these characters and nowhere else. */
const breakable = (text, before) => text.split(new RegExp(`(?=[${before}])`)).flatMap((part) => [make("wbr"), part]);

const many = (count, one, more) => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;

// ── Where each operation stands on the page ──────────────────────────────────────────────────────────────────────────

const indexOf = (element) => byName.get(element.querySelector("a.op").getAttribute("href").slice("#op/".length));
const rows = [...document.querySelectorAll(".decisions tbody tr")];
const bodies = [...document.querySelectorAll(".decisions tbody")].map((element) => ({ element, rows: [...element.rows] }));
const rowIndex = new Map(rows.map((row, index) => [row, index]));
const reviews = [...document.querySelectorAll(".row-to-review")].map((element, at) => ({ ...data.reviews[at], element }));
const groups = [...document.querySelectorAll(".map tbody")].map((element) => ({
  element,
  resources: [...element.querySelectorAll("tr:not(.group)")].map((row) => ({
    row,
    items: [...row.querySelectorAll("li")].map((item) => ({ item, index: indexOf(item) })),
  })),
}));

// ── Search and filters ───────────────────────────────────────────────────────────────────────────────────────────────

const words = operations.map((one) =>
  [one.name, one.method, one.path, one.operation_id, one.summary, one.resource, ...(one.tags ?? [])].join("\n").toLowerCase(),
);
let shown = operations.map(() => true);
let view = "map";

function chosen(name) {
  return new Set([...$("find").querySelectorAll(`input[name=${name}]:checked`)].map((one) => one.value));
}

function filter() {
  const terms = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const categories = chosen("category");
  const dangers = chosen("danger");
  const tag = $("tag").value;
  const review = $("only-review").checked;
  shown = operations.map(
    (one, index) =>
      (!review || one.review !== undefined) &&
      (categories.size === 0 || categories.has(one.category)) &&
      (dangers.size === 0 || dangers.has(one.danger)) &&
      (tag === "" || (one.tags ?? []).includes(tag)) &&
      terms.every((term) => words[index].includes(term)),
  );
  show();
}

// About how high a row and a heading are: what a group out of view is taken for, until it is laid out.
const ROW = { map: 27, decisions: 54 };
const HEADING = 60;

/** Says how high a group is that the browser has not laid out, for a scroll bar that keeps its word. */
function reserve(element, height) {
  element.style.containIntrinsicBlockSize = `${height}px`;
}

/** Hides what does not match, touching only what changes: the browser lays out nothing else. */
function hide(element, hidden) {
  if (element.hidden !== hidden) element.hidden = hidden;
  return !hidden;
}

function show() {
  let count = 0;
  for (const one of shown) count += one;
  if (view === "decisions") {
    for (const { element, rows: held } of bodies) {
      let some = 0;
      for (const row of held) some += hide(row, !shown[rowIndex.get(row)]);
      if (hide(element, some === 0)) reserve(element, some * ROW.decisions);
    }
  }
  if (view === "review") for (const { element, operations: indexes } of reviews) hide(element, !indexes.some((index) => shown[index]));
  if (view === "map") {
    for (const { element, resources } of groups) {
      let any = 0;
      for (const { row, items } of resources) {
        let some = 0;
        for (const { item, index } of items) some += hide(item, !shown[index]);
        any += hide(row, some === 0);
      }
      if (hide(element, any === 0)) reserve(element, any * ROW.map + HEADING);
    }
  }
  const all = count === operations.length;
  $("hits").textContent = all ? many(count, "operation", "operations") : `${count.toLocaleString("en")} of ${many(operations.length, "operation", "operations")}`;
  $("clear").disabled = all && $("search").value === "";
}

$("find").addEventListener("input", filter);
$("find").addEventListener("submit", (event) => event.preventDefault());
$("find").addEventListener("reset", () => setTimeout(() => {
  filter();
  $("search").focus();
}));
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    visibleLinks()[0]?.focus();
  } else if (event.key === "Escape" && $("search").value !== "") {
    event.stopPropagation();
    event.preventDefault();
    $("search").value = "";
    filter();
  }
});

function visibleLinks() {
  const section = document.querySelector("main > section.shown");
  return [...section.querySelectorAll("a.op")].filter((link) => !link.closest("[hidden]"));
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey && !modal()) {
    event.preventDefault();
    $("search").focus();
    $("search").select();
  } else if (event.key === "Escape" && panel.open) {
    event.preventDefault();
    closePanel();
  }
});

// ── Views ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const views = [...document.querySelectorAll("main > section")].map((section) => section.id);

function go(to) {
  view = to;
  for (const section of document.querySelectorAll("main > section")) section.classList.toggle("shown", section.id === to);
  for (const link of document.querySelectorAll(".bar nav a")) {
    if (link.hash === `#${to}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  show();
}

/** Goes where the address says: to a view, or to the panel of an operation. */
function follow() {
  const at = location.hash.slice(1);
  if (views.includes(at)) {
    go(at);
  } else if (at.startsWith("op/") && byName.has(at.slice(3))) {
    openPanel(byName.get(at.slice(3)));
  }
}

addEventListener("popstate", follow);
new ResizeObserver(() => document.documentElement.style.setProperty("--bar", `${$("bar").offsetHeight}px`)).observe($("bar"));

// ── Sorting ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const sortKeys = {
  name: (one) => one.name,
  category: (one) => data.categories.indexOf(one.category),
  danger: (one) => data.dangers.indexOf(one.danger),
  confidence: (one) => one.confidence,
};

for (const head of document.querySelectorAll("th[data-sort]")) {
  const button = make("button", { type: "button" }, head.textContent);
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    const falling = head.getAttribute("aria-sort") === "ascending";
    for (const other of document.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const key = sortKeys[head.dataset.sort];
    const order = operations.map((one, index) => [key(one), index]);
    const sign = falling ? -1 : 1;
    order.sort(([a, i], [b, j]) => (a < b ? -sign : a > b ? sign : i - j));
    for (const body of bodies) {
      body.rows = order.splice(0, body.rows.length).map(([, index]) => rows[index]);
      body.element.replaceChildren(...body.rows);
    }
    show();
  });
}

// ── The panel ────────────────────────────────────────────────────────────────────────────────────────────────────────

const panel = $("panel");
let opened = -1; // the operation in the panel
let opener = null; // where focus goes when it closes

const modal = () => panel.open && panel.matches(":modal");

function openPanel(index, from = null) {
  const walk = walkable();
  if (from) opener = from;
  opened = index;
  fillPanel(operations[index], walk);
  if (!panel.open) {
    // Beside the operations where there is room for both, over them where there is not.
    if (matchMedia("(min-width: 1000px)").matches) panel.show();
    else panel.showModal();
    document.body.classList.add("reading");
  }
  mark();
  panel.scrollTop = 0;
  $("panel-title").focus();
  history.replaceState(null, "", `#op/${operations[index].name}`);
}

function closePanel() {
  panel.close();
}

panel.addEventListener("close", () => {
  document.body.classList.remove("reading");
  const back = linkOf(opened) ?? opener;
  opened = -1;
  mark();
  history.replaceState(null, "", `#${view}`);
  (back?.isConnected ? back : $("search")).focus();
});

/** Gives the operations in the order of the view, so that Previous and Next walk through what the reader sees. */
function walkable() {
  return visibleLinks().map((link) => byName.get(link.hash.slice("#op/".length)));
}

function linkOf(index) {
  return index < 0 ? undefined : visibleLinks().find((link) => link.hash === `#op/${operations[index].name}`);
}

function mark() {
  document.querySelector("a.current")?.classList.remove("current");
  const link = linkOf(opened);
  link?.classList.add("current");
  link?.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const walk = walkable();
  const at = walk.indexOf(opened);
  const next = walk[at + by];
  if (next !== undefined) openPanel(next);
}

$("previous").addEventListener("click", () => step(-1));
$("next").addEventListener("click", () => step(1));
$("close").addEventListener("click", closePanel);

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='#']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  const at = link.hash.slice(1);
  if (link.matches(".op")) {
    event.preventDefault();
    openPanel(byName.get(at.slice("op/".length)), link);
  } else if (views.includes(at)) {
    event.preventDefault();
    history.pushState(null, "", link.hash);
    const rest = document.querySelector(".top").offsetHeight; // the bar stays where it is: only what is below changes
    go(at);
    if (scrollY > rest) scrollTo(0, rest);
    if (at === "review" && reviews.length > 0) focusRow(current); // its keys work at once
    else if (!link.closest("nav")) $("main").focus({ preventScroll: true });
  }
});

function fillPanel(one, walk) {
  const at = walk.indexOf(opened);
  $("panel-place").textContent = at < 0 ? "" : `${(at + 1).toLocaleString("en")} of ${walk.length.toLocaleString("en")}`;
  $("previous").disabled = at <= 0;
  $("next").disabled = at < 0 || at === walk.length - 1;
  $("panel-title").replaceChildren(...breakable(one.name, "_"));
  $("panel-body").replaceChildren(
    make("p", { class: "api" }, make("b", {}, one.method), " ", ...breakable(one.path, "/")),
    ...(one.operation_id ? [make("p", { class: "id" }, "operationId ", ...breakable(one.operation_id, "/_."))] : []),
    make("p", {}, one.summary ?? ""),
    ...(one.description ? [make("p", { class: "fine" }, one.description)] : []),
    ...(one.deprecated ? [make("p", {}, make("strong", {}, "Deprecated."))] : []),
    ...(one.review ? [callout(one.review)] : []),
    make("h3", {}, "Decided"),
    decided(one),
    ...parameters(one),
  );
  startOverride(one);
}

function callout(reasons) {
  return make("div", { class: "callout" }, make("strong", {}, "Needs review"), ...reasons.map((one) => make("p", {}, one)));
}

function decided(one) {
  const list = make("dl");
  const say = (label, value, reason, ...more) =>
    list.append(
      make("dt", {}, label),
      make("dd", {}, make("strong", {}, value), more.length ? make("small", {}, ...more) : "", why(reason)),
    );
  const plain = (key) => key.replaceAll("_", " ");
  say("Category", one.category, one.reasons.category);
  say("Name", `${one.verb} + ${plain(one.resource)}`, one.reasons.name);
  say("Danger", one.danger, one.reasons.danger);
  for (const trait of one.traits ?? []) {
    const [first, ...others] = Object.entries(trait.value);
    say(plain(trait.kind), first?.[1] ?? "yes", trait, ...others.flatMap(([key, text]) => [`${plain(key)} `, make("code", {}, text), ", "]).slice(0, -1));
  }
  if (one.overrides) list.append(make("dt", {}, "Overrides"), make("dd", {}, one.overrides.join("; ")));
  if (one.tags) list.append(make("dt", {}, one.tags.length === 1 ? "Tag" : "Tags"), make("dd", {}, one.tags.join(", ")));
  return list;
}

function why(reason) {
  const low = reason.confidence < data.threshold;
  const sure = make(low ? "strong" : "span", { class: low && "low" }, `${reason.confidence.toFixed(2)} confidence`);
  const rule = make("small", {}, sure, ", rule ", make("code", {}, reason.rule));
  const both = document.createDocumentFragment();
  both.append(rule);
  if (reason.note) both.append(make("small", {}, reason.note));
  return both;
}

function parameters(one) {
  if (!one.parameters) return [];
  const head = make("tr", {}, ...["Agent’s name", "Sent in", "Value"].map((text) => make("th", { scope: "col" }, text)));
  const body = one.parameters.map((each) =>
    make("tr", {},
      make("th", { scope: "row" }, each.name, each.wire ? make("span", {}, `← ${each.wire}`) : ""),
      make("td", {}, each.in),
      make("td", {}, [each.type, each.required ? "required" : "", each.sensitive ? "secret" : ""].filter(Boolean).join(", ")),
    ),
  );
  return [
    make("h3", {}, many(one.parameters.length, "parameter", "parameters")),
    make("table", { class: "params" }, make("thead", {}, head), make("tbody", {}, ...body)),
  ];
}

// ── Overrides ────────────────────────────────────────────────────────────────────────────────────────────────────────

const NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const LONGEST = 64;
const collected = new Map(); // by the operation's index: YAML

function startOverride(one) {
  $("new-name").value = one.name;
  $("new-category").value = one.category;
  $("new-danger").value = one.danger;
  $("new-hidden").checked = false;
  $("copied").textContent = "";
  writeOverride();
}

/** Says what is wrong with a name, or nothing. */
function wrongName(name, one) {
  if (name === one.name) return "";
  if (!NAME.test(name) || name.length > LONGEST) return `A name is lower-case words joined by _, at most ${LONGEST} characters.`;
  if (byName.has(name)) return `The name ${name} is taken by ${operations[byName.get(name)].method} ${operations[byName.get(name)].path}.`;
  return "";
}

function writeOverride() {
  const one = operations[opened];
  const name = $("new-name").value.trim();
  const wrong = wrongName(name, one);
  $("name-wrong").textContent = wrong;
  $("new-name").setAttribute("aria-invalid", String(wrong !== ""));
  const all = { name, category: $("new-category").value, danger: $("new-danger").value };
  const changed = Object.keys(all).filter((key) => all[key] !== one[key]);
  const hidden = $("new-hidden").checked;
  const keys = hidden || changed.length ? changed : Object.keys(all);
  const lines = keys.map((key) => `  ${key}: ${all[key]}`);
  if (hidden) lines.push("  hidden: true");
  $("yaml").value = wrong ? "" : `${one.key ?? `${one.method} ${one.path}`}:\n${lines.join("\n")}\n`;
  $("yaml-means").textContent =
    wrong ? ""
    : hidden ? "Agents will not see this operation."
    : changed.length ? "Only what you change is written; the rest is still decided by the rules."
    : "Nothing is changed: this keeps all three as they are, whatever the rules say later, and settles the review.";
  $("copy").disabled = $("collect").disabled = wrong !== "";
}

$("override").addEventListener("input", writeOverride);
$("override").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!$("copy").disabled) copy($("yaml"), $("copied"));
});

/** Copies a text area; where the clipboard is closed, it is selected for the reader to copy. */
async function copy(area, say) {
  try {
    await navigator.clipboard.writeText(area.value);
    say.textContent = "Copied.";
  } catch {
    area.focus();
    area.select();
    say.textContent = "Selected: copy it with your keyboard.";
  }
}

$("collect").addEventListener("click", () => {
  collected.set(opened, $("yaml").value);
  $("copied").textContent = `Collected: ${many(collected.size, "override", "overrides")}.`;
  showWork();
});
$("forget").addEventListener("click", () => {
  collected.clear();
  acts.length = 0;
  showWork();
});
$("copy-all").addEventListener("click", () => copy($("collected"), $("copied-all")));
$("download").addEventListener("click", () => {
  const address = URL.createObjectURL(new Blob([$("collected").value], { type: "application/yaml" }));
  make("a", { href: address, download: "overrides.yaml" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
});

function showCollected() {
  const so = decidedSoFar();
  const count = accepted(so).length + new Set([...so.overrides.keys(), ...so.asked.keys()]).size;
  const any = count > 0;
  $("chosen").textContent = count.toLocaleString("en");
  $("collected").value = allYaml();
  $("collected").rows = Math.min(30, Math.max(6, $("collected").value.split("\n").length));
  $("copied-all").textContent = "";
  for (const one of [$("collected"), $("overrides-help"), $("copy-all").parentElement]) one.hidden = !any;
  $("overrides").classList.toggle("nothing", !any);
}

// ── The review, worked off ───────────────────────────────────────────────────────────────────────────────────────────

const WHEN = { never: "runs without a confirmation", first: "confirmed at the first call", always: "confirmed each time" };
const LEVEL = "Its danger level asks each time: only another `danger` in overrides.yaml changes that.";
const acts = []; // what was decided, in order: { row, rules, operations, overrides, asked }
let current = 0;

/** Gives what was decided so far: rules, operations that were accepted, and by the operation's index overrides and answers. */
function decidedSoFar() {
  const so = { rules: new Set(), operations: new Map(), overrides: new Map(collected), asked: new Map() };
  for (const act of acts) {
    for (const rule of act.rules ?? []) so.rules.add(rule);
    for (const [index, entry] of act.operations ?? []) so.operations.set(index, entry);
    for (const [index, yaml] of act.overrides ?? []) so.overrides.set(index, yaml);
    for (const [index, when] of act.asked ?? []) so.asked.set(index, when);
  }
  return so;
}

/** Says whether a concern is settled: accepted, answered, or overridden by an entry that decides just that, or hides all. */
function settles(so, [index, subject, rule]) {
  const yaml = so.overrides.get(index) ?? "";
  const overridden = yaml.includes(`\n  ${subject}: `) || yaml.includes("\n  hidden: true");
  const answered = subject === "danger" && so.asked.has(index);
  return overridden || answered || so.operations.has(index) || (rule !== "" && so.rules.has(rule));
}

const isSettled = (so, row) => row.concerns.every((concern) => settles(so, concern));

/** Gives the entries of accept: the rules, then operations in the document's order. */
function accepted(so) {
  const own = [...so.operations].sort(([a], [b]) => a - b).map(([, entry]) => entry);
  return [...[...so.rules].map((rule) => `"rule:${rule}"`), ...own];
}

/** Gives the block for overrides.yaml: all that was decided on this page. */
function allYaml() {
  const so = decidedSoFar();
  const list = accepted(so);
  const entries = new Map(so.overrides);
  for (const [index, when] of so.asked) {
    entries.set(index, `${entries.get(index) ?? `${keyOf(index)}:\n`}  asked: ${when}\n  why: answered by a person\n`);
  }
  const accept = list.length === 0 ? [] : [`adapter:\n  accept:\n${list.map((entry) => `    - ${entry}\n`).join("")}`];
  return [...accept, ...[...entries].sort(([a], [b]) => a - b).map(([, yaml]) => yaml)].join("\n");
}

function showWork(message = "") {
  const so = decidedSoFar();
  let left = 0;
  reviews.forEach((row, index) => {
    const settled = isSettled(so, row);
    left += !settled;
    row.element.classList.toggle("settled", settled);
    row.element.tabIndex = index === current ? 0 : -1;
    if (index === current) row.element.setAttribute("aria-current", "true");
    else row.element.removeAttribute("aria-current");
    row.element.querySelector(".state").textContent = settled || row.asked ? stateOf(so, row) : "";
  });
  $("left").textContent = left.toLocaleString("en");
  const all = reviews.filter((row) => row.concerns.length > 0).length;
  $("work-state").textContent = `${message}${message && " "}${left.toLocaleString("en")} of ${many(all, "row", "rows")} left.`;
  showCollected();
}

function stateOf(so, row) {
  const answers = new Set(row.operations.filter((index) => so.asked.has(index)).map((index) => WHEN[so.asked.get(index)]));
  if (answers.size > 0) return `✓ ${[...answers].join("; ")}`;
  if (row.concerns.length === 0 || !isSettled(so, row)) return "";
  if (row.operations.some((index) => so.overrides.has(index))) return "✓ overridden";
  return row.operations.every((index) => so.operations.has(index)) ? "✓ accepted" : `✓ accepted: rule:${row.rules.join(", rule:")}`;
}

function focusRow(index, message) {
  current = index;
  close();
  showWork(message);
  reviews[index].element.focus();
  reviews[index].element.scrollIntoView({ block: "nearest" });
}

/** Goes to the next row in view. */
function walkRows(by) {
  for (let index = current + by; index >= 0 && index < reviews.length; index += by) {
    if (!reviews[index].element.hidden) return focusRow(index);
  }
  focusRow(current);
}

/** Goes to the next row in view with something left to decide, from the last on to the first. */
function goOn(message) {
  const so = decidedSoFar();
  const order = [...reviews.keys()].map((step) => (current + step) % reviews.length);
  focusRow(order.find((index) => !reviews[index].element.hidden && !isSettled(so, reviews[index])) ?? current, message);
}

function act(change, message) {
  acts.push({ row: reviews[current], ...change });
  goOn(message);
}

const ownEntries = (row) => row.operations.map((index, at) => [index, row.entries[at]]);
const keyOf = (index) => operations[index].key ?? `${operations[index].method} ${operations[index].path}`;
const overriding = (row, line) => row.operations.map((index) => [index, `${keyOf(index)}:\n  ${line}\n`]);

/** Answers when a person is asked about the operations: an override of each. */
const answer = (indexes, when) => act({ asked: indexes.map((index) => [index, when]) }, `${many(indexes.length, "operation", "operations")}: ${WHEN[when]}.`);

const commands = {
  j: () => walkRows(1),
  k: () => walkRows(-1),
  a: (row) => {
    if (row.asked === "first") answer(row.operations, "never");
    else if (row.asked === "always") focusRow(current, LEVEL);
    else if (row.asked) focusRow(current, "It runs without a confirmation already.");
    else if (row.by_rule) act({ rules: row.rules }, "Accepted by its rule.");
    else act({ operations: ownEntries(row) }, "Accepted.");
  },
  f: (row) => (row.asked === "always" ? focusRow(current, LEVEL) : answer(row.operations, "first")),
  w: (row) => answer(row.operations, "always"),
  b: (row) => ($("bulk").hidden ? offerBulk(row) : close()),
  s: split,
  A: (row) =>
    row.rules.length > 0
      ? act({ rules: row.rules }, `Accepted everywhere: rule:${row.rules.join(", rule:")}.`)
      : focusRow(current, "No rule settles this row: accept the row itself."),
  x: () => ($("choose").hidden ? open("choose", "Which category? c, r, u, d or e; Esc leaves it as it is.") : close()),
  h: (row) => act({ overrides: overriding(row, "hidden: true") }, "Hidden from agents."),
  o: (row) => openPanel(row.operations[0], row.element),
  u: () => {
    const last = acts.pop();
    if (last) focusRow(Math.max(reviews.indexOf(last.row), 0), "Undone.");
    else focusRow(current, "Nothing to undo.");
  },
  y: () => copy($("collected"), $("work-state")),
};

/** Opens a choice; while it is open, its keys are first. */
function open(choice, hint) {
  close();
  $(choice).hidden = false;
  document.querySelector(`[aria-controls=${choice}]`).setAttribute("aria-expanded", "true");
  $("work-state").textContent = hint;
}

function close() {
  for (const choice of ["choose", "bulk"]) {
    $(choice).hidden = true;
    document.querySelector(`[aria-controls=${choice}]`).setAttribute("aria-expanded", "false");
  }
}

/** Offers to answer at once what is still open and has the resource, the tag, the effects or the doubt of a row. */
function offerBulk(row) {
  const so = decidedSoFar();
  const model = operations[row.operations[0]];
  const same = {
    r: ["resource", (one) => one.resource],
    t: ["tag", (one) => one.tags?.[0] ?? ""],
    e: ["effect", (one) => (one.effects ?? []).filter((effect) => effect !== "unknown").join(", ")],
    d: ["doubt", (one) => one.reasons.danger.rule],
  };
  const buttons = Object.entries(same).flatMap(([key, [what, of]]) => {
    const indexes = [...operations.keys()].filter((index) => operations[index].asked === "first" && !so.asked.has(index) && of(operations[index]) === of(model));
    if (indexes.length === 0 || of(model) === "") return [];
    return [["Accept", "never", key], ["Ask always:", "always", key.toUpperCase()]].map(([verb, when, press]) => {
      const button = make("button", { type: "button", "data-press": press }, `${verb} ${what} ${of(model)}, ${indexes.length} `, make("kbd", { "aria-hidden": "true" }, press));
      button.addEventListener("click", () => answer(indexes, when));
      return button;
    });
  });
  if (buttons.length === 0) return focusRow(current, "Nothing like this row is open.");
  $("bulk").replaceChildren(...buttons);
  open("bulk", "Which of them? A small letter accepts them, a capital asks always; Esc leaves them.");
}

/** Makes a row of each operation of a row, to be answered one by one. */
function split(row) {
  const items = [...row.element.querySelectorAll(".what li")];
  if (items.length === 0) return focusRow(current, "It is about one operation.");
  const members = items.map((item, at) => {
    const element = row.element.cloneNode(true);
    element.querySelector(".what").replaceChildren(make("ul", {}, item));
    const index = row.operations[at];
    const { category, danger, effects } = operations[index];
    element.querySelector(".as").textContent = [category, danger, ...(effects ?? [])].join(", ");
    const concerns = row.concerns.filter(([of]) => of === index);
    return { ...row, element, concerns, operations: [index], entries: [row.entries[at]], by_rule: false };
  });
  row.element.replaceWith(...members.map(({ element }) => element));
  reviews.splice(current, 1, ...members);
  show();
  focusRow(current, `${members.length} rows now.`);
}

function recategorise(category) {
  act({ overrides: overriding(reviews[current], `category: ${category}`) }, `Now ${category}.`);
}

function press(key) {
  const choice = document.querySelector("#choose:not([hidden]), #bulk:not([hidden])");
  const chosen = choice?.querySelector(`[data-press="${CSS.escape(key)}"]`);
  if (chosen) chosen.click();
  else if (choice && key === "Escape") focusRow(current, "");
  else if (Object.hasOwn(commands, key)) commands[key](reviews[current]);
  else return false;
  return true;
}

$("review").addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || reviews.length === 0) return;
  if (event.key === "Enter" && !event.target.matches("li.row-to-review")) return; // links and buttons have their own
  if (press(event.key === "Enter" ? "o" : event.key)) event.preventDefault();
});
$("review").addEventListener("click", (event) => {
  const button = event.target.closest("button[data-key], button[data-category]");
  const row = event.target.closest("li.row-to-review");
  if (button?.dataset.key) press(button.dataset.key);
  else if (button) recategorise(button.dataset.category);
  else if (row && !event.target.closest("a, summary")) focusRow(reviews.findIndex(({ element }) => element === row));
});
$("review").addEventListener("focusin", (event) => {
  const row = event.target.closest("li.row-to-review");
  const index = reviews.findIndex(({ element }) => element === row);
  if (index >= 0 && index !== current) {
    current = index;
    showWork();
  }
});

// ── Theme ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const themes = ["system", "light", "dark"];
const root = document.documentElement;

function nameTheme() {
  $("theme").textContent = `Theme: ${root.dataset.theme ?? "system"}`;
}

$("theme").addEventListener("click", () => {
  const next = themes[(themes.indexOf(root.dataset.theme ?? "system") + 1) % themes.length];
  if (next === "system") delete root.dataset.theme;
  else root.dataset.theme = next;
  try {
    localStorage.setItem("aqlgen-theme", next);
  } catch {
    // Storage may be closed to files; the choice holds until the page is closed.
  }
  nameTheme();
});

// ── Start ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const room = matchMedia("(min-width: 721px)");
const unfold = () => ($("filters").open = room.matches);
room.addEventListener("change", unfold);
unfold();
nameTheme();
$("work").hidden = reviews.length === 0;
showWork();
go(views.includes(location.hash.slice(1)) ? location.hash.slice(1) : "map");
filter();
follow();
