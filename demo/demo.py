"""Shows the whole loop: issue, redirect, count, expire, reuse.

Run by `make demo`, with the stack up.  Exits 0 only if every pair of figures that it
shows is equal (robots are known from when the visits were made, not from the
collector's lists) and a code has come back with a new generation.
"""

import collections
import json
import os
import re
import subprocess
import sys
import time
import urllib.request

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
KAFKA_CLICKS = CLICKS // 3  # part of CLICKS, while Kafka is killed
ROBOT_SHARE = 0.12
BATCH = 64
DEADLINE = 120  # seconds for any step, after which the demo has failed

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEPS = os.path.join(ROOT, ".deps")
# The stack's directory, as in stack/ctl, which runs in another directory.
DEV = os.environ["SHORTLOOP_DEV"] = os.path.abspath(
    os.environ.get("SHORTLOOP_DEV", os.path.join(ROOT, "build/dev")))
CONFIG = os.environ.get(
    "SHORTLOOP_CONFIG", os.path.join(DEV, "shortloop.yaml")
)
API_KEY = os.path.join(DEV, "api.key")


class Failure(Exception):
    """A result differs from what the demo has to show."""


def port(name, fallback):
    return int(os.environ.get(f"SHORTLOOP_{name}_PORT", fallback))


REDIRECTOR = ("127.0.0.1", port("REDIRECTOR", 8080))
ALLOCATOR = f"http://127.0.0.1:{port('ALLOCATOR', 8081)}"
REDIRECTOR_ADMIN = f"http://127.0.0.1:{port('REDIRECTOR_ADMIN', 9080)}"
AGGREGATOR = f"http://127.0.0.1:{port('AGGREGATOR', 8082)}"


def wait_for(what, check):
    """Polls until check() returns something true, and returns that."""
    until = time.monotonic() + DEADLINE
    while time.monotonic() < until:
        if (got := check()) is not None:
            return got
        time.sleep(0.3)
    raise Failure(f"{what}: not within {DEADLINE} s")


def redirector_metric(name):
    """Returns the value of `name`, with its labels, in /metrics."""
    with urllib.request.urlopen(REDIRECTOR_ADMIN + "/metrics", timeout=10) as answer:
        text = answer.read().decode()
    found = re.search(rf"^shortloop_{re.escape(name)} (\d+)$", text, re.M)
    if not found:
        raise Failure(f"the redirector has no metric {name}")
    return int(found[1])


def reclaimer(*args):
    """Runs the reclaimer like an operator; returns its output."""
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
    """Returns a link's block: the id within its space, in blocks of 1,000."""
    return (int(link["link_id"]) & ((1 << 42) - 1)) // 1000


class Demo:
    def __init__(self):
        with open(API_KEY) as f:
            self.allocator = api.Allocator(ALLOCATOR, f.read().strip())
        self.aggregator = api.Aggregator(AGGREGATOR)
        self.collector = proof.Collector(ROOT, CONFIG)
        self.stack = proof.Stack(ROOT, DEV)
        self.rng = traffic.new_random()
        self.long, self.short = [], []

    # --- 1 ---------------------------------------------------------------

    def create_links(self):
        console.heading(1, "Links are issued")
        self.issue(self.long, LONG_LINKS, LONG, "https://shop.example/offer/", "autumn")

    def issue(self, links, count, ttl, target, campaign):
        started = time.monotonic()
        for i in range(count):
            links.append(self.allocator.create(f"{target}{i}", ttl, campaign=campaign,
                                               tags=[campaign]))
        seconds = time.monotonic() - started
        console.say(f"{count} links that live {ttl}, one POST /v1/links each, "
                    f"in {seconds:.1f} s")
        console.say()
        console.table(
            ["short link", "target", "TTL", "generation", "expires"],
            [[link["short_url"], link["url"], link["ttl"],
              link["generation"], link["expires_at"]] for link in links[:3]],
            "<<<><")

    # --- 2 ---------------------------------------------------------------

    def send_clicks(self):
        console.heading(2, "Links are visited, while Kafka and the collector are killed")
        self.before = self.aggregator.clicks()["total"]
        self.groups_before = {d: self.groups(d) for d in DIMENSIONS}
        self.people_of_visits = agents.people(f"{DEPS}/ua/user-agents.json")
        self.addresses = traffic.draw_addresses(
            f"{DEPS}/geo/city-ipv4.mmdb", 4000, self.rng)
        self.sent = collections.Counter()
        self.sent_people = collections.Counter()
        self.sent_visitors = collections.defaultdict(set)
        self.sent_countries = collections.Counter()
        self.sent_verdicts = collections.Counter()
        try:
            self.visit_without_kafka()
            self.visit_without_collector()
        finally:
            # The stack is complete again, even if the demo fails.
            self.stack.start()
        self.stack.wait_started()
        console.say(f"in all {CLICKS:,} clicks from {len(self.sent_countries)} "
                    f"countries, {CLICKS - self.sent_verdicts['human']:,} of them by "
                    "robots")

    def visit_without_kafka(self):
        """Uses links with a long life, since a busy machine starts Kafka
        slowly.
        """
        self.walk(KAFKA_CLICKS, [link["code"] for link in self.long], [
            (KAFKA_CLICKS // 2, self.kill_kafka)])
        spooled, queued = wait_for("what waits for Kafka", self.waiting_events)
        self.stack.start()
        self.stack.wait_started()
        console.say(f"Kafka was killed (kill -9) after the {KAFKA_CLICKS // 2:,}th and "
                    f"started again after the {KAFKA_CLICKS:,}th:")
        console.say(f"{spooled:,} events waited for it on the redirector's disk, "
                    f"{queued:,} in its memory")
        console.say()

    def kill_kafka(self):
        """Kills Kafka; events are spooled once the redirector has noticed."""
        self.stack.kill("kafka")
        wait_for("the redirector to miss Kafka", lambda: (
            redirector_metric('kafka_up{topic="clicks"}') == 0 or None))

    def waiting_events(self):
        """Counts the events on the redirector's disk and in its memory, once
        all are counted."""
        spooled = redirector_metric("redirector_spool_events")
        queued = redirector_metric('kafka_queue_messages{topic="clicks"}')
        all_wait = spooled + queued >= KAFKA_CLICKS // 2 - BATCH
        return (spooled, queued) if spooled and all_wait else None

    def visit_without_collector(self):
        self.issue(self.short, SHORT_LINKS, SHORT, "https://tickets.example/seat/",
                   "flash-sale")
        console.say()
        # A few links, of either class, get most visits.
        codes = [link["code"] for pair in
                 zip(self.long, self.short) for link in pair]
        codes += [link["code"] for link in self.long[SHORT_LINKS:]]
        count = CLICKS - KAFKA_CLICKS
        self.walk(count, codes, [(count // 3, lambda: self.stack.kill("collector")),
                                 (count // 2, self.stack.start)])
        console.say(f"the collector was killed (kill -9) after the {count // 3:,}th and "
                    f"started again after the {count // 2:,}th")
        console.say()

    def walk(self, count, codes, events):
        """Makes `count` visits; each event is (visits before it, action)."""
        visits = traffic.make_visits(
            codes, count, self.people_of_visits, agents.robots(), self.addresses,
            ROBOT_SHARE, self.rng)
        statuses = collections.Counter()
        progress = console.Progress("clicks", count)
        self.send_all(visits, statuses, progress, iter(events))
        seconds = progress.seconds()
        progress.finish(f"{count:,} clicks in {seconds:.1f} s; all answered 302")
        if statuses != collections.Counter({302: count}):
            raise Failure(f"the redirector answered {dict(statuses)}")

    def send_all(self, visits, statuses, progress, events):
        targets = {l["code"]: l["url"] for l in self.long + self.short}
        connection = traffic.Connection(*REDIRECTOR)
        at, action = next(events)
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
            # One batch can pass several events.
            while sum(statuses.values()) >= at:
                action()
                at, action = next(events, (CLICKS + 1, None))
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
        """Returns the number of settled clicks, once it no longer changes or is
        that of the clicks sent; more than that is a failure at once."""
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
            # Robots are excluded: the visitors are those of the clicks asked
            # for.
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
        """`sent`: numbers by value; None: they are unknown."""
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
        # A visit would renew the link: the demo queries the allocator, not the
        # redirector.
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
        self.show_history(new["code"])
        self.give_away(new, 3)
        self.show_command("verify", "--deep")
        self.show_command("history")

    def create_again(self, old):
        link = self.allocator.create("https://museum.example/", LONG)
        was = old.get(link["code"])
        if not was:
            return None
        if link["generation"] != was["generation"] + 1:
            raise Failure(f"generation {was['generation']} was followed by "
                          f"{link['generation']}")
        return link

    def show_history(self, code):
        """Shows what became of each link of the code."""
        def both():
            links = self.aggregator.history(code)
            return links if [link["state"] for link in links[:2]] == [
                "live", "reclaimed"] else None
        links = wait_for("the history of the code", both)
        console.say(f"GET /v1/links/{code}/history of the aggregator:")
        console.table(
            ["generation", "target", "state", "created", "reclaimed"],
            [[link["generation"], link["url"], link["state"], link["created_at"],
              link["reclaimed_at"] or ""] for link in links[:2]], "><<<<")

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

    def give_away(self, link, clicks):
        """Gives a link to another account; its clicks until then are the former one's.
        The new target shows when the redirector knows of it."""
        code, url = link["code"], "https://gallery.example/"
        self.allocator.edit(code, account="gallery", url=url)
        answers = []

        def is_known():
            answers.extend(self.visit(code))
            return True if answers[-1][1] == url else None
        wait_for("the redirector to know of the new account", is_known)
        answers += self.visit(code, times=2)
        given = sum(target == url for _, target in answers)
        wanted = {link["account"]: clicks + len(answers) - given, "gallery": given}

        def counted():
            groups = self.aggregator.clicks(code=code, group_by="account")["groups"]
            return {g["value"]: g["clicks"] for g in groups}
        wait_for("the clicks of both accounts", lambda: counted() == wanted or None)
        console.say(f"given to another account: {console.bold(given)} clicks are its own, "
                    f"{wanted[link['account']]} stay with the former one")
        figures.compare("clicks of the two accounts", wanted, counted())

    def belongs_to(self, link):
        try:
            answer = self.aggregator.clicks(code=link["code"])
        except api.ApiError:
            return None
        return True if answer["link_id"] == link["link_id"] else None

    # --- 7 ---------------------------------------------------------------

    def show_promise(self):
        """Shows the guarantee that the collector measured of ClickHouse at its
        restart."""
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
        reclaimer("run")  # reclaims the rest of an earlier demo
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
