// The dashboard: what is chosen stands in the address, so that a view can be
// shared; everything else is asked of the API, again every few seconds.

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

function chosen() {
  const params = new URLSearchParams(location.search);
  return {
    code: params.get("code") || "",
    range: params.get("range") || "24h",
    zone: params.get("tz") || Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
  };
}

function choose(change) {
  const params = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(change)) {
    value ? params.set(key, value) : params.delete(key);
  }
  history.pushState(null, "", params.size ? "?" + params : "/");
  refresh();
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

function row(name, count, most, total) {
  const made = document.createElement("tr");
  const first = element("td", "name");
  const bar = document.createElement("i");
  bar.style.width = `${most ? (100 * count) / most : 0}%`;
  first.append(bar, name);
  made.append(first, element("td", "count", count.toLocaleString()));
  if (total) {
    made.append(element("td", "part", `${((100 * count) / total).toFixed(1)} %`));
  }
  return made;
}

function fillTable(id, entries, total) {
  const most = entries.length ? entries[0].count : 0;
  const rows = entries.map((entry) => {
    const made = row(entry.name, entry.count, most, total);
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
  const groups = answer.groups.filter((group) => group.clicks > 0);
  fillTable(dimension, groups.slice(0, ROWS).map((group) => ({
    name: element("span", "", label(dimension, group.value)), count: group.clicks,
  })), answer.total.clicks);
}

function showTop(answer) {
  fillTable("top", answer.links.map((link) => {
    const name = element("a", "", link.code);
    name.href = `?code=${encodeURIComponent(link.code)}`;
    name.addEventListener("click", (event) => {
      event.preventDefault();
      choose({ code: link.code });
    });
    return { name, count: link.clicks, code: true, title: link.url };
  }), 0);
}

function showTotals(answer, shown) {
  const text = (number) => (number == null ? "–" : number.toLocaleString());
  $("people").textContent = text(shown.people);
  $("robots").textContent = text(shown.robots);
  $("share").textContent = shown.share == null ? "–" : `${(100 * shown.share).toFixed(1)} %`;
  $("visitors").textContent = text(shown.visitors);
  $("empty").hidden = shown.clicks > 0;
  $("complete").textContent = answer.complete_until
    ? `Complete until ${new Date(answer.complete_until).toLocaleString()}` : "";
}

function showLink(code, answer) {
  $("link").hidden = !code;
  $("panel-top").hidden = Boolean(code);
  if (code) {
    $("link-code").textContent = code;
    $("link-about").textContent = `statistics of link ${answer.link_id}, the code's present owner`;
  }
}

async function load(state) {
  const range = api.rangeOf(state.range);
  const about = { ...range, code: state.code };
  const interval = /^(7|30)d$/.test(state.range) ? "day" : "hour";
  const asked = await figures.ask(api, { ...about, interval, tz: state.zone });
  const whole = asked.all;
  showLink(state.code, whole);
  showTotals(whole, figures.totals(asked));
  $("chart-title").textContent = `Clicks by ${interval}`;
  whole.total.clicks ? chart.show(whole.data, state.zone) : chart.clear();
  const [parts, top] = await Promise.all([
    // Of which the series is not shown: the longest interval costs least.
    figures.breakdowns(api, { ...about, interval: "month" }, DIMENSIONS, ROWS),
    state.code ? null : api.top({ ...range, limit: ROWS }),
  ]);
  DIMENSIONS.forEach((name, i) => showBreakdown(name, parts[i]));
  if (!state.code) {
    showTop(top);
  }
}

let timer;
async function refresh() {
  clearTimeout(timer);
  const state = chosen();
  $("range").value = state.range;
  $("code").value = state.code;
  fillZones(state.zone);
  try {
    await load(state);
    $("problem").hidden = true;
    $("access").hidden = true;
  } catch (why) {
    $("problem").textContent = why.message;
    $("problem").hidden = false;
    $("access").hidden = !why.needsKey;
  }
  timer = setTimeout(refresh, REFRESH);
}

$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  choose({ code: $("code").value.trim() });
});
$("access").addEventListener("submit", (event) => {
  event.preventDefault();
  api.useKey($("key").value.trim());
  $("access").reset();
  refresh();
});
$("range").addEventListener("change", (event) => choose({ range: event.target.value }));
$("zone").addEventListener("change", (event) => choose({ tz: event.target.value }));
addEventListener("popstate", refresh);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
refresh();
