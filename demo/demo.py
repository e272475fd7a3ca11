"""Shows the loop closing: issue, redirect, count, expire, reuse.

Run by `make demo`, with the stack up.  Exits 0 only when every figure that it
shows beside another is the same (who is a robot was decided when the visits
were made, not by the collector's lists) and a code has come back with a new
generation.
"""

import collections
import json
import os
import subprocess
import sys
import time

import agents
import api
import console
import figures
import kinds
import proof
import traffic

LONG, SHORT = "30d", "20s"
LONG_LINKS, SHORT_LINKS = 300, 100
DIMENSIONS = ["country", "device_class", "verdict"]
CLICKS = int(os.environ.get("DEMO_CLICKS", "30000"))
ROBOT_SHARE = 0.12
BATCH = 64
DEADLINE = 60  # seconds that anything may take before the demo has failed

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEPS = os.path.join(ROOT, ".deps")
# The stack's directory, as stack/ctl has it, which is run from elsewhere.
DEV = os.environ["SHORTLOOP_DEV"] = os.path.abspath(
    os.environ.get("SHORTLOOP_DEV", os.path.join(ROOT, "build/dev")))
CONFIG = os.environ.get(
    "SHORTLOOP_CONFIG", os.path.join(DEV, "shortloop.yaml")
)
API_KEY = os.path.join(DEV, "api.key")


class Failure(Exception):
    """The demo did not show what it is there to show."""


def port(name, fallback):
    return int(os.environ.get(f"SHORTLOOP_{name}_PORT", fallback))


REDIRECTOR = ("127.0.0.1", port("REDIRECTOR", 8080))
ALLOCATOR = f"http://127.0.0.1:{port('ALLOCATOR', 8081)}"
AGGREGATOR = f"http://127.0.0.1:{port('AGGREGATOR', 8082)}"


def wait_for(what, check):
    """Polls until check() gives something; what it gave is returned."""
    until = time.monotonic() + DEADLINE
    while time.monotonic() < until:
        if (got := check()) is not None:
            return got
        time.sleep(0.3)
    raise Failure(f"{what}: not within {DEADLINE} s")


def reclaimer(*args):
    """Runs the reclaimer as an operator would; returns what it prints."""
    done = subprocess.run(
        [os.path.join(ROOT, "build/bin/reclaimer"), *args, "-c", CONFIG],
        capture_output=True, text=True, timeout=DEADLINE, cwd=ROOT,
    )
    if done.returncode != 0:
        raise Failure(
            f"reclaimer {' '.join(args)} exited {done.returncode}: "
            + done.stderr.strip()
        )
    return done.stdout


def block_of(link):
    """A link's block: the id within its space, cut to blocks of 1,000."""
    return (int(link["link_id"]) & ((1 << 42) - 1)) // 1000


class Demo:
    def __init__(self):
        with open(API_KEY) as f:
            self.allocator = api.Allocator(ALLOCATOR, f.read().strip())
        self.aggregator = api.Aggregator(AGGREGATOR)
        self.collector = proof.Collector(ROOT, CONFIG)
        self.rng = traffic.new_random()
        self.long, self.short = [], []

    # --- 1 ---------------------------------------------------------------

    def create_links(self):
        console.heading(1, "Links are issued")
        started = time.monotonic()
        for i in range(LONG_LINKS):
            self.long.append(self.allocator.create(
                f"https://shop.example/offer/{i}", LONG,
                campaign="autumn", tags=["shop"]))
        for i in range(SHORT_LINKS):
            self.short.append(self.allocator.create(
                f"https://tickets.example/seat/{i}", SHORT,
                campaign="flash-sale", tags=["tickets"]))
        seconds = time.monotonic() - started
        console.say(
            f"{LONG_LINKS} links that live {LONG}, {SHORT_LINKS} that live "
            f"{SHORT}, one POST /v1/links each, in {seconds:.1f} s")
        console.say()
        sample = self.long[:3] + self.short[:2]
        console.table(
            ["short link", "target", "TTL", "generation", "expires"],
            [[link["short_url"], link["url"], link["ttl"],
              link["generation"], link["expires_at"]] for link in sample],
            "<<<><")

    # --- 2 ---------------------------------------------------------------

    def send_clicks(self):
        console.heading(2, "Links are visited")
        self.before = self.aggregator.clicks()["total"]
        self.groups_before = {d: self.groups(d) for d in DIMENSIONS}
        people = agents.people(f"{DEPS}/ua/user-agents.json")
        addresses = traffic.draw_addresses(
            f"{DEPS}/geo/city-ipv4.mmdb", 4000, self.rng)
        # A few links draw most visits, of either class.
        codes = [link["code"] for pair in
                 zip(self.long, self.short) for link in pair]
        codes += [link["code"] for link in self.long[SHORT_LINKS:]]
        visits = traffic.make_visits(
            codes, CLICKS, people, agents.robots(), addresses, ROBOT_SHARE,
            self.rng)
        self.sent = collections.Counter()
        self.sent_people = collections.Counter()
        self.sent_visitors = collections.defaultdict(set)
        self.sent_countries = collections.Counter()
        self.sent_verdicts = collections.Counter()
        self.walk(visits)

    def walk(self, visits):
        targets = {l["code"]: l["url"] for l in self.long + self.short}
        statuses = collections.Counter()
        progress = console.Progress("clicks", CLICKS)
        try:
            self.send_all(visits, targets, statuses, progress)
        finally:
            self.collector.start()
        seconds = progress.seconds()
        progress.finish(
            f"{CLICKS:,} clicks from "
            f"{len(self.sent_countries)} countries, "
            f"{CLICKS - self.sent_verdicts['human']:,} of them by robots, in "
            f"{seconds:.1f} s; all answered 302")
        self.collector.wait_started()
        console.say(f"the collector was killed (kill -9) after the "
                    f"{CLICKS // 3:,}th and started again after the "
                    f"{CLICKS // 2:,}th")
        if statuses != {302: CLICKS}:
            raise Failure(f"the redirector answered {dict(statuses)}")

    def send_all(self, visits, targets, statuses, progress):
        connection = traffic.Connection(*REDIRECTOR)
        collector_dies = iter([(CLICKS // 3, self.collector.kill),
                               (CLICKS // 2, self.collector.start)])
        at, action = next(collector_dies)
        for batch in traffic.batches(visits, BATCH):
            for visit, (status, location) in zip(
                    batch, connection.send(batch, self.rng)):
                statuses[status] += 1
                if status == 302 and location != targets[visit.code]:
                    raise Failure(f"/{visit.code} led to {location}")
                self.sent[visit.code] += 1
                if visit.verdict == "human":
                    self.sent_people[visit.code] += 1
                    self.sent_visitors[visit.code].add(
                        (visit.address.text, visit.user_agent))
                self.sent_countries[visit.address.country] += 1
                self.sent_verdicts[visit.verdict] += 1
            progress.update(sum(statuses.values()))
            # A batch can be past both.
            while sum(statuses.values()) >= at:
                action()
                at, action = next(collector_dies, (CLICKS + 1, None))
        connection.close()

    # --- 3 ---------------------------------------------------------------

    def groups(self, dimension):
        answer = self.aggregator.clicks(group_by=dimension, limit=1000)
        return collections.Counter(
            {group["value"]: group["clicks"] for group in answer["groups"]})

    def show_counts(self):
        console.heading(3, "Clicks are counted")
        started = time.monotonic()
        settled = wait_for("settling of every click", self.settled_or_none)
        seconds = time.monotonic() - started
        console.say(f"sent {CLICKS:,}   settled {settled:,}   "
                    + console.good("equal")
                    + console.dim(f"   ({seconds:.1f} s after the last click)"))
        self.show_codes()
        self.show_breakdowns()
        console.say()
        console.say("every figure beside another was compared: "
                    + console.good("all equal"))

    def settled_or_none(self):
        """The number of clicks settled, once it has stopped below or at
        what was sent; more than was sent is a failure at once."""
        total = self.aggregator.clicks()["total"]
        settled = total["clicks"] - self.before["clicks"]
        if settled > CLICKS:
            raise Failure(f"sent {CLICKS:,} but settled {settled:,}")
        if settled < CLICKS:
            return None
        self.people = total["humans"] - self.before["humans"]
        return settled

    def show_codes(self):
        console.say()
        console.say("The busiest codes:")
        console.say()
        rows, counted, people, visitors = [], {}, {}, {}
        busiest = dict(self.sent.most_common(8))
        for code, sent in busiest.items():
            answer = self.aggregator.clicks(code=code)
            total = answer["total"]
            counted[code], people[code] = total["clicks"], total["humans"]
            # Without robots: visitors are those of the clicks asked for.
            visitors[code] = self.aggregator.clicks(
                code=code, bots="exclude")["total"]["visitors"]
            hours = [hour["start"][11:16] for hour in answer["data"]
                     if hour["clicks"]]
            rows.append([code, " ".join(hours), sent, counted[code],
                         self.sent_people[code], people[code],
                         len(self.sent_visitors[code]), visitors[code],
                         console.bar(sent, self.sent.most_common(1)[0][1])])
        console.table(["code", "hours (UTC)", "sent", "counted",
                       "people sent", "counted", "visitors sent", "counted",
                       ""], rows, "<<>>>>>><")
        figures.compare("clicks of codes", busiest, counted)
        figures.compare("people's clicks of codes",
                        {code: self.sent_people[code] for code in busiest},
                        people)
        figures.compare("visitors of codes",
                        {code: len(self.sent_visitors[code])
                         for code in busiest}, visitors)

    def show_breakdowns(self):
        self.breakdown("country", "By country", self.sent_countries)
        self.breakdown("device_class", "By device", None)
        self.breakdown("verdict", "People and robots", self.sent_verdicts)
        figures.compare("people", {"people": self.sent_verdicts["human"]},
                        {"people": self.people})

    def breakdown(self, dimension, title, sent):
        """`sent`: numbers by value; None: nobody knows them."""
        counts = self.groups(dimension)
        counts.subtract(self.groups_before[dimension])
        top = counts.most_common(6)
        console.say()
        console.say(f"{title}:")
        console.say()
        headers, align = [dimension, "sent", "counted", ""], "<>><"
        rows = [[value or "(unknown)",
                 console.number(sent[value]) if sent else "",
                 console.number(count), console.bar(count, top[0][1])]
                for value, count in top if count]
        if not sent:
            headers, align = headers[:1] + headers[2:], "<><"
            rows = [row[:1] + row[2:] for row in rows]
        console.table(headers, rows, align)
        if sent:
            figures.compare(f"clicks by {dimension}", sent, counts)

    # --- 4 ---------------------------------------------------------------

    def show_reuse(self):
        console.heading(4, f"The {SHORT} links run out")
        first = self.short[0]
        # A visit would renew it: ask the allocator, not the redirector.
        console.say(f"each was visited, so each lived on for another {SHORT} "
                    "from then; its block ends with its last link")
        wait_for("expiry of a short link", lambda: self.expired(first))
        self.check_gone(first)
        wait_for("the end of the links' blocks", self.blocks_ended)
        self.show_command("run", "--dry-run")
        self.show_command("run")
        self.show_command("status")

    def blocks_ended(self):
        plan = json.loads(reclaimer("run", "--dry-run", "--json"))
        freed = sum(space["freed"] for space in plan["spaces"])
        blocks = {block_of(link) for link in self.short}
        return True if freed >= len(blocks) else None

    def show_command(self, *args):
        console.say()
        console.say(console.bold("$ reclaimer " + " ".join(args)))
        for line in reclaimer(*args).splitlines():
            console.say(line)

    def expired(self, link):
        return None if self.allocator.is_live(link["code"]) else True

    def visit(self, code, user_agent="demo", times=1):
        connection = traffic.Connection(*REDIRECTOR)
        answers = connection.send(kinds.visits(code, user_agent, times),
                                  self.rng)
        connection.close()
        return answers

    def check_gone(self, link):
        [(status, _)] = self.visit(link["code"])
        console.say(f"GET /{link['code']} now answers "
                    + console.bold(str(status)))
        if status != 410:
            raise Failure(f"an expired link answered {status}, not 410")

    # --- 5 ---------------------------------------------------------------

    def show_generation_two(self):
        console.heading(5, "The same codes are issued again")
        old = {link["code"]: link for link in self.short}
        new = wait_for("a reused code", lambda: self.create_again(old))
        was = old[new["code"]]
        console.table(
            ["", "code", "target", "generation", "link_id"],
            [["before", was["code"], was["url"], was["generation"],
              was["link_id"]],
             ["now", new["code"], new["url"], new["generation"],
              new["link_id"]]], "<<<><")
        self.compare_statistics(was, new)

    def create_again(self, old):
        link = self.allocator.create("https://museum.example/", LONG)
        was = old.get(link["code"])
        if not was:
            return None
        if link["generation"] != was["generation"] + 1:
            raise Failure(f"generation {was['generation']} was followed by "
                          f"{link['generation']}")
        return link

    def compare_statistics(self, was, new):
        wait_for("the archive's word on the new owner",
                 lambda: self.belongs_to(new))
        mine = self.aggregator.clicks(code=new["code"])["total"]["clicks"]
        theirs = self.aggregator.clicks(
            link_id=was["link_id"])["total"]["clicks"]
        console.say()
        console.say(f"clicks of the code's owner now: {console.bold(mine)}   "
                    f"of its former owner, still: {console.bold(theirs)}")
        figures.compare("clicks of the two owners", {
            "now": 0, "former": self.sent[was["code"]]},
            {"now": mine, "former": theirs})
        answers = self.visit(new["code"], times=3)
        if answers != [(302, new["url"])] * 3:
            raise Failure(f"the reused code answered {answers}")
        wait_for("three clicks of the new owner", lambda: (
            self.aggregator.clicks(code=new["code"])["total"]["clicks"] == 3
            or None))
        after = self.aggregator.clicks(
            link_id=was["link_id"])["total"]["clicks"]
        figures.compare("clicks of the former owner after the new one's",
                        {"former": theirs}, {"former": after})
        console.say("after 3 visits: " + console.bold("3")
                    + f", and {after:,} unchanged")
        self.show_command("verify", "--deep")
        self.show_command("history")

    def belongs_to(self, link):
        try:
            answer = self.aggregator.clicks(code=link["code"])
        except api.ApiError:
            return None
        return True if answer["link_id"] == link["link_id"] else None

    # --- 7 ---------------------------------------------------------------

    def show_promise(self):
        """What the collector measured of ClickHouse when it started again."""
        until = time.monotonic() + 30
        told = self.aggregator.pipeline()
        while told["lag"] is None and time.monotonic() < until:
            time.sleep(0.2)
            told = self.aggregator.pipeline()
        console.say(console.bold("GET /v1/pipeline"))
        for collector in told["collectors"]:
            console.say(f"guarantee: {collector['guarantee']}")
        if told["lag"]:
            console.say(f"{told['lag']['events']} events of "
                        f"{told['lag']['partitions']} partitions are behind")

    # ---------------------------------------------------------------------

    def goodbye(self, seconds):
        console.heading("✓", f"The loop is closed, in {seconds:.0f} s")
        console.say(f"dashboard   {console.bold(AGGREGATOR + '/')}")
        console.say("stop        make down      (make up starts it again, "
                    "with its data)")
        console.say(console.dim(
            "geo data    IP Geolocation by DB-IP, https://db-ip.com, "
            "CC BY 4.0"))
        print()


def main():
    started, started_at = time.monotonic(), time.time()
    console.replace_what_cannot_be_printed()
    try:
        demo = Demo()
        reclaimer("run")  # what an earlier demo has left to reclaim
        demo.create_links()
        demo.send_clicks()
        demo.show_counts()
        demo.show_reuse()
        demo.show_generation_two()
        kinds.Kinds(demo.allocator, demo.visit, ROOT, CONFIG).show(6)
        demo.collector.show(7, started_at)
        demo.show_promise()
    except (Failure, figures.Difference, kinds.Wrong, proof.Unproved,
            api.ApiError, OSError) as why:
        print("\n" + console.bad("demo failed: ") + str(why), file=sys.stderr)
        print(f"logs: {DEV}/*.log", file=sys.stderr)
        return 1
    demo.goodbye(time.monotonic() - started)
    return 0


if __name__ == "__main__":
    sys.exit(main())
