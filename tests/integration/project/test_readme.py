"""README's "With your own servers", literally: its configuration and its commands, in
the order of the page, with servers that this test started.

The test replaces what a reader replaces: names of servers and ports, and installation
paths.  kafka-topics.sh is not installed here: support/kafka_topics.py replaces it.
"""
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap

import pytest
import requests
import yaml

import servers
from support.clickhouse import ClickHouseServer
from support.kafka import Kafka
from support.program import BIN, eventually
from support.server import RedisServer

README = servers.ROOT / "README.md"
SAMPLE = servers.ROOT / "config/shortloop.yaml"  # the defaults
PORTS = {"redirector": (8080, 9080), "allocator": (8081, 9081),
         "collector": (None, 9082), "aggregator": (8082, 9083),
         "reclaimer": (None, 9084)}
PASSWORD = "a password of the test"
BUILT = f"B={shlex.quote(str(BIN.parent))} SANITIZE= CC=false"


def blocks():
    """Returns the indented blocks of the section, in order."""
    section = re.search(r"^## With your own servers$(.*?)^## ",
                        README.read_text(), re.M | re.S)[1]
    return [textwrap.dedent(block).strip("\n") for block in
            re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", section, re.M)]


@pytest.fixture
def redis_server(workdir):
    server = RedisServer(workdir / "redis", durable=True,
                         extra=["--requirepass", PASSWORD])
    server.probe = lambda: servers.exchange(
        server.port, b"PING\r\n", 7) == b"-NOAUTH"
    yield server.start()
    server.kill()


@pytest.fixture
def clickhouse_server(workdir):
    password = workdir / "clickhouse.pass"
    password.write_text(PASSWORD)
    server = ClickHouseServer(workdir / "clickhouse", extra=[
        "--user", "shortloop", "--password-file", password])
    yield server.start()
    server.kill()


class Reader:
    """A reader who follows the page, in a root of their own."""

    def __init__(self, root, redis_port, kafka_port, clickhouse_port):
        self.root = root
        self.etc = root / "etc/shortloop"
        self.etc.mkdir(parents=True)
        self.ports = {port: servers.free_port() for pair in PORTS.values()
                      for port in pair if port}
        self.replaced = {
            "redis.example:6379": f"127.0.0.1:{redis_port}",
            "kafka1.example:9092": f"127.0.0.1:{kafka_port}",
            "kafka2.example:9092": f"127.0.0.1:{kafka_port}",
            "https://clickhouse.example:8443":
                f"http://127.0.0.1:{clickhouse_port}",
            "/etc/shortloop": str(self.etc),
            "/usr/local": str(root / "usr/local"),
            # Only these programs, which are built.
            "make -j2": f"make -j2 {BUILT}",
            "make install": f"make install PREFIX={root}/usr/local {BUILT}"}
        tools = root / "tools"
        tools.mkdir()
        self.tool(tools / "kafka-topics.sh", sys.executable, servers.ROOT /
                  "tests/integration/support/kafka_topics.py", '"$@"')
        for name in PORTS:
            # The only file that they find by default is in /etc.
            path = root / "usr/local/bin" / name
            self.tool(tools / name, "exec", path, '"$@"', "-c",
                      self.etc / "shortloop.yaml")
        self.env = {**os.environ, "CLICKHOUSE_PASSWORD": PASSWORD,
                    "PATH": f"{tools}:{os.environ['PATH']}"}
        self.started = []

    @staticmethod
    def tool(path, *command):
        path.write_text("#!/bin/sh\n" + " ".join(map(str, command)) + "\n")
        path.chmod(0o755)

    def of_here(self, text):
        for theirs, ours in self.replaced.items():
            text = text.replace(theirs, ours)
        for theirs, ours in self.ports.items():
            text = re.sub(rf"\b{theirs}\b", str(ours), text)
        return text

    def write_config(self, text):
        config = yaml.safe_load(self.of_here(text))
        sample = yaml.safe_load(SAMPLE.read_text())
        for section, settings in sample.items():
            for key, value in (settings or {}).items():
                if str(value).startswith(("/etc/shortloop", "/usr/local")):
                    config.setdefault(section, {}).setdefault(
                        key, self.of_here(value))
        # The same timeouts as in conftest.py: this Redis may get no processor for a
        # while.
        config["redis"]["command_timeout"] = "20s"
        config.setdefault("redirector", {})["lookup_timeout"] = "60s"
        for name, pair in PORTS.items():
            for where, port in zip(("listen", "admin"), pair):
                if port:
                    config.setdefault(name, {})[where] = \
                        f"127.0.0.1:{self.ports[port]}"
        (self.etc / "shortloop.yaml").write_text(yaml.safe_dump(config))
        (self.etc / "redis.pass").write_text(PASSWORD + "\n")

    def run(self, text):
        """Returns the output of a block's commands; a command that fails ends it."""
        # The output has a file of its own: background processes continue to write to
        # it.
        path = self.root / f"output-{len(self.started)}"
        with open(path, "wb") as out:
            made = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", self.of_here(text)],
                cwd=servers.ROOT, env=self.env, stdin=subprocess.DEVNULL,
                stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        self.started.append(made)
        status = made.wait(200)
        said = path.read_text()
        assert status == 0, f"$ {text}\n{said}"
        return said

    def close(self):
        for made in self.started:
            try:
                os.killpg(made.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


@pytest.fixture
def reader(workdir, redis_server, kafka_server, clickhouse_server):
    made = Reader(workdir / "root", redis_server.port, kafka_server.port,
                  clickhouse_server.port)
    yield made
    made.close()
    kafka = Kafka(kafka_server.port)
    for topic in ("clicks", "links", "clicks.dlq", "redirector.counters",
                  "link.renewals"):
        if topic in kafka.topics():
            kafka.delete_topic(topic)


@pytest.mark.timeout(600)
def test_the_readme_leads_from_nothing_to_a_counted_click(reader):
    found = blocks()
    assert found[:2] == ["tools/deps.sh build\nmake -j2", "make install"]
    code = None
    asked = None
    for block in found:
        if block.startswith("redis:"):
            reader.write_config(block)
        elif "<code>" not in block:
            said = reader.run(block)
            if "--check" in block:
                assert said.splitlines()[:5] == ["ok"] * 5
        else:
            *before, asked = block.splitlines()
            create = "\n".join(l for l in before if "<code>" not in l)
            code = json.loads(reader.run(create))["code"]
            visit, = (l for l in before if "<code>" in l)
            said = reader.run(visit.replace("<code>", code))
            assert "302 Found" in said
            assert "https://example.com/" in said
    assert code and asked, "the section has no click"
    eventually(lambda: json.loads(reader.run(asked.replace("<code>", code)))
               .get("total", {}).get("clicks") == 1, 200, every=0.5,
               what="the click counted")
    url = f"http://127.0.0.1:{reader.ports[8082]}/"
    assert "<title>" in requests.get(url, timeout=60).text, "no dashboard"


@pytest.mark.proof
def test_nothing_is_installed_before_there_is_all_of_it(workdir):
    """The state is that of a clone without `make deps`."""
    made = subprocess.run(
        f"make install {BUILT} PREFIX={workdir}/usr DEPS={workdir}",
        shell=True, cwd=servers.ROOT, capture_output=True, text=True,
        check=False)
    assert made.returncode == 2
    assert "regexes.yaml is missing: run 'make deps' first" in made.stderr
    assert list(workdir.iterdir()) == []


def test_every_file_and_page_that_the_readme_names_is_there():
    for path in re.findall(r"\]\(([^)#:]+?)(?:#[\w-]+)?\)",
                           README.read_text()):
        assert (servers.ROOT / path).exists(), path
