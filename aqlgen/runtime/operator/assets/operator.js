// machine: replaced by `aqlgen update` (MIT-0)
// The operator's page. Whatever an agent or a document wrote becomes text nodes and nothing else, isolated in <bdi>.

const STORED = "operator-token";
const SETTLED_FOR = 8000;  // ms that a card stays after its matter is gone
const STILL = 700;  // ms that a card must have stood where it is before it can be pressed
const SILENCE = 13000;  // ms without a sign of life until the page is not live
const ROWS = 12;

const $ = (id) => document.getElementById(id);
const state = { token: "", sections: {}, skew: 0, since: 0, stop: null };

// Elements

function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === "") continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}
const bdi = (text) => h("bdi", { dir: "auto" }, String(text));

function shape(name) {
  const paths = { triangle: "M6 1 11.5 11H.5Z", diamond: "M6 .5 11.5 6 6 11.5.5 6Z", square: "M1 1H11V11H1Z", circle: "M6 1.5a4.5 4.5 0 1 0 .01 0Z" };
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 12 12");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}
const DANGERS = { __proto__: null, destructive: ["amber", "triangle"], dangerous: ["red", "diamond"], forbidden: ["red", "square"] };
const dangerOf = (word) => DANGERS[word] ?? ["", "circle"];

// Times. The server's clock counts.

const now = () => Date.now() / 1000 + state.skew;
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });

function ago(seconds) {
  const passed = Math.max(0, Math.round(now() - seconds));
  if (passed < 60) return `${passed} s ago`;
  if (passed < 3600) return `${Math.floor(passed / 60)} min ago`;
  return clock(seconds);
}
function rest(ends) {
  const seconds = Math.max(0, Math.ceil(ends - now()));
  if (seconds >= 7200) return `${Math.round(seconds / 3600)} h`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
const left = (expires) => `${rest(expires)} left`;
function timeOf(item) {
  return h("span", { class: "time", "data-asked": item.asked, "data-expires": item.expires });
}
function tick(root = document) {
  for (const element of root.querySelectorAll(".time")) {
    const { asked, expires, resets } = element.dataset;
    const parts = [asked && ago(Number(asked)), expires && left(Number(expires)), resets && `resets in ${rest(Number(resets))}`];
    const text = parts.filter(Boolean).join(" · ");
    if (element.textContent !== text) element.textContent = text;
    element.classList.toggle("soon", Boolean(expires) && Number(expires) - now() < 60);
  }
}

// Speech for those who do not see the page: what is new, gathered, and what came of an action, at once

const fresh = new Map();
let speaking = 0;

function speak(text) {
  $("spoken").textContent = $("spoken").textContent === text ? `${text}\u00a0` : text;
}
function announce(kind) {
  fresh.set(kind, (fresh.get(kind) ?? 0) + 1);
  speaking ||= setTimeout(() => {
    const words = [...fresh].map(([name, number]) => `${number} ${number === 1 ? name : `${name}s`}`);
    speak(`New: ${words.join(", ")}.`);
    fresh.clear();
    speaking = 0;
  }, 2500);
}

// The server

async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-operator-token": state.token },
    body: JSON.stringify(body),
    credentials: "same-origin", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer",
  });
  const values = await answer.json().catch(() => ({}));
  return { ok: answer.ok, status: answer.status, ...values };
}

// Cards. A card keeps its element while its item is there, so that focus and folds stay.

const cards = new WeakMap();

function steady(card, event) {
  const known = cards.get(card);
  const pointed = event.detail > 0;  // by keys the focus says what is meant, wherever the card is
  const since = Math.max(known.changed, pointed ? known.moved : 0);
  return performance.now() - since > STILL && (!pointed || known.armed === known.item.digest);
}

async function act(card, event, action, reason) {
  const { item } = cards.get(card);
  if (!steady(card, event)) return outcome(card, "This has just moved or changed. Look again, then press.");
  const held = card.contains(document.activeElement);
  const buttons = [...card.querySelectorAll("button")];
  for (const button of buttons) button.disabled = true;
  let answer;
  try {
    answer = await post("/api/act", { do: action, id: item.id, digest: item.digest, ...(reason ? { reason } : {}) });
  } catch {
    answer = { ok: false, message: "The page's server does not answer. It is uncertain whether this took effect." };
  }
  for (const button of buttons) button.disabled = false;
  const decided = answer.ok && card.querySelector(":scope > .buttons")?.hidden;
  if (decided) speak(answer.message);
  else outcome(card, answer.message ?? "Something went wrong.");
  if (answer.status === 401) close("This session has ended", answer.message);
  if (held && document.activeElement === document.body) focus(card);
  return answer;
}

function outcome(card, text) {
  card.querySelector(".outcome").textContent = text;
  speak(text);
}
const focus = (card) => card.querySelector("h3, h4")?.focus({ preventScroll: true });

function sync(list, items, { key = (item) => item.id, build, refresh, word, settle }) {
  const present = new Map([...list.children].map((card) => [card.dataset.key, card]));
  const wanted = new Set(items.map(key));
  for (const [name, card] of present) if (!wanted.has(name)) (settle ?? leave)(card);
  let next = null;
  for (const item of [...items].reverse()) {
    let card = present.get(key(item));
    if (card && card.dataset.settled !== undefined && settle) { card.remove(); card = undefined; }
    if (!card) {
      card = document.createElement(list.tagName === "TBODY" ? "tr" : "li");
      card.dataset.key = key(item);
      cards.set(card, { item, changed: performance.now(), moved: 0, armed: "" });
      card.addEventListener("pointerdown", () => { cards.get(card).armed = cards.get(card).item.digest; }, { capture: true });
      build(card, item);
      if (word) announce(word);
      list.insertBefore(card, next);
    } else if (cards.get(card).item.digest !== item.digest) {
      const inside = card.contains(document.activeElement);
      const folds = [...card.querySelectorAll("details")].map((fold) => fold.open);
      Object.assign(cards.get(card), { item, changed: performance.now() });
      card.replaceChildren();
      build(card, item);
      [...card.querySelectorAll("details")].forEach((fold, index) => { fold.open = folds[index] ?? false; });
      if (inside) focus(card);
    }
    cards.get(card).item = item;
    refresh?.(card, item);
    next = card;
  }
}

function leave(card) {
  const inside = card.contains(document.activeElement);
  const list = card.parentElement;
  card.remove();
  if (inside) (list.closest("section").querySelector("h2, h3") ?? document.body).focus?.();
}

function settleAs(text) {
  return (card) => {
    if (card.dataset.settled !== undefined) return;
    const inside = card.contains(document.activeElement);
    card.dataset.settled = performance.now();
    card.querySelectorAll(".buttons, .ask, .code, .warn, .time, .until").forEach((element) => element.remove());
    const said = card.querySelector(".outcome");
    if (!said.textContent || cards.get(card).code) said.textContent = text;
    if (inside) focus(card);
  };
}

function sweep() {
  const before = standing();
  for (const card of document.querySelectorAll("[data-settled]")) {
    const old = performance.now() - Number(card.dataset.settled) > SETTLED_FOR;
    if (old && !$("queue").matches(":hover") && !card.contains(document.activeElement)) card.remove();
  }
  for (const card of document.querySelectorAll("[data-decided]:not([data-brief])")) {
    const old = performance.now() - cards.get(card).decided > SETTLED_FOR;
    if (old && !$("queue").matches(":hover") && !card.contains(document.activeElement)) card.dataset.brief = "";
  }
  mark(before);
  count();
}

// What moved under the pointer cannot be pressed for a moment

function standing() {
  return new Map([...document.querySelectorAll(".card, .rows > li")].map((card) => [card, card.getBoundingClientRect().top]));
}
function mark(before) {
  for (const [card, top] of before) {
    if (card.isConnected && Math.abs(card.getBoundingClientRect().top - top) > 3) cards.get(card).moved = performance.now();
  }
}

// Parts of cards

function top(item, ...words) {
  return h("div", { class: "top" }, ...words, timeOf(item));
}
function meta(pairs) {
  const rows = pairs.filter(([, value]) => value && value.length).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, bdi(value))));
  return rows.length ? h("dl", { class: "meta" }, ...rows) : null;
}
const whom = (item) => [["Agent", item.agent], ["Caller", item.caller], ["Session", item.session]];
function reasons(texts) {
  return texts.length ? h("ul", { class: "why" }, ...texts.map((text) => h("li", {}, bdi(text)))) : null;
}
function folded(summary, text, open = false) {
  return h("details", { open }, h("summary", {}, summary), h("pre", { class: "whole", tabindex: "0" }, bdi(text)));
}
let ids = 0;
function titled(...children) {
  return h("h4", { id: `title-${++ids}`, tabindex: "-1" }, ...children);
}
function button(card, title, text, style, action) {
  return h("button", { type: "button", class: style, "aria-describedby": title.id, onclick: (event) => action(event) }, text);
}

// Decisions

const KINDS = { __proto__: null, call: "call", plan: "plan of several steps", start: "start of an agent", step: "step of an agent" };
const VERDICTS = { __proto__: null, approved: "Approved", denied: "Denied" };

function buildMatter(card, item) {
  const [tone, mark_] = dangerOf(item.danger);
  const kind = KINDS[item.kind] ?? bdi(item.kind);
  card.className = "card";
  card.dataset.tone = tone;
  const title = titled(bdi(item.title));
  const buttons = h("div", { class: "buttons" });
  if (item.whole) {
    buttons.append(button(card, title, "Approve", "primary", (event) => act(card, event, "approve")));
  }
  buttons.append(button(card, title, "Deny", "deny", (event) => act(card, event, "deny")));
  card.append(
    item.danger ? top(item, h("span", { class: "danger" }, shape(mark_), bdi(item.danger)), h("span", {}, kind)) : top(item, h("span", { class: "danger" }, shape(mark_), kind)),
    title,
    meta([...whom(item), [item.operations.length === 1 ? "Operation" : "Operations", item.operations.join(", ")]]) ?? "",
    reasons(item.reasons) ?? "",
    folded("Everything that would be approved", item.question),
    item.whole ? "" : h("p", { class: "warn" }, "This is too long for the page: you can deny it here, but not approve it."),
    h("p", { class: "outcome" }),
    buttons,
  );
}
function refreshMatter(card, item) {
  retime(card, item);
  const buttons = card.querySelector(".buttons");
  if (item.verdict && !buttons.hidden) {
    const inside = card.contains(document.activeElement);
    buttons.hidden = true;
    card.dataset.decided = item.verdict;
    cards.get(card).decided = performance.now();
    card.querySelector(".outcome").replaceChildren(`${VERDICTS[item.verdict] ?? "Decided"} by `, bdi(item.by || "somebody"), ".", h("span", { class: "until" }, " It stays here until the agent repeats the call."));
    if (inside) focus(card);
  } else if (!item.verdict) {
    buttons.hidden = false;
    delete card.dataset.decided;
    delete card.dataset.brief;
  }
}
function retime(card, item) {
  const time = card.querySelector(".time");
  if (time && item.expires !== undefined) time.dataset.expires = item.expires;
}

// Codes

function buildChallenge(card, item) {
  const zone = item.tier === "danger_zone";
  card.className = "card";
  card.dataset.tone = zone ? "red" : "amber";
  const title = titled("Verify agent ", bdi(item.agent || "without a name"));
  const place = h("div", { class: "shown" });
  card.append(
    top(item, h("span", { class: "danger" }, shape(zone ? "square" : "triangle"), zone ? "danger zone" : "verification")),
    title,
    meta([["Wants to", item.action], ["Held because", item.reason], ...whom(item).slice(1)]) ?? "",
    reasons(item.factors) ?? "",
    place,
    h("p", { class: "outcome" }),
    h("div", { class: "buttons" }, button(card, title, "Show code", "primary", async (event) => {
      const answer = await act(card, event, "reveal");
      if (answer?.code) showCode(card, place, answer.code);
    })),
  );
}
function showCode(card, place, code) {
  const text = h("code", { class: "code", dir: "ltr" }, code);
  const copied = async () => {
    try {
      await navigator.clipboard.writeText(code);
      outcome(card, "Copied. All your programs can read the clipboard: paste the code soon, then copy something else.");
    } catch {
      outcome(card, "Copying failed: select the code, or type it.");
    }
  };
  const hide = () => { place.replaceChildren(); cards.get(card).code = ""; outcome(card, "Hidden. A newer code voids this one."); card.querySelector(".buttons button")?.focus(); };
  const advice = h("p", { class: "warn" }, "Anyone with this code can let the agent continue. Enter it in your own client, and share it with nobody. It works for one try.");
  place.replaceChildren(text, advice, h("div", { class: "buttons" }, h("button", { type: "button", onclick: copied }, "Copy"), h("button", { type: "button", onclick: hide }, "Hide")));
  const known = cards.get(card);
  known.code = known.item.has_code ? "good" : "waiting";  // the stream may have been first
  card.querySelector(":scope > .buttons button").textContent = "Show another code";
}
function refreshChallenge(card, item) {
  retime(card, item);
  const known = cards.get(card);
  if (known.code === "waiting" && item.has_code) known.code = "good";
  if (known.code === "good" && !item.has_code) {
    known.code = "";
    card.querySelector(".code")?.classList.add("void");
    card.querySelectorAll(".shown .buttons, .shown .warn").forEach((element) => element.remove());
    outcome(card, "This code was tried and is void. If you did not try it, show no other code.");
  }
}

// Blocks, and what needs a reason

function buildBlock(card, item) {
  card.className = "card";
  card.dataset.tone = "red";
  const title = titled("Agent ", bdi(item.agent || "without a name"), " is blocked");
  const id = `reason-${++ids}`;
  const input = h("input", { id, type: "text", maxlength: "500", autocomplete: "off", required: true });
  const form = h("div", { class: "ask", hidden: true },
    h("label", { for: id }, "Why may it continue? The audit log records the reason."), input,
    h("div", { class: "buttons" },
      button(card, title, "Unblock", "primary", (event) => {
        if (input.value.trim().length < 3) { outcome(card, "Say why, in a few words."); input.focus(); return; }
        act(card, event, "unblock", input.value.trim());
      }),
      h("button", { type: "button", onclick: () => { form.hidden = true; open.hidden = false; open.focus(); } }, "Cancel")));
  const open = h("button", { type: "button", "aria-describedby": title.id, onclick: () => { form.hidden = false; open.hidden = true; input.focus(); } }, "Unblock without a code…");
  card.append(
    top(item, h("span", { class: "danger" }, shape("square"), "danger zone"), item.risk ? h("span", {}, `risk ${item.risk} of 100`) : ""),
    title,
    meta([["Wanted to", item.action], ["Operation", item.operation], ["Because", item.reason], ...whom(item).slice(1)]) ?? "",
    item.factors.length ? h("details", {}, h("summary", {}, "Factors"), reasons(item.factors)) : "",
    h("p", { class: "outcome" }),
    h("div", { class: "buttons" }, open),
    form,
  );
}

// Approvals, quotas

function buildApproval(card, item) {
  const title = h("h3", { id: `title-${++ids}`, tabindex: "-1" }, bdi(item.title));
  card.append(
    title,
    h("div", { class: "top" }, timeOf(item)),
    meta([["By", item.by], ...whom(item).slice(1)]) ?? "",
    h("p", { class: "outcome" }),
    h("div", { class: "buttons" }, button(card, title, "Revoke", "", (event) => act(card, event, "revoke"))),
  );
}
function refreshApproval(card, item) {
  retime(card, item);
}

const TONES = { __proto__: null, warn: "amber", paused: "red", exhausted: "red" };
const METRICS = { __proto__: null, requests_per_minute: "a minute", requests_per_hour: "an hour", requests_per_day: "a day" };

const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 4 });

function bar(share, tone) {
  const fill = h("i", { "data-tone": tone });
  fill.style.width = `${Math.min(100, 100 * share)}%`;
  return h("div", { class: "bar", "aria-hidden": "true" }, fill);
}

function buildQuota(card, item) {
  card.append(
    h("div", { class: "top" }, item.scope ? h("span", {}, bdi(item.scope)) : "", h("span", { class: "time", "data-resets": item.ends })),
    h("p", {}, `${number(item.used)} of ${number(item.most)} requests ${METRICS[item.metric] ?? item.metric}`, item.status === "ok" ? "" : h("b", {}, ` — ${item.status}`)),
    bar(item.most ? item.used / item.most : 0, TONES[item.status]),
  );
}

const REFUSALS = { __proto__: null, RATE_LIMIT_QUOTA_EXHAUSTED: "quota exhausted", RATE_LIMIT_QUOTA_PAUSE: "quota paused", RATE_LIMIT_EXCEEDED: "over a limit" };

function refusedBy(item) {
  if (item.by === "credential") return "no credential for the API";
  return item.by ? `refused by the API: ${item.by}` : (REFUSALS[item.code] ?? "refused by the policy");
}

function buildRefusal(card, item) {
  card.append(
    h("h3", { tabindex: "-1" }, bdi(item.caller || "Caller without authentication")),
    h("div", { class: "top" }, h("span", { class: "held" }, refusedBy(item)), h("span", {}, "last ", h("span", { class: "time", "data-asked": item.seen })), item.until > now() ? h("span", { class: "time", "data-resets": item.until }) : ""),
    h("p", {}, `${number(item.count)} ${item.count === 1 ? "call" : "calls"}, last `, bdi(item.operation)),
    meta([["Limit", item.limit], ["Session", item.session]]) ?? "",
  );
}

function buildWork(card, item) {
  const share = item.total ? item.current / item.total : (item.percentage ?? 0) / 100;
  const far = item.total ? `${number(item.current)} of ${number(item.total)}` : item.percentage === undefined ? "" : `${number(item.percentage)} %`;
  card.append(
    h("h3", { tabindex: "-1" }, bdi(item.operation)),
    h("div", { class: "top" }, h("span", {}, bdi(item.status)), timeOf(item)),
    far ? h("p", {}, far) : "",
    far ? bar(share) : "",
    meta([["Caller", item.caller]]) ?? "",
  );
}

// The log

function buildEntry(row, entry) {
  const at = new Date(entry.at);
  const when = Number.isNaN(at.valueOf()) ? entry.at : at.toLocaleString([], { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" });
  row.append(
    h("td", {}, when),
    h("td", {}, h("details", {}, h("summary", {}, h("b", {}, bdi(entry.event)), " ", bdi(entry.subject), entry.result ? " · " : "", entry.result ? bdi(entry.result) : ""), h("pre", {}, bdi(entry.all)))),
    h("td", {}, bdi(entry.by)),
  );
}
function renderLog(log) {
  const note = $("log-state");
  note.dataset.state = log.state;
  note.textContent = `${log.state === "broken" ? "⚠ " : ""}${log.note}`;
  const entries = log.entries.map((entry, index) => ({ ...entry, key: entry.id || `${index} ${entry.at}`, digest: "" }));
  $("log").hidden = entries.length === 0;
  sync($("log").tBodies[0], entries, { key: (entry) => entry.key, build: buildEntry });
  const more = $("log-more");
  const all = more.getAttribute("aria-expanded") === "true";
  [...$("log").tBodies[0].rows].forEach((row, index) => { row.hidden = !all && index >= ROWS; });
  more.hidden = entries.length <= ROWS;
  more.textContent = all ? "Show fewer" : `Show all ${entries.length}`;
}

// The whole

const LISTS = {
  challenges: { build: buildChallenge, refresh: refreshChallenge, word: "code to hand over", settle: settleAs("This challenge is gone: the agent was verified, or the challenge expired.") },
  blocks: { build: buildBlock, word: "blocked agent", settle: settleAs("This block is lifted.") },
  matters: { build: buildMatter, refresh: refreshMatter, word: "decision", settle: settleAs("This item has gone: somebody else used or decided it, or it expired.") },
  approvals: { build: buildApproval, refresh: refreshApproval },
  work: { build: buildWork },
  refusals: { build: buildRefusal },
  quotas: { key: (item) => `${item.metric} ${item.scope}`, build: buildQuota },
};

const STATUS_LISTS = new Set(["quotas", "refusals", "work"]);  // built anew at each change, since nothing can be pressed there

function render(sections) {
  const before = standing();
  if (sections.adapter) {
    const { name, problem } = sections.adapter;
    $("adapter").replaceChildren(bdi(name));
    $("problem").replaceChildren(bdi(problem));
    $("problem").hidden = !problem;
  }
  for (const [name, list] of Object.entries(LISTS)) {
    const items = sections[name];
    if (items) sync($(name), STATUS_LISTS.has(name) ? items.map((item) => ({ ...item, digest: JSON.stringify(item) })) : items, list);
  }
  if (sections.log) renderLog(sections.log);
  count();
  tick();
  mark(before);
}

function count() {
  const open = (name) => (state.sections[name] ?? []).filter((item) => !item.verdict).length;
  let all = 0;
  for (const name of ["challenges", "blocks", "matters"]) {
    $(`sec-${name}`).hidden = $(name).children.length === 0;
    $(`title-${name}`).querySelector(".count").textContent = open(name) || "";
    all += open(name);
  }
  for (const name of ["approvals", "work", "refusals"]) $(`title-${name}`).querySelector(".count").textContent = (state.sections[name] ?? []).length || "";
  $("count-queue").textContent = all || "";
  $("nothing").hidden = all > 0 || state.sections.matters === undefined || document.querySelector(".card") !== null;
  document.title = all ? `(${all}) Operator` : "Operator";
}

function live(word, text) {
  if ($("live").dataset.state !== word && word !== "starting") speak(text);
  $("live").dataset.state = word;
  if ($("live-text").textContent !== text) $("live-text").textContent = text;
}

function close(title, text) {
  state.stop?.abort();
  state.stop = null;
  state.token = "";
  sessionStorage.removeItem(STORED);
  $("gate-title").textContent = title;
  $("gate-text").textContent = text ?? "";
  $("gate").hidden = false;
  $("open").hidden = document.querySelector("footer").hidden = true;
  for (const name of Object.keys(LISTS)) $(name).replaceChildren();
  $("log").tBodies[0].replaceChildren();
  state.sections = {};
  document.title = "Operator";
  live("closed", "Closed");
  $("gate-title").focus();
}

function open() {
  $("gate").hidden = true;
  $("open").hidden = document.querySelector("footer").hidden = false;
}

// The stream: fetch, since EventSource sends no header with the token

async function listen(signal) {
  const answer = await fetch("/api/events", {
    headers: { "x-operator-token": state.token, accept: "text/event-stream" },
    credentials: "same-origin", cache: "no-store", redirect: "error", signal,
  });
  if (answer.status === 401) { close("The page is closed", (await answer.json()).message); return; }
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).message ?? "");
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) take(event);
  }
}

function take(event) {
  const lines = event.split("\n");
  if (lines[0] === "event: end") { close("This session has ended", "Press Enter in the terminal for a new address."); return; }
  const news = JSON.parse(lines.find((line) => line.startsWith("data: ")).slice(6));
  state.skew = news.now - Date.now() / 1000;
  state.since = performance.now();
  $("operator").textContent = news.operator;
  if (Object.keys(news.sections).length) {
    Object.assign(state.sections, news.sections);
    render(news.sections);
  }
  live("live", "Live");
}

async function follow() {
  const stop = new AbortController();
  state.stop = stop;
  let pause = 1000;
  while (!stop.signal.aborted) {
    const round = new AbortController();
    stop.signal.addEventListener("abort", () => round.abort(), { once: true });
    state.since = performance.now();
    const watch = setInterval(() => { if (performance.now() - state.since > SILENCE) round.abort(); }, 1000);
    let problem = "";
    try {
      await listen(round.signal);
      pause = 1000;
    } catch (error) {
      problem = error instanceof TypeError || error.name === "AbortError" ? "" : error.message;
    }
    clearInterval(watch);
    round.abort();
    if (stop.signal.aborted) return;
    live("away", problem || `Not live since ${clock(now())}: what is shown may be out of date`);
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 1.5, 5000);
  }
}

async function begin() {
  const key = location.hash.slice(1);
  if (key) history.replaceState(null, "", location.pathname);
  state.stop?.abort();
  state.token = sessionStorage.getItem(STORED) ?? "";
  let refusal = "Open the address that the terminal shows. Enter in the terminal makes a new one.";
  if (key) {
    try {
      const answer = await post("/api/enter", { key });
      if (answer.ok) {
        state.token = answer.token;
        sessionStorage.setItem(STORED, answer.token);
      } else refusal = answer.message ?? refusal;
    } catch {
      refusal = "The page's server does not answer. Is the command still running?";
    }
  }
  if (!state.token) { close("The page is closed", refusal); return; }
  open();
  follow();
}

document.addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter" && event.target instanceof HTMLButtonElement) event.preventDefault();
});
$("log-more").addEventListener("click", (event) => {
  event.target.setAttribute("aria-expanded", String(event.target.getAttribute("aria-expanded") !== "true"));
  renderLog(state.sections.log);
});
$("leave").addEventListener("click", async () => {
  await post("/api/leave", {}).catch(() => {});
  close("You have left", "Press Enter in the terminal for a new address.");
});
addEventListener("hashchange", begin);
setInterval(() => { tick(); sweep(); }, 1000);
begin();
