// The parts of a browser that the dashboard's page needs, for node: the elements that
// index.html names, an address, and a timer that the test runs.
import { readFileSync } from "node:fs";

// The delay (ms) of the page's timer; timers with another delay are node's own.
const REFRESH = 15000;

class Element {
  constructor(tag) {
    Object.assign(this, { tag, style: {}, hidden: false, value: "", text: "", clientWidth: 800 });
    this.children = [];
    this.attributes = {};
    this.listeners = {};
    this.classList = { toggle() {} };
  }

  get textContent() {
    return [this.text, ...this.children.map((child) => child.textContent)].filter(Boolean).join(" ");
  }

  set textContent(text) {
    this.replaceChildren();
    this.text = String(text);
  }

  get firstChild() {
    return this.children[0];
  }

  append(...children) {
    this.children.push(...children);
  }

  replaceChildren(...children) {
    this.text = "";
    this.children = children;
  }

  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }

  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }

  fire(name) {
    this.listeners[name]({ target: this, preventDefault() {} });
  }

  reset() {}
}

function readElements(html) {
  const elements = new Map();
  for (const [tag, name, id] of html.matchAll(/<(\w+)\b[^>]*?\bid="([^"]+)"[^>]*>/g)) {
    elements.set(id, Object.assign(new Element(name), { hidden: /\shidden\b/.test(tag) }));
  }
  return elements;
}

export class Page {
  // `web` is the folder of the page's files; their modules import each other by relative
  // paths.
  constructor(web, fetch) {
    this.web = web;
    this.elements = readElements(readFileSync(`${web}/index.html`, "utf8"));
    this.drawn = null; // the options and data of the chart
    this.window = new Element("window");
    this.waiting = [];
    this.install(fetch);
  }

  install(fetch) {
    const page = this;
    const kept = new Map();
    const address = (url) => ({ search: url.startsWith("?") ? url : "" });
    const startTimer = globalThis.setTimeout;
    Object.assign(globalThis, {
      document: {
        documentElement: {},
        getElementById: (id) => page.elements.get(id) ?? null,
        createElement: (tag) => new Element(tag),
      },
      location: address("/"),
      history: { pushState(state, title, url) { globalThis.location = address(url); } },
      sessionStorage: {
        getItem: (name) => kept.get(name) ?? null,
        setItem: (name, value) => kept.set(name, value),
        removeItem: (name) => kept.delete(name),
      },
      addEventListener: (name, listener) => page.window.addEventListener(name, listener),
      matchMedia: () => new Element("media"),
      getComputedStyle: () => ({ getPropertyValue: () => "" }),
      ResizeObserver: class { observe() {} },
      Option: class extends Element {
        constructor(text, value) {
          super("option");
          Object.assign(this, { text, value });
        }
      },
      uPlot: class {
        static paths = { bars() {} };
        constructor(options, data) { page.drawn = { options, data }; }
        destroy() { page.drawn = null; }
      },
      setTimeout(run, ms, ...args) {
        if (ms !== REFRESH) {
          return startTimer(run, ms, ...args);
        }
        page.refresh = run;
        page.waiting.splice(0).forEach((done) => done());
      },
      fetch,
    });
    globalThis.navigator ??= { language: "en-US" };
  }

  $(id) {
    return this.elements.get(id);
  }

  text(id) {
    return this.$(id).textContent;
  }

  // Calls `act`, and waits until the page has loaded its new content.
  async after(act) {
    const loaded = new Promise((done) => this.waiting.push(done));
    act();
    await loaded;
  }

  open(address) {
    globalThis.location = { search: address };
    return this.after(() => import(`${this.web}/app.js`));
  }

  search(text) {
    this.$("code").value = text;
    this.$("search").fire("submit");
  }

  // Returns the page's texts, and the link that they are about.
  shown() {
    return {
      link: this.$("link").hidden ? null : this.text("link-code"),
      about: this.$("link").hidden ? null : this.text("link-about"),
      people: this.text("people"),
      country: this.text("country"),
      chart: this.drawn && Math.max(...this.drawn.data[1]),
      problem: this.$("problem").hidden ? null : this.text("problem"),
    };
  }
}

// Waits until all work under way that needs no outside answer has ended.
export async function calm() {
  for (let i = 0; i < 50; i++) {
    await new Promise(setImmediate);
  }
}

// An API in which a link's number of clicks is its id, all from a country of its own.
export class Api {
  constructor() {
    this.links = { A: "11", B: "22" };
    this.asked = [];
    this.holds = () => false;
    this.failure = null;
    this.held = [];
    this.fetch = (url, options) => this.answer(new URL(url, "http://api"), options);
  }

  // Answers that are held come after release(), even if the page has aborted the request.
  async answer(url, { headers, signal }) {
    const params = Object.fromEntries(url.searchParams);
    this.asked.push({ path: url.pathname, ...params, headers, signal });
    const [status, body] = this.body(url.pathname, params);
    if (this.holds(params)) {
      await new Promise((release) => this.held.push(release));
    }
    // As after a 304: the headers of a kept answer are newer than its body.
    const fields = new Headers({ "Complete-Until": "2026-10-05T06:00:00Z" });
    return { ok: status === 200, status, headers: fields, json: async () => body };
  }

  release() {
    this.held.splice(0).forEach((release) => release());
  }

  body(path, { code, link_id, group_by }) {
    const id = link_id ?? (code ? this.links[code] : undefined);
    if (this.failure) {
      return [this.failure, { detail: `failed with ${this.failure}` }];
    }
    if ((code || link_id) && !id) {
      return [404, { detail: "there is no such link" }];
    }
    const clicks = Number(id ?? 100);
    const total = { clicks, humans: clicks, visitors: clicks };
    const start = "2026-10-05T00:00:00Z";
    return [200, {
      ...(id ? { link_id: id, code: code ?? Object.keys(this.links)[0] } : {}),
      total, data: [{ start, ...total }], complete_until: "2026-10-05T05:00:00Z",
      unique_error: 0, links: [], lower_bound: false,
      groups: group_by ? [{ value: `country of ${id}`, clicks }] : undefined,
    }];
  }
}
