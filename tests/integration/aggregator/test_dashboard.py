"""The dashboard shows what the API returns: its own modules are run with a real
aggregator; and its page with an API that answers late, wrongly or not at all."""
import base64
import json
import os
import subprocess

import pytest

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
    """Returns the page's figures of this range, computed by its own modules."""
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
    """Returns redirects, each of a visitor of its own."""
    return [make_click(
        rng, rng.randrange(FROM * 1000, TO * 1000), 1, outcome="redirected",
        verdict=verdict, unique_identity=f"{first_visitor + i:020}",
        ip=f"::ffff:10.1.0.{first_visitor + i}") for i in range(count)]


@pytest.mark.proof
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
        "isEstimate": True, "share": 26 / 66}
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


@pytest.mark.proof
def test_the_page_asks_with_the_key_it_was_given(aggregator, migrated,
                                                 workdir):
    migrated.link("code1", 1)
    path = workdir / "keys"
    path.write_text(key_line("eye", "read accounts=*"))
    made = aggregator(keys_file=str(path))

    assert shown(made.url, "eye")["totals"]["clicks"] == 0
    for key, says in (None, "send an API key"), ("wrong", "is not known here"):
        done = run_page(made.url, key)
        assert done.returncode != 0 and says in done.stderr
        assert "needsKey: true" in done.stderr


@pytest.mark.long
def test_a_link_of_days_whose_rows_are_gone_is_shown(keeper, world, clickhouse):  # noqa: F811
    rng = random.Random(7)
    rows = [make_click(rng, keeping.FROM * 1000 + i, 1, outcome="redirected",
                       verdict="human") for i in range(50)]
    world.insert(rows)
    made = keeper()
    wait_gone(clickhouse, 1)

    page = shown(made.url, code="code1", start=keeping.FROM, end=keeping.TO)
    assert page["totals"]["people"] == 50
    for part in page["breakdowns"]:
        assert sum(group["clicks"] for group in part["answer"]["groups"]) == 50
    page = shown(made.url, code="code1", start=keeping.TO, end=keeping.TO + 3600)
    assert [part["answer"]["groups"] for part in page["breakdowns"]] == [[], []]


# --- the page itself -------------------------------------------------------------

SUPPORT = servers.ROOT / "tests/integration/support/page.mjs"


@pytest.fixture
def play(tmp_path):
    """play(script, ...) returns what the script prints about the page."""
    for path in (servers.ROOT / "web").iterdir():
        (tmp_path / path.name).write_text(
            path.read_text().replace(' from "/', ' from "./'))
    (tmp_path / "package.json").write_text('{"type": "module"}')

    def run(script, *args):
        script = f"""
import {{ Api, Page, calm }} from "{SUPPORT}";
const [web, ...args] = JSON.parse(process.argv[1]);
const served = globalThis.fetch;
const api = new Api(), page = new Page(web, api.fetch);
let said;
{script}
process.stdout.write(JSON.stringify(said), () => process.exit(0));
"""
        done = subprocess.run(
            ["node", "--input-type=module", "-e", script,
             json.dumps([str(tmp_path), *args])],
            capture_output=True, text=True, timeout=60, env={
                **os.environ, "LC_ALL": "en_US.UTF-8", "TZ": "UTC"})
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    return run


def view_of(code, link, which="present"):
    owner = {"present": "the code's present", "former": "a former"}[which]
    end = "" if which == "present" else " of the code"
    return {"link": code, "people": str(link), "chart": link, "problem": None,
            "about": f"statistics of link {link}, {owner} owner{end}",
            "country": f"country of {link} {link} 100.0 %"}


NOTHING = {"link": None, "about": None, "people": "–", "country": "",
           "chart": None}


@pytest.mark.parametrize("held", ["true", "group_by", "!group_by"])
def test_answers_that_come_late_change_nothing(play, held):
    """The answers belong to the former view, and another was chosen meanwhile."""
    before, after, given_up = play(f"""
await page.open("");
api.holds = ({{ code, group_by }}) => code === "A" && {held};
page.search("A");
await calm();
await page.after(() => page.search("B"));
said = [page.shown()];
api.release();
await calm();
api.release();
await calm();
said.push(page.shown(), api.asked.filter(({{ code }}) => code === "A").every(
  ({{ signal }}) => signal?.aborted));
""")
    assert before == after == view_of("B", 22)
    assert given_up


def test_a_view_is_drawn_when_all_of_it_is_there(play):
    """The figures of the former view stay until then, and are marked."""
    assert play("""
await page.open("?code=A");
api.holds = ({ group_by }) => group_by === "country";
const loaded = page.after(() => page.search("B"));
await calm();
said = [page.shown(), page.$("figures").attributes["aria-busy"]];
api.release();
await loaded;
said.push(page.shown(), page.$("figures").attributes["aria-busy"]);
""") == [view_of("A", 11), "true", view_of("B", 22), "false"]


def test_a_code_that_goes_to_another_link_meanwhile_mixes_nothing(play):
    shown, later = play("""
await page.open("");
api.holds = ({ group_by }) => {
  api.links.A = group_by ? "33" : "11";
  return false;
};
await page.after(() => page.search("A"));
said = [page.shown()];
api.holds = () => false;
api.links.A = "33";
await page.after(() => page.refresh());
said.push(page.shown());
""")
    assert shown == {
        **NOTHING, "problem": "the code has just been given to another link"}
    assert later == view_of("A", 33)


def test_figures_do_not_stay_below_another_views_error(play):
    assert play("""
await page.open("?code=A");
await page.after(() => page.search("nosuchcode99"));
said = [page.shown()];
await page.after(() => page.search("A"));
said.push(page.shown());
""") == [{**NOTHING, "problem": "there is no such link"}, view_of("A", 11)]


def test_figures_stay_when_the_same_view_cannot_be_had_anew(play):
    assert play("""
await page.open("?code=A");
api.failure = 503;
await page.after(() => page.refresh());
said = page.shown();
""") == {**view_of("A", 11), "problem": "failed with 503"}


@pytest.mark.parametrize("status", [401, 403])
def test_what_a_key_has_shown_goes_with_it(play, status):
    """The server refuses the key, or the user removes it."""
    refused, asks, again, forgotten, headers = play(f"""
sessionStorage.setItem("shortloop.key", "first");
await page.open("?code=A");
api.failure = {status};
await page.after(() => page.refresh());
said = [page.shown(), !page.$("access").hidden];
api.failure = null;
page.$("key").value = "second";
await page.after(() => page.$("access").fire("submit"));
said.push(page.shown());
api.holds = () => true;
page.$("forget").fire("click");
said.push(page.shown(), api.asked.map(({{ headers }}) => headers.Authorization));
""")
    assert refused == {**NOTHING, "problem": f"failed with {status}"}
    assert asks
    assert again == view_of("A", 11)
    assert forgotten == {**NOTHING, "problem": None}
    assert headers[0] == "Bearer first" and headers[-3] == "Bearer second"
    assert headers[-1] is None


def test_a_refresh_leaves_what_is_being_typed(play):
    typed, same, offered = play("""
await page.open("?code=A");
const zones = page.$("zone").children;
page.$("code").value = "half a co";
await page.after(() => page.refresh());
said = [page.$("code").value, page.$("zone").children === zones];
await page.after(() => {
  location = { search: "?code=B&range=7d&tz=Asia/Tokyo" };
  page.window.fire("popstate");
});
said.push(["code", "range", "zone"].map((id) => page.$(id).value));
""")
    assert typed == "half a co" and same
    assert offered == ["B", "7d", "Asia/Tokyo"]


def test_choices_add_up_in_the_address(play):
    """This also works in browsers whose URLSearchParams have no size."""
    assert play("""
delete URLSearchParams.prototype.size;
await page.open("");
said = [];
for (const [id, value] of [["range", "7d"], ["zone", "Asia/Tokyo"]]) {
  page.$(id).value = value;
  await page.after(() => page.$(id).fire("change"));
  said.push(location.search);
}
await page.after(() => page.search("https://short.example/A/?x=1#y"));
said.push(location.search);
""") == ["?range=7d", "?range=7d&tz=Asia%2FTokyo",
         "?range=7d&tz=Asia%2FTokyo&code=A"]


def test_complete_until_is_told_in_the_chosen_zone(play):
    assert play("""
await page.open("?tz=Asia/Kolkata");
said = page.text("complete");
""").replace("\u202f", " ") == \
        "Complete until 10/5/2026, 11:30:00 AM GMT+5:30"


def test_what_is_left_out_or_estimated_is_marked(play):
    assert play("""
const body = api.body.bind(api);
api.body = (path, params) => {
  const [status, told] = body(path, params);
  return [status, { ...told, lower_bound: true, rest: { clicks: 300 }, unique_error: 0.01,
    links: [{ code: "A", link_id: "11", clicks: 7 }] }];
};
await page.open("");
said = ["visitors", "top"].map((id) => page.text(id)).concat(
  page.$("country").children.map((row) => row.textContent));
""") == ["≈ 100", "A ≥ 7", "country of undefined ≥ 100 100.0 %",
         "others 300 300.0 %"]


@pytest.fixture
def two_owners(migrated):
    """Links of one code, the later one of the present owner, and a link of another
    code."""
    rng = random.Random(7)
    rows = []
    for link, count in (1, 40), (2, 3), (3, 9):
        rows += [make_click(rng, FROM * 1000 + i, link, code="again",
                            outcome="redirected", verdict="human")
                 for i in range(count)]
    migrated.insert(rows)
    migrated.link("again", 1, generation=1)
    migrated.link("again", 2, generation=2, created_at=1790000100)
    migrated.link("other", 3)
    return len(rows)


# The page with a real aggregator, at another time.
SERVED = """
const [base, now, ...more] = args;
Date.now = () => now;
globalThis.fetch = (path, options) => served(base + path, options);
"""


@pytest.mark.proof
def test_the_rows_of_the_busiest_lead_to_their_own_clicks(
        aggregator, two_owners, play):
    made = aggregator()
    settled(made, two_owners, FROM, TO)

    rows = play(SERVED + """
await page.open("?tz=Asia/Tokyo");
said = [];
for (const i of page.$("top").children.keys()) {
  const name = page.$("top").children[i].firstChild.children[1];
  await page.after(() => name.fire("click"));
  said.push([name.href === location.search, page.shown()]);
  await page.after(() => {
    location = { search: "?tz=Asia/Tokyo" };
    page.window.fire("popstate");
  });
}
""", made.url, TO * 1000)
    assert [(shown["link"], shown["people"], shown["about"])
            for _, shown in rows] == [
        ("again", "40", "statistics of link 1, a former owner of the code"),
        ("other", "9", "statistics of link 3, the code's present owner"),
        ("again", "3", "statistics of link 2, the code's present owner")]
    assert all(same for same, _ in rows)


BARS = [(range_, zone, seconds, count) for range_, seconds, count in (
    ("24h", 3600, 24), ("7d", 86400, 7), ("30d", 86400, 30))
    for zone in ("UTC", "Asia/Dubai", "Asia/Kolkata")]


@pytest.mark.long
def test_each_bar_of_the_chart_is_a_whole_one(aggregator, two_owners, play):
    """The page may be opened at any minute in any zone."""
    made = aggregator()
    settled(made, two_owners, FROM, TO)

    drawn = play(SERVED + """
said = [];
await page.open("");
for (const [range, zone] of more) {
  await page.after(() => {
    location = { search: `?range=${range}&tz=${zone}` };
    page.window.fire("popstate");
  });
  const { options, data: [starts] } = page.drawn;
  said.push([starts, options.scales.x.range(null, starts[0], starts.at(-1))]);
}
""", made.url, (TO + 12 * 3600 + 60) * 1000, *BARS)
    for (starts, ends), (range_, zone, seconds, count) in zip(drawn, BARS):
        assert starts == [starts[0] + i * seconds
                          for i in range(count)], (range_, zone)
        assert ends == [starts[0] - seconds / 2, starts[-1] + seconds / 2]
