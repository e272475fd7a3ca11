"""A crowd of collectors in one group, each behind a ClickHouse proxy of its own and all
behind one Kafka proxy, and the faults they meet.

The seed determines the decisions; time is real.
"""
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import servers
from support.fault_proxy import ClickHouseProxy
from support.program import eventually

SESSION = 2.0  # seconds without a heartbeat until a member counts as dead
PATIENCE = 120  # seconds; the machine may be slow
OPTIONS = [f"session.timeout.ms={int(SESSION * 1000)}",
           "heartbeat.interval.ms=300", "reconnect.backoff.max.ms=500"]
# The broker must allow so short a session.
BROKER = "group.min.session.timeout.ms=500\n"


class Member:
    def __init__(self, name, program, sections, clickhouse_port, seed):
        self.proxy = ClickHouseProxy(clickhouse_port, seed)
        self.proxy.delay = SESSION * 1.5
        sections = {**sections, "collector": {**sections["collector"],
                                              "name": name},
                    "clickhouse": {**sections["clickhouse"],
                                   "url": self.proxy.url}}
        self.program = program("collector", sections, start=False)
        self.name = name

    def start(self):
        self.program.start(ready=False)

    def running(self):
        return self.program.process and self.program.process.running()

    def signal(self, number):
        self.program.process.signal(number)

    def assigned(self):
        """How often partitions came and went."""
        log = self.program.log()
        return log.count("partition assigned") + log.count(
            "partition revoked")

    def seconds_of_cpu(self):
        text = pathlib.Path(
            f"/proc/{self.program.process.pid}/stat").read_text()
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / 100


class Crowd:
    def __init__(self, program, sections, clickhouse_server, kafka_server,
                 count=3, seed=1):
        self.chance = random.Random(seed)
        self.clickhouse_server = clickhouse_server
        self.kafka_server = kafka_server
        self.members = [
            Member(f"c{i}", program, sections, clickhouse_server.port,
                   seed * 100 + i) for i in range(count + 1)]
        self.guest = self.members.pop()  # joins and leaves
        self.done = {}  # how often each event happened

    @property
    def everyone(self):
        return [*self.members, self.guest]

    def start(self):
        for member in self.members:
            member.start()

    def close(self):
        for member in self.everyone:
            if member.running():
                member.signal(signal.SIGCONT)
                member.program.kill()
            member.proxy.close()

    # --- ClickHouse's faults, all the time -----------------------------------

    @staticmethod
    def disturb(*members):
        for member in members:
            member.proxy.at_random(0.02, ["hang_before", "hang_after"])
            member.proxy.at_random(0.06)

    def calm(self):
        for member in self.everyone:
            member.proxy.calm()

    def faults(self):
        return sum(sum(m.proxy.faults().values()) for m in self.everyone)

    # --- events ----------------------------------------------------------------

    def do(self, name):
        self.done[name] = self.done.get(name, 0) + 1
        getattr(self, name)()

    def pause(self, most):
        time.sleep(self.chance.uniform(0, most))

    def any(self):
        return self.chance.choice(self.members)

    def kill(self):
        """Kills a member at a random moment."""
        self.pause(1)
        victim = self.any()
        victim.program.kill()
        self.pause(0.5)
        victim.start()

    def kill_at(self):
        """Kills a member while a request is under way, or executed but not answered."""
        victim = self.any()
        self.at_a_request(victim, victim.program.kill)
        if victim.running():
            victim.program.kill()
        self.pause(0.5)
        victim.start()

    def at_a_request(self, member, function):
        """Calls the function once, at one of the next requests; waits a while for the
        request, and for the call to end."""
        called, lock = threading.Event(), threading.Lock()

        def call():
            with lock:
                if not called.is_set():
                    called.set()
                    function()
        kind = self.chance.choice(["clicks", "clicks", "ingest_progress",
                                   "links", None])
        member.proxy.call_at(self.chance.randint(1, 2), call, kind,
                             self.chance.random() < 0.6)
        called.wait(3)
        with lock:
            called.set()  # too late from here on
        member.proxy.calm()
        self.disturb(member)

    def freeze(self):
        """Stops a member for longer than its session: others take over, and it wakes
        with its old state."""
        victim = self.any()
        victim.signal(signal.SIGSTOP)
        time.sleep(SESSION + 1)
        victim.signal(signal.SIGCONT)

    def freeze_at(self):
        """The same in the middle of a request, which arrives after others have taken
        over."""
        victim = self.any()

        def freeze():
            victim.signal(signal.SIGSTOP)
            time.sleep(SESSION + 1)
        self.at_a_request(victim, freeze)
        time.sleep(0.2)
        victim.signal(signal.SIGCONT)

    def join_and_leave(self):
        before = sum(m.assigned() for m in self.members)
        if not self.guest.running():
            self.guest.start()
        eventually(lambda: sum(m.assigned() for m in self.members) > before or
                   self.guest.assigned(), PATIENCE, what="a rebalance")
        self.pause(1)
        self.stop(self.guest)

    def leave_and_join(self):
        member = self.any()
        self.stop(member)
        self.pause(0.5)
        member.start()

    def stop(self, member):
        process = member.program.process
        process.signal(signal.SIGTERM)
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{member.name} does not end:\n"
                                 f"{stacks(process.pid)}") from None
        # The signal itself can end a member that had only just started.
        assert status in (0, -signal.SIGTERM), (
            f"{member.name} ended with {status}")

    def restart_broker(self):
        self.kafka_server.kill()
        self.pause(1)
        self.kafka_server.start()

    def end_broker(self):
        self.kafka_server.stop()
        self.kafka_server.start()

    def cut_kafka(self):
        proxy = self.kafka_server.proxy
        self.chance.choice([proxy.cut, proxy.refuse, proxy.stall])()
        self.pause(SESSION * 1.5)
        proxy.flow()
        proxy.accept()

    def refuse_clickhouse(self):
        for member in self.everyone:
            member.proxy.refuse()
        self.pause(2)
        for member in self.everyone:
            member.proxy.accept()

    def restart_clickhouse(self):
        self.clickhouse_server.kill()
        self.pause(1)
        self.clickhouse_server.start()

    # --- the end -----------------------------------------------------------------

    def alive(self):
        """Checks that no member has ended by itself."""
        dead = [m.name for m in self.members if not m.running()]
        assert not dead, f"{dead} ended by themselves"

    def inserts_of(self, topic, partition, offset):
        """Returns the requests that had the offset, for the report of a failure."""
        found = []
        for member in self.everyone:
            for p in member.proxy.passed:
                if holds(p.token, topic, partition, offset):
                    at = time.strftime("%H:%M:%S", time.localtime(p.at))
                    found.append(f"{at}.{int(p.at % 1 * 1000):03} "
                                 f"{member.name} {p.kind} {p.token} "
                                 f"{p.fault or 'passed'}")
        return sorted(found)


def stacks(pid):
    """Returns the stacks of its threads if there is a debugger."""
    try:
        return subprocess.run(
            ["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"],
            capture_output=True, text=True, timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "no stacks: no gdb"


def holds(token, topic, partition, offset):
    parts = token.rsplit(":", 2)
    if len(parts) != 3 or not parts[0].endswith(":" + topic):
        return False
    first, _, last = parts[2].partition("#")[0].partition("-")
    return parts[1] == str(partition) and int(first) <= offset <= int(last)


class Events:
    """Runs support/click_source.py as a process."""

    def __init__(self, directory, brokers, topics, seed):
        self.notes = pathlib.Path(directory) / "notes"
        self.process = subprocess.Popen(
            [sys.executable, servers.ROOT /
             "tests/integration/support/click_source.py", brokers,
             topics["topic_clicks"], topics["topic_links"], str(seed),
             self.notes], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.asked = self.answered = 0
        self.clicks = self.links = self.changes = 0  # sent, without poison

    def more(self, count):
        """Requests more events and does not wait."""
        self.asked += 1
        print(count, file=self.process.stdin, flush=True)

    def wait(self):
        """Waits until all requested events are sent."""
        while self.answered < self.asked:
            line = self.process.stdout.readline()
            assert line, "the source of events died"
            self.clicks, self.links, self.changes = map(int, line.split())
            self.answered += 1

    def end(self):
        """Waits until the broker has all events."""
        self.wait()
        self.process.stdin.close()
        assert self.process.wait(600) == 0

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def noted(self, what):
        """Returns {(topic, partition, offset)} of the poison, or of the changes."""
        lines = map(str.split, self.notes.read_text().splitlines())
        return {(topic, int(partition), int(offset))
                for topic, partition, offset, noted in lines if noted == what}
