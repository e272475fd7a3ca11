// The aggregator's HTTP API.

const MINUTE = 60e3;

// The range is half-open, by the zone's clock.  Days begin at the zone's midnight, so that
// the first is as long as the others; the present hour is included as a whole.
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

// Returns the date and time in the zone at that instant.
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

// The API key, if the aggregator requires one; this tab keeps it until it is closed.
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

// A signal can abort the request.
async function get(path, { signal, ...params }) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== "");
  const answer = await fetch(path + "?" + new URLSearchParams(given), { headers: headers(), signal });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const why = new Error(body.detail || body.title || `the server answered ${answer.status}`);
    why.needsKey = answer.status === 401 || answer.status === 403;
    // Another query may succeed: some statistics of days whose clicks were dropped are gone.
    why.isRefused = answer.status === 400;
    why.isUnknown = answer.status === 404;
    throw why;
  }
  // A 304 renews the headers of an answer that the browser keeps, and not its body.
  if ("complete_until" in body) body.complete_until = answer.headers.get("Complete-Until");
  return body;
}

export function clicks(params) {
  return get("/v1/clicks", { bots: "include", ...params });
}

export function top(params) {
  return get("/v1/top", { bots: "include", ...params });
}

// Returns the id of the link that has the code now: null if there is none that the key
// may see, undefined if it is unknown.  The query reads no clicks.
export async function ownerOf(about) {
  try {
    return (await get("/v1/visit-statistics", about)).link_id;
  } catch (why) {
    return why.isUnknown ? null : undefined;
  }
}
