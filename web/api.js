// The aggregator's HTTP API.

const QUARTER = 15 * 60 * 1000;

// Half-open, cut to quarter hours, the present hour included whole.
export function rangeOf(name) {
  const unit = { h: 3600e3, d: 86400e3 }[name.slice(-1)];
  const length = parseInt(name, 10) * unit;
  const to = Math.ceil(Date.now() / 3600e3) * 3600e3;
  return { from: isoTime(to - length), to: isoTime(to) };
}

function isoTime(ms) {
  return new Date(Math.floor(ms / QUARTER) * QUARTER).toISOString().replace(".000Z", "Z");
}

// The API key, where the aggregator asks for one; it is this tab's, until that is closed.
const KEY = "shortloop.key";

export function useKey(key) {
  sessionStorage.setItem(KEY, key);
}

function withKey() {
  const key = globalThis.sessionStorage?.getItem(KEY);
  return key ? { headers: { Authorization: `Bearer ${key}` } } : {};
}

async function get(path, params) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== "");
  const answer = await fetch(path + "?" + new URLSearchParams(given), withKey());
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const why = new Error(body.detail || body.title || `the server answered ${answer.status}`);
    why.needsKey = answer.status === 401 || answer.status === 403;
    // Others may be answered: of days whose clicks were dropped not all is told.
    why.isRefused = answer.status === 400;
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
