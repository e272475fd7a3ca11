"""Further features of links in the allocator; the last part of the demo."""

import json
import os
import subprocess
import time
import uuid

import console
import traffic

LINES, AT_ONCE = 5000, 500
IPHONE = ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) "
          "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 "
          "Mobile/15E148 Safari/604.1")

ANDROID = ("Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, "
           "like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36")


class Wrong(Exception):
    """An answer differs from the documentation."""


def expect(what, got, wanted):
    if got != wanted:
        raise Wrong(f"{what}: {got!r}, not {wanted!r}")


class Kinds:
    def __init__(self, allocator, visit, root, config):
        """visit(code, user_agent, times) returns [(status, location)]."""
        self.allocator = allocator
        self.visit = visit
        self.root, self.config = root, config
        self.rows = []

    def show(self, number):
        console.heading(number, "Links of every kind")
        self.batch()
        for part in (self.alias, self.hash, self.twice, self.devices,
                     self.apps, self.limited, self.paused, self.restored):
            part()
        console.table(["what", "request", "outcome"], self.rows, "<<<")
        self.ledger()

    def add(self, what, request, outcome):
        self.rows.append([what, request, outcome])

    def batch(self):
        started = time.monotonic()
        for first in range(0, LINES, AT_ONCE):
            lines = [json.dumps({"url": f"https://mail.example/{first + i}",
                                 "ttl": "10d", "campaign": "mail"})
                     for i in range(AT_ONCE)]
            lines[7] = "not a link"
            answers = self.allocator.batch(lines)
            expect("lines answered", len(answers), AT_ONCE)
            expect("the bad line", answers[7]["line"], 8)
            expect("good lines", sum("code" in a for a in answers),
                   AT_ONCE - 1)
        console.say(
            f"{LINES:,} lines in {LINES // AT_ONCE} batches, each with a bad "
            f"one, in {time.monotonic() - started:.2f} s: "
            f"{LINES - LINES // AT_ONCE:,} links and "
            f"{LINES // AT_ONCE} problems, in order")
        console.say()

    def alias(self):
        name = f"autumn-{int(time.time())}"
        self.allocator.create("https://shop.example/old", "10d", code=name)
        self.allocator.edit(name, url="https://shop.example/new")
        expect("the alias", self.visit(name, "demo", 1),
               [(302, "https://shop.example/new")])
        self.add("a name, edited", f"code={name}, then PATCH url",
                 "leads to the new URL")

    def hash(self):
        url = f"https://news.example/{uuid.uuid4().hex[:8]}"
        first = self.allocator.create(url, "10d", space="h6")
        again = self.allocator.create(url, "10d", space="h6")
        expect("the hash", again["link_id"], first["link_id"])
        self.add("by hash of the URL", "space=h6, twice",
                 f"{first['code']} both times")

    def twice(self):
        key = uuid.uuid4().hex
        first, again = (self.allocator.create(
            "https://shop.example/paid", "10d", idempotency_key=key)
            for _ in range(2))
        expect("the link made twice", again["link_id"], first["link_id"])
        self.add("sent again", "the same Idempotency-Key", "one link")

    def devices(self):
        link = self.allocator.create(
            "https://app.example/", "10d", space="flakes",
            targets={"ios": "https://apps.example/ios"})
        expect("an iPhone", self.visit(link["code"], IPHONE, 1),
               [(302, "https://apps.example/ios")])
        expect("others", self.visit(link["code"], "demo", 1),
               [(302, "https://app.example/")])
        self.add("by device, a snowflake", f"{link['code']}, targets.ios",
                 "iPhones go to the store")

    def apps(self):
        link = self.allocator.create(
            "https://shop.example/", "10d",
            targets={"android": {"app": "demoapp://item/7",
                                 "fallback": "https://shop.example/app"}})
        expect("an Android", self.visit(link["code"], ANDROID, 1), [(200, None)])
        expect("others", self.visit(link["code"], "demo", 1),
               [(302, "https://shop.example/")])
        self.add("that opens an app", "targets.android, with a fallback",
                 "Androids get a page that tries it")

    def limited(self):
        link = self.allocator.create("https://prize.example/", "10d",
                                     max_visits=2)
        answers = [status for status, _ in self.visit(link["code"], "demo", 4)]
        expect("max_visits", answers, [302, 302, 410, 410])
        self.add("for two visitors", "max_visits=2", "302 302 410 410")

    def paused(self):
        code = self.allocator.create("https://sale.example/", "10d")["code"]
        answers = self.visit(code, "demo", 1)
        for state, status in (("paused", 410), ("live", 302)):
            self.allocator.edit(code, state=state)
            answers.append(self.visit_until(code, status))
        expect("a pause", [status for status, _ in answers], [302, 410, 302])
        self.add("paused, and continued", "PATCH state=paused, state=live",
                 "302 410 302")

    def restored(self):
        link = self.allocator.create("https://oops.example/", "10d")
        code = link["code"]
        answers = self.visit(code, "demo", 1)
        self.allocator.delete(code)
        answers.append(self.visit_until(code, 410))
        back = self.allocator.restore(code)
        expect("the link that came back", back["link_id"], link["link_id"])
        answers.append(self.visit_until(code, 302))
        expect("a restore", [status for status, _ in answers], [302, 410, 302])
        self.add("deleted by mistake", "DELETE, then POST .../restore",
                 "302 410 302, under its link_id")

    def visit_until(self, code, status):
        """Redirectors apply a change within a second; returns the first answer with it,
        or the last one."""
        until = time.monotonic() + 10
        while True:
            answer, = self.visit(code, "demo", 1)
            if answer[0] == status or time.monotonic() > until:
                return answer
            time.sleep(0.05)

    def ledger(self):
        console.say()
        console.say(console.bold("$ allocator spaces"))
        done = subprocess.run(
            [os.path.join(self.root, "build/bin/allocator"), "spaces", "-c",
             self.config], capture_output=True, text=True, timeout=60,
            cwd=self.root)
        expect(f"allocator spaces ({done.stderr.strip()})", done.returncode, 0)
        for line in done.stdout.splitlines():
            console.say(line)


def visits(code, user_agent, times):
    nobody = traffic.Address("192.0.2.1", "")
    return [traffic.Visit(code, user_agent, nobody, "human")] * times
