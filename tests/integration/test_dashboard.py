"""What the dashboard shows is what the API says: its own modules are run,
against a real aggregator."""
import base64
import json
import subprocess

import servers
from support import keeping
from support.clicks import instant, make_click, rfc3339
from support.asking import aggregator, ask_range, settled  # noqa: F401
from support.keeping import keeper, wait_gone, world  # noqa: F401
from support.keys import key_line

import random

FROM, TO = instant("2026-10-05T00:00:00Z"), instant("2026-10-05T06:00:00Z")
SCRIPT = """
const [base, range, key, code, ...modules] = JSON.parse(process.argv[1]);
const [api, figures] = await Promise.all(modules.map((code) =>
  import("data:text/javascript;base64," + code)));
const ask = globalThis.fetch;
globalThis.fetch = (path, options) => ask(base + path, options);
// As a browser's; node has none.
const kept = {};
globalThis.sessionStorage = {
  getItem: (name) => kept[name] ?? null, setItem: (name, value) => { kept[name] = value; },
};
if (key) {
  api.useKey(key);
}
const about = { ...range, code, interval: "hour" };
const asked = await figures.ask(api, { ...about, tz: "UTC" });
console.log(JSON.stringify({
  totals: figures.totals(asked), columns: figures.columns(asked.all.data),
  breakdowns: await figures.breakdowns(api, about, ["country", "verdict"], 8),
}));
"""


def run_page(url, key=None, code="", start=FROM, end=TO):
    """The page's figures of this range, found out as it does."""
    modules = [base64.b64encode((servers.ROOT / "web" / name).read_bytes())
               .decode() for name in ("api.js", "figures.js")]
    return subprocess.run(
        ["node", "--input-type=module", "-e", SCRIPT, json.dumps(
            [url, {"from": rfc3339(start), "to": rfc3339(end)}, key, code,
             *modules])],
        capture_output=True, text=True, timeout=60)


def shown(url, key=None, **about):
    done = run_page(url, key, **about)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def visits(rng, verdict, count, first_visitor):
    """Redirects, each of a visitor of its own."""
    return [make_click(
        rng, rng.randrange(FROM * 1000, TO * 1000), 1, outcome="redirected",
        verdict=verdict, unique_identity=f"{first_visitor + i:020}",
        ip=f"::ffff:10.1.0.{first_visitor + i}") for i in range(count)]


def test_prefetches_are_no_people_and_robots_no_visitors(aggregator, migrated):
    rng = random.Random(7)
    rows = (visits(rng, "human", 40, 0) + visits(rng, "bot", 13, 50)
            + visits(rng, "preview", 4, 70) + visits(rng, "prefetch", 9, 80))
    migrated.insert(rows)
    migrated.link("code1", 1)
    made = aggregator()
    settled(made, len(rows), FROM, TO)

    page = shown(made.url)

    assert page["totals"] == {
        "clicks": 66, "people": 40, "robots": 26, "visitors": 40,
        "share": 26 / 66}
    hours = [(instant(bucket["start"]), bucket["clicks"], bucket["humans"])
             for bucket in ask_range(made, FROM, TO, interval="hour",
                                     bots="include")["data"]]
    assert page["columns"] == [list(column) for column in zip(*hours)]
    assert sum(page["columns"][2]) == 40


def test_a_range_without_clicks_has_no_share(aggregator, migrated):
    migrated.link("code1", 1)
    made = aggregator()

    page = shown(made.url)

    assert page["totals"]["clicks"] == 0 and page["totals"]["share"] is None


def test_the_page_asks_with_the_key_it_was_given(aggregator, migrated,
                                                 workdir):
    migrated.link("code1", 1)
    path = workdir / "keys"
    path.write_text(key_line("eye", "read"))
    made = aggregator(keys_file=str(path))

    assert shown(made.url, "eye")["totals"]["clicks"] == 0
    for key, says in (None, "send an API key"), ("wrong", "is not known here"):
        done = run_page(made.url, key)
        assert done.returncode != 0 and says in done.stderr
        assert "needsKey: true" in done.stderr


def test_a_link_of_days_whose_rows_are_gone_is_shown(keeper, world, clickhouse):  # noqa: F811
    """What cannot be told any more is said where it would stand."""
    rng = random.Random(7)
    rows = [make_click(rng, keeping.FROM * 1000 + i, 1, outcome="redirected",
                       verdict="human") for i in range(50)]
    world.insert(rows)
    made = keeper()
    wait_gone(clickhouse, 1)

    page = shown(made.url, code="code1", start=keeping.FROM, end=keeping.TO)
    assert page["totals"]["people"] == 50
    for part in page["breakdowns"]:
        assert "kept from 2026-10-25T00:00:00" in part["why"]
    page = shown(made.url, code="code1", start=keeping.TO, end=keeping.TO + 3600)
    assert [part["answer"]["groups"] for part in page["breakdowns"]] == [[], []]
