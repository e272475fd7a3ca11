"""An upgrade from the version before: its data, its programs beside the new ones,
visitors and creators all the while.

Each program of the old version is replaced by one of the new, which for a while
runs beside another of the old; collectors end by kill -9.  Nothing is issued,
counted or settled twice or not at all.  What the old one had settled wrong before
is settled again by hand.
"""
import collections
import json
import pathlib
import threading
import time

import pytest
import requests

from support.asking import ask_range
from support.clicks import (Collector, counted, expected_link_counts,
                            link_counts, rfc3339, some_clicks)
from support.events import Click, link_event
from support.keys import key_line
from support.previous import BEFORE_NAMES, RELEASED, build
from support.program import BIN, eventually
from support.rule_files import UA_RULES

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

DAY = 86400
KEY = "upgrade-key"
PATIENCE = 120


@pytest.fixture(params=[RELEASED, BEFORE_NAMES],
                ids=["released", "before-names"])
def old(request):
    return build(request.param)


@pytest.fixture
def released():
    return build(RELEASED)


class World:
    """One Redis, one broker, one ClickHouse, and programs of two versions."""

    def __init__(self, kafka, clickhouse, program, base_config, workdir):
        self.kafka = kafka
        self.clickhouse = clickhouse
        self.program = program
        self.topics = kafka.collector_topics(4, 2)
        secret = workdir / "space.key"
        secret.write_text("0123456789abcdef0123456789abcdef")
        keys = workdir / "api.keys"
        keys.write_text(
            key_line("boss", "admin", KEY))
        self.sections = {
            "kafka": {**base_config["kafka"], **self.topics},
            "links": {
                "ttl_classes": ["3s", "30d"], "hold_max": "10s",
                "quarantine": "2d", "renew_every": "1s", "grant_blocks": 2,
                "spaces": [
                    {"name": "s7", "number": 1, "length": 7,
                     "strategy": "sequence", "block_size": 20,
                     "keys": [{"version": 0, "key": f"file:{secret}"}]},
                    {"name": "h6", "number": 2, "length": 6,
                     "strategy": "hash",
                     "keys": [{"version": 0, "key": f"file:{secret}"}]}]},
            "allocator": {"keys_file": str(keys)},
            "redirector": {"threads": 1, "cache_ttl": "5s", "cache_stale": "30s"},
            "collector": {
                "group": self.topics["topic_clicks"], "batch_age": "100ms",
                "report_every": "200ms",
                "ua_rules": UA_RULES},
            "aggregator": {"settle_every": "500ms", "lease": "2s",
                           "day_grace": "0s", "resettle_every": "1s",
                           "recheck_every": "1s"}}

    def start(self, name, binaries, ready=True, **allocator):
        sections = {**self.sections, "allocator": {
            **self.sections["allocator"], "node": 2 if binaries == BIN else 1,
            **allocator}}
        return self.program(name, sections, binaries=binaries, ready=ready)

    def run(self, name, binaries, *args):
        """The exit status must be 0; returns what it wrote."""
        status, output = self.program(name, self.sections, start=False,
                                      args=args, binaries=binaries).run()
        assert status == 0, output
        return output

    def messages(self):
        """{(partition, offset): link_id} of the topic of clicks"""
        return {(m.partition(), m.offset()):
                Click.FromString(m.value()).link_id
                for m in self.kafka.consume(self.topics["topic_clicks"],
                                            seconds=60)}

    def rows(self):
        """[(partition, offset)] of all rows"""
        text = self.clickhouse.query("SELECT partition, offset FROM clicks "
                                     "FORMAT TabSeparated")
        return [tuple(map(int, line.split())) for line in text.splitlines()]

    def days_settled(self):
        return int(self.clickhouse.value(
            "SELECT count() FROM settled "
            "WHERE toString(kind) IN ('day', 'link_day')"))

    def clicks_of(self, aggregator, link_id, start, end):
        return ask_range(aggregator, start, end, interval="day",
                         bots="include", link_id=link_id)["total"]["clicks"]


class Public:
    """Creates links at each allocator and visits them at each redirector, until
    it is stopped; which ones there are may change meanwhile."""

    def __init__(self, allocators, redirectors):
        self.allocators = allocators
        self.redirectors = redirectors
        self.links = []
        self.visits = collections.Counter()  # link_id: answered visits
        self.wrong = []
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def use(self, allocators, redirectors):
        """Returns when nobody is on the way to another one any more."""
        with self._lock:
            self.allocators, self.redirectors = allocators, redirectors

    def some_more(self, links=30, visits=200):
        made, seen = len(self.links), self.visits.total()
        eventually(lambda: len(self.links) >= made + links and
                   self.visits.total() >= seen + visits or self.wrong,
                   PATIENCE, what="links and visits")
        assert not self.wrong, self.wrong[:3]

    def _run(self):
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {KEY}"
        number = 0
        while not self._ended.is_set():
            number += 1
            with self._lock:
                try:
                    self._step(session, number)
                except Exception as e:  # shown by the test's own thread
                    self.wrong.append(repr(e))
                    return

    def _step(self, session, number):
        if number % 8 == 1:
            allocator = self.allocators[number // 8 % len(self.allocators)]
            url = f"https://example.com/{number}"
            answer = session.post(
                f"{allocator.url}/v1/links", timeout=30, json={
                    "url": url, "ttl": "30d",
                    "space": "h6" if number % 16 == 1 else "s7"})
            if answer.status_code != 201:
                self.wrong.append((allocator.config_path, answer.text))
                return
            self.links.append({**answer.json(), "url": url})
        link = self.links[number * 7919 % len(self.links)]
        redirector = self.redirectors[number % len(self.redirectors)]
        answer = session.get(f"{redirector.url}/{link['code']}", timeout=30,
                             allow_redirects=False)
        self.visits[link["link_id"]] += 1
        if (answer.status_code, answer.headers.get("Location")) != (
                302, link["url"]):
            self.wrong.append((link, answer.status_code, answer.headers))


def post(allocator, **link):
    answer = requests.post(f"{allocator.url}/v1/links", json=link, timeout=30,
                           headers={"Authorization": f"Bearer {KEY}"})
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def assert_reclaims_of(world, allocator, binaries):
    """Blocks of that allocator are freed by the reclaimer of these programs."""
    for n in range(25):
        post(allocator, url=f"https://example.com/short/{n}", ttl="3s",
             space="s7")

    def freed():
        plan = json.loads(world.run("reclaimer", binaries, "run", "--json"))
        return sum(space["freed"] for space in plan["spaces"])
    eventually(freed, PATIENCE, every=1, what="a block freed")


def hashed(allocator, url):
    """The URL's code in a space of hashes, and its link_id."""
    link = post(allocator, url=url, ttl="30d", space="h6")
    return link["code"], link["link_id"]


def assert_urls_keep_their_codes(old, new, redirector, with_accounts):
    """The new one answers what the old one made.  `with_accounts`: so does the old
    one.  Else accounts are in the new one's codes only: the old one does not know
    them, and what it makes then is answered from then on."""
    known = hashed(old, "https://example.com/known")
    assert hashed(new, "https://example.com/known") == known
    url = "https://example.com/unknown"
    first, second = hashed(new, url), hashed(old, url)
    assert (first == second) == with_accounts
    assert hashed(new, url) == hashed(old, url) == second
    for code, _ in (first, second):
        answer = requests.get(f"{redirector.url}/{code}", timeout=30,
                              allow_redirects=False)
        assert answer.headers["Location"] == url


@pytest.fixture
def world(redis, kafka, clickhouse, program, base_config, workdir):
    return World(kafka, clickhouse, program, base_config, workdir)


def yesterday(count, link_id=77):
    """Clicks of the day before, as its redirectors sent them."""
    start = int(time.time()) // DAY * DAY - DAY
    return start, [Click(
        event_id=i + 1, event_id_high=9, link_id=link_id, code="yesterday",
        time_ms=(start + i * 60) * 1000, outcome=1, status=302,
        client_ip=bytes([8, 8, 8, i % 250]), user_agent=b"Mozilla/5.0"
        ).SerializeToString() for i in range(count)]


def test_an_old_redirector_leads_to_the_fallback_of_an_app(world, released):
    """And an old allocator keeps the app when it changes something else.  It made the
    spaces: it cannot make codes of a hash space that a new one made."""
    for space in ("s7", "h6"):
        world.run("allocator", released, "create-space", "--no-archive", "--space",
                  space)
    new, old = (world.start("allocator", BIN, url_schemes=["myapp"]),
                world.start("allocator", released))
    code = post(new, url="https://example.org/", ttl="30d", space="s7", targets={
        "ios": {"app": "myapp://item/7",
                "fallback": "https://store.example/"}})["code"]
    changed = requests.patch(
        f"{old.url}/v1/links/{code}", json={"description": "changed"},
        headers={"Authorization": f"Bearer {KEY}"}, timeout=30)
    assert changed.json()["description"] == "changed"

    def visit(redirector):
        return requests.get(f"{redirector.url}/{code}", allow_redirects=False,
                            timeout=30, headers={"User-Agent": "iPhone"})
    answer = visit(world.start("redirector", released))
    assert (answer.status_code, answer.headers["Location"]) == (
        302, "https://store.example/")
    answer = visit(world.start("redirector", BIN))
    assert answer.status_code == 200
    assert 'data-open="myapp://item/7"' in answer.text


def test_old_and_new_programs_go_on_with_one_another_s_data(
        world, old, released, redis, workdir):
    world.run("aggregator", old, "migrate")
    for space in ("s7", "h6"):
        world.run("allocator", old, "create-space", "--no-archive", "--space",
                  space)
    high_water = str(workdir / "high-water")
    before = {name: world.start(name, old, seen_file=high_water)
              for name in ("allocator", "redirector", "aggregator")}
    crew = [world.start("collector", old) for _ in range(2)]
    # Of a link of which nothing else is known than that it is in the archive.
    world.kafka.produce(world.topics["topic_links"], [link_event(76)])
    day, clicks = yesterday(300)
    world.kafka.produce(world.topics["topic_clicks"], clicks)
    eventually(lambda: world.days_settled() >= 1, PATIENCE,
               what="a day settled by the old aggregator")
    eventually(lambda: int(world.clickhouse.value(
        "SELECT count() FROM links WHERE link_id = 77")), PATIENCE,
        what="the link in the archive")
    eventually(lambda: world.clicks_of(before["aggregator"], 77, day,
                                       day + DAY) == 300, PATIENCE,
               what="a day settled whole")

    with Public([before["allocator"]], [before["redirector"]]) as public:
        public.some_more()

        # The tables first, while the old programs run; then beside each other.
        world.run("aggregator", BIN, "migrate")
        public.some_more()
        after = {name: world.start(name, BIN)
                 for name in ("allocator", "redirector", "aggregator")}
        public.use([before["allocator"], after["allocator"]],
                   [before["redirector"], after["redirector"]])
        assert_urls_keep_their_codes(before["allocator"], after["allocator"],
                                     before["redirector"],
                                     with_accounts=old != released)
        assert_reclaims_of(world, before["allocator"], BIN)
        assert_reclaims_of(world, after["allocator"], old)
        for binaries in (old, BIN):
            world.run("reclaimer", binaries, "verify")
        crew[0].kill()
        crew.append(world.start("collector", BIN))
        public.some_more()
        # Back and forth, as in an upgrade that somebody thinks better of.
        crew[2].kill()
        crew[0].start()
        public.some_more()
        crew[0].kill()
        crew[2].start()
        crew[1].kill()
        assert before["aggregator"].stop() == 0
        public.some_more()
        public.use([after["allocator"]], [after["redirector"]])
        assert before["allocator"].stop() == 0
        assert before["redirector"].stop() == 0
        public.some_more()
        # What the old allocator has seen is known to the one in its place.
        assert b"s7" in pathlib.Path(high_water).read_bytes()
        successor = world.start("allocator", BIN, node=3,
                                high_water_file=high_water)
        public.use([after["allocator"], successor], [after["redirector"]])
        public.some_more()
    assert not public.wrong, public.wrong[:3]
    assert after["redirector"].stop() == 0

    codes = [link["code"] for link in public.links]
    assert len(set(codes)) == len(codes)
    assert len({link["link_id"] for link in public.links}) == len(codes)

    sent = world.messages()
    eventually(lambda: len(world.rows()) >= len(sent), PATIENCE,
               what="all rows")
    assert sorted(world.rows()) == sorted(sent)
    counted = collections.Counter(map(str, sent.values()))
    assert {i: counted[i] for i in public.visits} == dict(public.visits)

    def agreed():
        status, output = world.program(
            "collector", world.sections, start=False,
            args=["verify", "--from", "1970-01-01", "--json"]).run()
        said = json.loads(output.splitlines()[0])
        assert status == 0, said
        return not said["settled"]["hours_waiting"] and said
    said = eventually(agreed, PATIENCE, every=1, what="all hours settled")
    assert said["rows"] == said["events"] == len(sent)

    now = int(time.time()) // 900 * 900 + 900
    for link_id, visits in public.visits.most_common(5):
        assert world.clicks_of(after["aggregator"], link_id, day,
                               now) == visits
    assert world.clicks_of(after["aggregator"], 77, day, day + DAY) == 300

    # What the old version issued is reclaimed by the new one.
    world.run("reclaimer", BIN, "verify")
    world.run("reclaimer", BIN, "run")


# --- what it has counted wrong ---------------------------------------------------

# Hours of blocks that began further than this were never settled.
BEYOND = 1_800_000_000


def test_what_the_old_version_has_settled_wrong_is_settled_again(
        released, clickhouse, redis, program):
    settings = {"aggregator": {"settle_every": "500ms", "day_grace": "0s"}}

    def run(binaries, *args):
        return program("aggregator", settings, start=False, args=args,
                       binaries=binaries).run()

    def events(made, start, end):
        return ask_range(made, start, end, interval="day")["total"]["events"]

    midnight = int(time.time()) // DAY * DAY
    doubled, unsettled, later = (midnight - n * DAY for n in (3, 2, 1))
    told = Collector(clickhouse, partitions=2)

    def insert(seed, number, start, partition=0):
        made = some_clicks(seed, number, [(start, start + DAY)])
        told.insert(made, partition, append_ms=midnight * 1000)
        return made

    assert run(released, "migrate")[0] == 0
    told.report([], 1, midnight * 1000)
    rows = insert(1, 300, doubled)
    before = program("aggregator", settings, binaries=released)
    eventually(lambda: events(before, doubled, unsettled) == 300 and int(
        clickhouse.value("SELECT count() FROM visit_statistics")), PATIENCE,
        what="a day settled by the old aggregator")
    told.offsets[1] = BEYOND
    rows += insert(2, 200, unsettled, partition=1)
    rows += insert(3, 100, later)
    eventually(lambda: events(before, later, midnight) == 100, PATIENCE,
               what="a later day settled")
    assert events(before, unsettled, later) == 0
    assert before.stop() == 0
    # As by a request that was sent twice, and by a server that started anew.
    for table, day in (("stats_hourly", "toDate(hour)"),
                       ("clicks_hourly", "toDate(slot)"),
                       ("visit_statistics", "day")):
        clickhouse.query(f"INSERT INTO {table} SELECT * FROM {table} "
                         f"WHERE {day} = toDate({doubled})")

    assert run(BIN, "migrate")[0] == 0
    span = ["settle", "--from", rfc3339(doubled), "--to", rfc3339(midnight)]
    status, output = run(BIN, *span)
    assert status == 70 and "--allow-fewer" in output, output
    status, output = run(BIN, *span, "--allow-fewer")
    assert status == 0, output

    assert link_counts(clickhouse) == expected_link_counts(rows)
    after = program("aggregator", settings)
    for bots in ("include", "exclude"):
        assert ask_range(after, doubled, midnight, interval="month",
                         bots=bots)["total"] == counted(rows, bots)
