"""A secret is read from the place that a setting names, and appears nowhere: not in a
printed or checked configuration, nor in a log, /readyz or /metrics."""
import os
import pathlib
import subprocess
import tempfile

import pytest
import requests
import yaml

from support.clickhouse import ClickHouseServer
from support.program import BIN, eventually
from test_command_line import (PROGRAMS, SERVING, config,  # noqa: F401
                               every_program, write)

HIDDEN = "hunter2"
USES = {"redis": {"redirector", "allocator", "aggregator", "reclaimer"},
        "kafka": {"redirector", "allocator", "collector", "aggregator"},
        "clickhouse": {"allocator", "collector", "aggregator"}}
PLAIN = [
    ("kafka", {"options": [f"sasl.password={HIDDEN}"]}, "kafka.options: sasl.password"),
    ("kafka", {"options": [f"ssl.key.password={HIDDEN}"]}, "ssl.key.password"),
    ("kafka", {"options": [f"ssl.key.pem={HIDDEN}"]}, "ssl.key.pem"),
    ("kafka", {"options": [f"ssl.keystore.password={HIDDEN}"]}, "ssl.keystore"),
    ("kafka", {"options": [f"sasl.oauthbearer.client.secret={HIDDEN}"]},
     "client.secret"),
    ("kafka", {"options": [f"sasl.oauthbearer.config=principal={HIDDEN}"]},
     "oauthbearer.config"),
    ("kafka", {"options": [f"sasl.pasword={HIDDEN}"]}, "sasl.pasword"),
    ("kafka", {"options": [f"sasl.password {HIDDEN}"]}, "expected name=value"),
    ("kafka", {"options": [
        f"sasl.oauthbearer.token.endpoint.url=https://u:{HIDDEN}@h/"]},
     "token.endpoint.url: expected a URL without a user"),
    ("kafka", {"sasl_password": HIDDEN}, "kafka.sasl_password: a secret is written"),
    ("kafka", {"brokers": [f"u:{HIDDEN}@h:9092"]}, "kafka.sasl_username"),
    ("clickhouse", {"url": f"http://u:{HIDDEN}@h:8123"}, "clickhouse.url: a URL with"),
    ("clickhouse", {"url": f"http://u:{HIDDEN}/x@h:8123"}, "clickhouse.url: a URL"),
    ("clickhouse", {"url": f"http://h:8123/?user=u&password={HIDDEN}"},
     "clickhouse.username"),
    ("clickhouse", {"password": HIDDEN}, "clickhouse.password: a secret is written"),
    ("redis", {"address": f"redis://u:{HIDDEN}@h:6379"}, "redis.password"),
    ("redis", {"address": f":{HIDDEN}@h:6379"}, "redis.username"),
    ("redis", {"sentinels": [f"{HIDDEN}@h:26379"]}, "redis.password"),
    ("redis", {"password": HIDDEN}, "redis.password: a secret is written"),
]


def run(name, *args, env=None):
    done = subprocess.run([BIN / name, *args], capture_output=True, text=True,
                          timeout=60, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("section, settings, complaint", PLAIN)
def test_what_is_written_plainly_is_refused_and_not_shown(
        section, settings, complaint, config, workdir):  # noqa: F811
    config[section].update(settings)
    path = write(workdir, config)
    for name in sorted(USES[section]):
        for what in ("--check", "--print-config"):
            status, out, err = run(name, what, "-c", path)
            assert HIDDEN not in out + err, name
            assert status == 78, (name, out, err)
            assert complaint in err, name


@every_program
def test_what_is_referred_to_is_masked(name, config, workdir):  # noqa: F811
    secret = workdir / "secret"
    secret.write_text(HIDDEN + "\n")
    config["kafka"].update(options=[
        "sasl.password=env:HIDDEN", "client.id=shown", f"ssl.key.pem=file:{secret}",
        "sasl.oauthbearer.config=env:HIDDEN"])
    config["clickhouse"]["url"] = "env:HIDDEN_URL"
    config["redis"]["password"] = f"file:{secret}"
    status, out, err = run(
        name, "--print-config", "-c", write(workdir, config),
        env={"HIDDEN": HIDDEN, "HIDDEN_URL": f"http://u:{HIDDEN}@h:8123/x"})
    assert status == 0, err
    assert HIDDEN not in out + err
    printed = yaml.safe_load(out)
    if name in USES["kafka"]:
        assert printed["kafka"]["options"] == [
            "sasl.password=***", "client.id=shown", "ssl.key.pem=***",
            "sasl.oauthbearer.config=***"]
    if name in USES["clickhouse"]:
        assert printed["clickhouse"]["url"] == "http://***@h:8123/x"


@pytest.mark.parametrize("name", SERVING)
def test_a_server_that_is_away_makes_nobody_tell(
        name, config, program, free_port):  # noqa: F811
    config["kafka"].update(security_protocol="sasl_plaintext", sasl_mechanism="PLAIN",
                           sasl_username="u",
                           options=["sasl.password=env:HIDDEN"])
    config["clickhouse"]["url"] = "env:HIDDEN_URL"
    started = program(name, config, ready=False, env={
        "HIDDEN": HIDDEN, "HIDDEN_URL": f"http://u:{HIDDEN}@127.0.0.1:{free_port()}"})
    server = "kafka" if name != "aggregator" else "clickhouse"

    def told():
        status, text = started.ready()
        line = [x for x in text.splitlines() if x.startswith(server + ": ")]
        return text if status == 503 and line and "not connected yet" not in line[0] else None

    text = eventually(told, what=f"/readyz with a reason for {server}")
    metrics = requests.get(started.admin + "/metrics", timeout=60).text
    assert HIDDEN not in text + metrics + started.log()


@pytest.fixture(scope="module")
def guarded(rundir):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="guarded-", dir=rundir))
    (directory / "password").write_text("p@ss/w:rd\n")
    server = ClickHouseServer(directory, extra=[
        "--user", "ana", "--password-file", directory / "password"])
    yield server.start()
    server.kill()


def migrate_by(program, url):
    migration = program("aggregator", {"clickhouse": {"url": "env:URL"}},
                        args=["migrate"], start=False, env={"URL": url})
    return migration.run()


def test_who_logs_in_by_the_url_comes_in(guarded, program):
    status, output = migrate_by(
        program, f"http://ana:p%40ss%2Fw%3Ard@127.0.0.1:{guarded.port}/")
    assert status == 0, output
    assert "p@ss" not in output and "p%40ss" not in output


def test_who_may_not_come_in_is_told_so_without_the_password(guarded, program):
    status, output = migrate_by(
        program, f"http://ana:{HIDDEN}@127.0.0.1:{guarded.port}")
    assert status == 69, output
    assert "516" in output
    assert HIDDEN not in output
