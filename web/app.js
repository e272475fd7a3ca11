// The dashboard.  The user's choices are in the address, so that a view can be
// shared; everything else is queried from the API, again every few seconds.

import * as api from "/api.js";
import { Chart } from "/chart.js";
import * as figures from "/figures.js";

const REFRESH = 15000;
const ROWS = 8;
const DIMENSIONS = ["country", "device_class", "ua_family", "os_family", "verdict"];
const VERDICTS = {
  human: "people", bot: "robots", prefetch: "prefetches", preview: "link previews",
  monitor: "monitors", scanner: "scanners",
};

const $ = (id) => document.getElementById(id);
const chart = new Chart($("chart"));
const regions = new Intl.DisplayNames([navigator.language, "en"], { type: "region" });

// The newest load, which is the only one that may draw; the view whose figures are shown.
let newest, shown = null, timer;

// A code stands for its present owner; a link_id for any owner that a code has had.
function chosen() {
  const params = new URLSearchParams(location.search);
  const link = params.get("link_id") || "";
  return {
    link,
    code: link ? "" : params.get("code") || "",
    range: params.get("range") || "24h",
    zone: params.get("tz") || Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
  };
}

function addressOf(change) {
  const params = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(change)) {
    value ? params.set(key, value) : params.delete(key);
  }
  const text = params.toString();
  return text ? "?" + text : "/";
}

function choose(change) {
  history.pushState(null, "", addressOf(change));
  begin();
}

// Returns the code in the text of the search field: a code, or a whole short link.
function codeIn(text) {
  return text.trim().replace(/[?#].*$/, "").replace(/\/+$/, "").split("/").pop();
}

// Not called at each refresh, since the user may be typing.
function fillControls(state) {
  $("range").value = state.range;
  $("code").value = state.code;
  fillZones(state.zone);
}

function fillZones(zone) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const names = new Set([zone, own, "UTC", "Europe/Berlin", "America/New_York",
    "America/Los_Angeles", "Asia/Kolkata", "Asia/Shanghai", "Australia/Sydney"]);
  $("zone").replaceChildren(...[...names].filter(Boolean).map((name) => new Option(name, name)));
  $("zone").value = zone;
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) {
    made.textContent = text;
  }
  return made;
}

function label(dimension, value) {
  if (!value) {
    return "unknown";
  }
  if (dimension === "country" && /^[A-Z]{2}$/.test(value)) {
    return regions.of(value);
  }
  return dimension === "verdict" ? VERDICTS[value] || value : value;
}

function row(name, { count, most, total, least }) {
  const made = document.createElement("tr");
  const first = element("td", "name");
  const bar = document.createElement("i");
  bar.style.width = `${most ? (100 * count) / most : 0}%`;
  first.append(bar, name);
  made.append(first, element("td", "count", (least ? "≥ " : "") + count.toLocaleString()));
  if (total) {
    made.append(element("td", "part", `${((100 * count) / total).toFixed(1)} %`));
  }
  return made;
}

// `least`: the counts are lower bounds.
function fillTable(id, entries, { total, least }) {
  const most = Math.max(...entries.map((entry) => entry.count), 0);
  const rows = entries.map((entry) => {
    const made = row(entry.name, { count: entry.count, most, total, least: least && !entry.isRest });
    made.firstChild.title = entry.title || "";
    made.firstChild.classList.toggle("code", Boolean(entry.code));
    return made;
  });
  if (rows.length) {
    $(id).replaceChildren(...rows);
  } else {
    showText(id, "nothing yet");
  }
}

function showText(id, text) {
  const made = document.createElement("tr");
  made.append(element("td", "none", text));
  $(id).replaceChildren(made);
}

function showBreakdown(dimension, { answer, why }) {
  if (why) {
    showText(dimension, why);
    return;
  }
  fillTable(dimension, figures.valuesOf(answer).map(({ value, clicks, isRest }) => ({
    name: element("span", "", isRest ? "others" : label(dimension, value)), count: clicks, isRest,
  })), { total: answer.total.clicks, least: answer.lower_bound });
}

// If a code was issued again, each owner has a row, which leads to its own clicks.
function showTop(answer) {
  fillTable("top", answer.links.map((link) => {
    const change = { code: "", link_id: link.link_id };
    const name = element("a", "", link.code);
    name.href = addressOf(change);
    name.addEventListener("click", (event) => {
      event.preventDefault();
      choose(change);
    });
    return { name, count: link.clicks, code: true, title: link.url };
  }), { least: answer.lower_bound });
}

function showTotals(answer, totals, zone) {
  const text = (number) => (number == null ? "–" : number.toLocaleString());
  $("people").textContent = text(totals.people);
  $("robots").textContent = text(totals.robots);
  $("share").textContent = totals.share == null ? "–" : `${(100 * totals.share).toFixed(1)} %`;
  $("visitors").textContent = (totals.isEstimate && totals.visitors ? "≈ " : "") + text(totals.visitors);
  $("empty").hidden = totals.clicks > 0;
  $("complete").textContent = answer.complete_until
    ? `Complete until ${new Date(answer.complete_until).toLocaleString([], {
      timeZone: zone, timeZoneName: "short" })}` : "";
}

function showLink(answer, owner) {
  const which = owner === answer.link_id ? ", the code's present owner" : ", a former owner of the code";
  $("link").hidden = false;
  $("link-code").textContent = answer.code;
  $("link-about").textContent = `statistics of link ${answer.link_id}${owner === undefined ? "" : which}`;
}

// Loads all figures of a view, so that they are drawn together, never mixed with another view's.
async function load(state, signal) {
  const interval = /^(7|30)d$/.test(state.range) ? "day" : "hour";
  const about = { ...api.rangeOf(state.range, interval, state.zone), signal };
  const link = { ...about, code: state.code, link_id: state.link };
  const asked = await figures.ask(api, { ...link, interval });
  const whole = asked.all;
  const [parts, top, owner] = await Promise.all([
    // Their series is not shown, so they use the longest interval, which costs least.
    figures.breakdowns(api, { ...link, interval: "month" }, DIMENSIONS, ROWS),
    whole.code ? null : api.top({ ...about, limit: ROWS }),
    state.link ? api.ownerOf({ code: whole.code, signal }) : whole.link_id,
  ]);
  if (!figures.areOfOneLink(asked, parts)) {
    throw new Error("the code has just been given to another link");
  }
  return { interval, asked, parts, top, owner };
}

function draw(state, { interval, asked, parts, top, owner }) {
  const whole = asked.all;
  clear();
  if (whole.code) {
    showLink(whole, owner);
  }
  showTotals(whole, figures.totals(asked), state.zone);
  $("chart-title").textContent = `Clicks by ${interval}`;
  if (whole.total.clicks) {
    chart.show(whole.data, state.zone);
  }
  DIMENSIONS.forEach((name, i) => showBreakdown(name, parts[i]));
  if (top) {
    showTop(top);
  }
  $("panel-top").hidden = !top;
}

function clear() {
  for (const id of ["people", "robots", "share", "visitors"]) {
    $(id).textContent = "–";
  }
  for (const id of ["top", ...DIMENSIONS]) {
    $(id).replaceChildren();
  }
  chart.clear();
  $("link").hidden = true;
  $("empty").hidden = true;
  $("complete").textContent = "";
}

function showProblem(why) {
  $("problem").textContent = why ? why.message : "";
  $("problem").hidden = !why;
  $("access").hidden = !why?.needsKey;
  $("forget").hidden = !api.hasKey();
}

function setBusy(busy) {
  $("figures").setAttribute("aria-busy", busy);
}

async function refresh() {
  clearTimeout(timer);
  newest?.abort();
  const mine = newest = new AbortController();
  const view = location.search;
  const state = chosen();
  setBusy(view !== shown);
  let why;
  try {
    const found = await load(state, mine.signal);
    if (!mine.signal.aborted) {
      draw(state, found);
      shown = view;
    }
  } catch (failure) {
    why = failure;
  }
  if (mine.signal.aborted) {
    return;
  }
  // Figures stay only if they are of the same view, whose refresh has just failed.
  if (why && (why.needsKey || view !== shown)) {
    clear();
    shown = null;
  }
  setBusy(false);
  showProblem(why);
  timer = setTimeout(refresh, REFRESH);
}

function begin() {
  fillControls(chosen());
  refresh();
}

// Figures loaded with the former key must not be shown with this one.
function begunAnew() {
  clear();
  shown = null;
  refresh();
}

$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  choose({ code: codeIn($("code").value), link_id: "" });
});
$("access").addEventListener("submit", (event) => {
  event.preventDefault();
  api.useKey($("key").value.trim());
  $("access").reset();
  begunAnew();
});
$("forget").addEventListener("click", () => {
  api.forgetKey();
  begunAnew();
});
$("range").addEventListener("change", (event) => choose({ range: event.target.value }));
$("zone").addEventListener("change", (event) => choose({ tz: event.target.value }));
addEventListener("popstate", begin);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
begin();
