// The aggregator's HTTP API.

const MINUTE = 60e3;

// Half-open, by the zone's clock: days begin at its midnight, so that the first is as long
// as the others, and the present hour is in it whole.
export function rangeOf(name, interval, zone) {
  const now = Math.floor(Date.now() / MINUTE) * MINUTE;
  const at = clock(zone, now);
  const count = parseInt(name, 10);
  const to = now + (60 - at.minute) * MINUTE;
  const from = interval === "day"
    ? new Date(Date.UTC(at.year, at.month - 1, at.day - count + 1)).toISOString().slice(0, 10)
    : isoTime(to - count * 60 * MINUTE);
  return { from, to: isoTime(to), tz: zone };
}

// What the zone's calendar and clock say at that instant.
function clock(zone, ms) {
  const format = new Intl.DateTimeFormat("en", {
    timeZone: zone, year: "numeric", month: "numeric", day: "numeric",
    hour: "numeric", minute: "numeric",
  });
  return Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
}

function isoTime(ms) {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}

// The API key, where the aggregator asks for one; it is this tab's, until that is closed.
const KEY = "shortloop.key";

export function useKey(key) {
  sessionStorage.setItem(KEY, key);
}

export function forgetKey() {
  sessionStorage.removeItem(KEY);
}

export function hasKey() {
  return Boolean(globalThis.sessionStorage?.getItem(KEY));
}

function headers() {
  return hasKey() ? { Authorization: `Bearer ${sessionStorage.getItem(KEY)}` } : {};
}

// With a signal the question can be given up.
async function get(path, { signal, ...params }) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== "");
  const answer = await fetch(path + "?" + new URLSearchParams(given), { headers: headers(), signal });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const why = new Error(body.detail || body.title || `the server answered ${answer.status}`);
    why.needsKey = answer.status === 401 || answer.status === 403;
    // Others may be answered: of days whose clicks were dropped not all is told.
    why.isRefused = answer.status === 400;
    why.isUnknown = answer.status === 404;
    throw why;
  }
  return body;
}

export function clicks(params) {
  return get("/v1/clicks", { bots: "include", ...params });
}

export function top(params) {
  return get("/v1/top", { bots: "include", ...params });
}

// The id of the link that has the code now: null where that is none that the key sees,
// undefined where it cannot be told.  No click is read for it.
export async function ownerOf(about) {
  try {
    return (await get("/v1/visit-statistics", about)).link_id;
  } catch (why) {
    return why.isUnknown ? null : undefined;
  }
}
