"""The answers of every program on its command line, for any state of its servers."""
import email.utils
import pathlib
import re
import socket
import subprocess
import sys

import pytest
import yaml

import servers
from support.program import BIN, eventually

PROGRAMS = ["redirector", "allocator", "collector", "aggregator", "reclaimer"]
SERVING = ["redirector", "allocator", "collector", "aggregator"]
DEV = yaml.safe_load((servers.ROOT / "config/dev.yaml").read_text())

every_program = pytest.mark.parametrize("name", PROGRAMS)


def run(name, *args, **kwargs):
    return subprocess.run([BIN / name, *args], capture_output=True, text=True,
                          timeout=60, cwd=servers.ROOT, **kwargs)


@pytest.fixture
def config(workdir, free_port):
    """Returns the development stack's settings, with files and ports of this test; its
    servers do not run."""
    made = yaml.safe_load(yaml.safe_dump(DEV))
    key = workdir / "space.key"
    key.write_text("0123456789abcdef0123456789abcdef")
    api_keys = workdir / "api.keys"
    api_keys.write_text("")
    for space in made["links"]["spaces"]:
        for one in space.get("keys", []):
            one["key"] = f"file:{key}"
    made["allocator"]["keys_file"] = str(api_keys)
    made["redis"]["address"] = f"127.0.0.1:{free_port()}"
    made["kafka"]["brokers"] = [f"127.0.0.1:{free_port()}"]
    made["clickhouse"]["url"] = f"http://127.0.0.1:{free_port()}"
    for name in PROGRAMS:
        for where in ("listen", "admin"):
            if where in made[name]:
                made[name][where] = f"127.0.0.1:{free_port()}"
    return made


def write(workdir, text):
    path = workdir / "shortloop.yaml"
    path.write_text(text if isinstance(text, str) else yaml.safe_dump(text))
    return str(path)


@every_program
def test_help_goes_to_stdout(name):
    done = run(name, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"{name} - ")
    for word in ("--config", "--check", "--print-config", "SIGTERM", "78"):
        assert word in done.stdout


@every_program
def test_version_is_the_projects(name):
    version = (servers.ROOT / "VERSION").read_text().strip()
    assert run(name, "--version").stdout == f"{name} (shortloop) {version}\n"


@every_program
@pytest.mark.parametrize("args", [["--what"], ["-c"], ["-x7"], ["run", "away"]])
def test_a_wrong_command_line_exits_64(name, args):
    done = run(name, *args)
    assert done.returncode == 64
    assert done.stderr.startswith(f"{name}: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("args, wrong", [
    (["--what"], "--what"), (["-x7"], "-x"), (["-nx"], "-x"),
    (["spaces", "-x7"], "-x"), (["--json=3"], "--json=3")])
def test_an_unknown_option_is_named(args, wrong):
    assert f"unknown option {wrong};" in run("allocator", *args).stderr


def test_a_key_is_made_without_a_configuration():
    done = run("allocator", "make-key", "--name", "crm", "--roles", "read",
               "-c", "/nowhere.yaml")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].startswith("crm read sha256:")


@pytest.mark.parametrize("args, wrong", [
    (["reclaimer", "status", "--rate", "5"], "--rate"),
    (["allocator", "spaces", "--burst", "5"], "--burst"),
    (["aggregator", "--wait", "5s"], "--wait")])
def test_an_option_of_another_command_is_refused(args, wrong):
    done = run(*args)
    assert done.returncode == 64
    assert f"{wrong} does not go with" in done.stderr


def test_help_of_a_command_shows_its_options_only():
    text = run("reclaimer", "status", "--help").stdout
    assert "--json" in text and "--rate" not in text
    assert "usage: reclaimer status [options]\n" in text
    assert "--rate" in run("reclaimer", "--help").stdout


@every_program
def test_check_says_ok(name, config, workdir):
    done = run(name, "--check", "-c", write(workdir, config))
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr


@pytest.mark.parametrize("name, setting", [
    ("collector", "ua_rules"), ("collector", "verdict_rules"),
    ("collector", "source_list"),
    ("collector", "geo_files"), ("allocator", "keys_file"),
    ("allocator", "url_allow_file"), ("allocator", "url_deny_file"),
    ("aggregator", "keys_file"), ("redirector", "deny_file")])
def test_check_finds_the_file_that_a_start_would_miss(name, setting, config,
                                                      workdir):
    missing = "/nowhere/at/all"
    config[name][setting] = [missing] if setting == "geo_files" else missing
    done = run(name, "--check", "-c", write(workdir, config))
    assert (done.returncode, done.stdout) == (78, ""), done.stdout
    assert missing in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("name, setting", [
    ("collector", "list"), ("collector", "patterns"), ("redirector", "list")])
def test_check_finds_the_list_of_robots_that_a_start_would_miss(
        name, setting, config, workdir):
    config["robots"] = {setting: "/nowhere/at/all"}
    done = run(name, "--check", "-c", write(workdir, config))
    assert (done.returncode, done.stdout) == (78, ""), done.stdout
    assert "/nowhere/at/all" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("name, says", [
    ("allocator", "SIGHUP reads again: domains.file, allocator.keys_file, "
     "allocator.url_allow_file, allocator.url_deny_file; "
     "allocator.audit_file is opened anew\n"),
    ("collector", "SIGHUP reads again: robots.list, robots.patterns, "
     "collector.ua_rules, "
     "collector.verdict_rules, collector.source_list, collector.geo_files\n"),
    ("redirector", "SIGHUP reads again: domains.file, robots.list, robots.patterns, "
     "redirector.app_page_file, redirector.mini_program_page_file, redirector.deny_file; "
     "redirector.access_log is opened anew\n"),
    ("reclaimer", "SIGHUP is ignored"),
    ("aggregator", "SIGHUP reads again: domains.file, aggregator.keys_file\n")])
def test_help_says_what_sighup_does(name, says):
    assert says in run(name, "--help").stdout


@every_program
def test_a_missing_file_is_one_line(name):
    done = run(name, "-n", "-c", "/nonexistent/shortloop.yaml")
    assert done.returncode == 78
    assert "/nonexistent/shortloop.yaml" in done.stderr
    assert "No such file" in done.stderr
    assert done.stderr.count("\n") == 1


@every_program
def test_an_unknown_key_names_its_place(name, config, workdir):
    config["redis"]["adress"] = "127.0.0.1:1"
    if name == "collector":  # it does not read the section
        config["kafka"]["adress"] = "127.0.0.1:1"
    path = write(workdir, config)
    lines = pathlib.Path(path).read_text().splitlines()
    where = [i for i, line in enumerate(lines, 1) if "adress" in line]
    done = run(name, "-n", "-c", path)
    assert done.returncode == 78
    assert "adress: unknown key; known here: " in done.stderr
    assert any(f"{path}:{line}:3: " in done.stderr for line in where)


@pytest.mark.parametrize("topics, complaint", [
    ({"topic_clicks": "one", "topic_links": "one"},
     "kafka.topic_links: topic_clicks is 'one', too"),
    ({"topic_clicks": "rescore"},
     "kafka.topic_clicks: 'rescore' is what a re-score is reported as")])
def test_topics_that_rows_could_not_tell_apart_are_refused(topics, complaint,
                                                           config, workdir):
    config["kafka"] |= topics
    done = run("collector", "--check", "-c", write(workdir, config))
    assert done.returncode == 78
    assert complaint in done.stderr


@pytest.mark.parametrize("late_window, raw_days, status", [
    (None, 6, 78), (None, 7, 0), ("8d", 7, 78), ("1m", 1, 0), ("90d", 0, 0)])
def test_days_are_not_dropped_while_clicks_of_them_may_come(late_window, raw_days, status,
                                                            config, workdir):
    config["aggregator"]["raw_days"] = raw_days
    if late_window:
        config["clicks"] = {"late_window": late_window}
    done = run("aggregator", "--check", "-c", write(workdir, config))
    assert done.returncode == status, done.stderr
    assert ("aggregator.raw_days must not be shorter than clicks.late_window"
            in done.stderr) == (status == 78)


@every_program
def test_an_unknown_section_is_refused(name, config, workdir):
    config["redsi"] = {}
    done = run(name, "-n", "-c", write(workdir, config))
    assert done.returncode == 78
    assert "redsi: unknown section" in done.stderr


@every_program
def test_the_printed_configuration_is_a_configuration(name, config, workdir):
    printed = run(name, "--print-config", "-c", write(workdir, config)).stdout
    assert "0123456789abcdef" not in printed
    settings = yaml.safe_load(printed)
    for space in settings.get("links", {}).get("spaces", []):
        for key in space["keys"]:
            assert key.pop("key") == "***"
            key["key"] = config["links"]["spaces"][0]["keys"][0]["key"]
    again = run(name, "--print-config", "-c", write(workdir, settings))
    assert again.returncode == 0, again.stderr
    assert again.stdout == printed


@pytest.mark.parametrize("name", SERVING)
def test_servers_that_are_late_are_waited_for(name, config, program):
    started = program(name, config, ready=False)
    expected = {"redirector": ["redis", "kafka"],
                "allocator": ["redis", "kafka"],
                "collector": ["kafka", "clickhouse"],
                "aggregator": ["clickhouse"]}[name]

    def reasons():
        status, text = started.ready()
        told = dict(line.split(": ", 1) for line in text.splitlines()
                    if ": " in line)
        return text if status == 503 and all(
            told.get(server, "not connected yet") != "not connected yet"
            for server in expected) else None

    eventually(reasons, what="/readyz naming " + ", ".join(expected))
    assert started.process.running()
    assert started.stop() == 0


@pytest.mark.parametrize("name", SERVING)
def test_a_port_in_use_is_one_line(name, config, workdir):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        config[name]["admin"] = where
        done = run(name, "-c", write(workdir, config))
    assert done.returncode == 71
    errors = [line for line in done.stderr.splitlines()
              if "level=error" in line]
    assert len(errors) == 1, done.stderr
    assert where in errors[0] and "in use" in errors[0]


def test_the_sample_file_is_what_the_programs_print():
    printed = subprocess.run(
        [sys.executable, servers.ROOT / "tools/sample.py",
         *(BIN / name for name in PROGRAMS)],
        capture_output=True, text=True, check=True).stdout
    kept = (servers.ROOT / "config/shortloop.yaml").read_text()
    assert printed == kept, "run `make sample`"


@every_program
def test_the_manual_page_has_every_setting_of_the_sample(name):
    manual = run(name, "--print-man").stdout
    sample = yaml.safe_load(run(name, "--print-sample").stdout)
    for section, settings in sample.items():
        assert f".Ss Section {section}\n" in manual
        for key in settings or {}:
            assert f".It Ic {key}\n" in manual


@every_program
def test_the_manual_page_has_both_forms_of_an_option_and_its_versions_day(name):
    manual = run(name, "--print-man").stdout
    assert ".It Fl c , Fl -config Ar FILE\n" in manual
    assert ".It Fl n , Fl -check\n" in manual
    assert ".It Fl -version\n" in manual
    released = email.utils.parsedate_to_datetime(re.search(
        r"^ -- .*>  (.*)$", (servers.ROOT / "debian/changelog").read_text(),
        re.MULTILINE)[1])
    assert manual.startswith(f".Dd {released:%B} {released.day}, {released.year}\n")
