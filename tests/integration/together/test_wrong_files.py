"""Settings name files that are invalid: a program reports it, and does not hang; and
files that are large or deep take no program long."""
import os
import subprocess

import pytest

import servers
from support.program import BIN
from test_command_line import config, every_program, write  # noqa: F401

FILES = [("redirector", "deny_file"), ("redirector", "app_page_file"),
         ("redirector", "mini_program_page_file"),
         ("allocator", "keys_file"), ("allocator", "url_allow_file"),
         ("allocator", "url_deny_file"), ("allocator", "high_water_file"),
         ("collector", "ua_rules"), ("collector", "verdict_rules"),
         ("collector", "source_list"), ("collector", "geo_files"),
         ("collector", "visitor_secret"),
         ("aggregator", "keys_file")]
OTHERS = [("collector", "robots", "list"), ("collector", "robots", "patterns"),
          ("redirector", "robots", "list"),
          ("redirector", "domains", "file"), ("allocator", "domains", "file"),
          ("collector", "clickhouse", "ca_file"),
          ("collector", "kafka", "ssl_ca_file"),
          ("reclaimer", "redis", "password")]


def run(name, *args):
    # A program that waits for a writer would do so for ever; this timeout is long
    # enough.
    return subprocess.run([BIN / name, *args], capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL, cwd=servers.ROOT)


def nobody_writes_to(workdir):
    path = workdir / "fifo"
    os.mkfifo(path)
    return path


@every_program
def test_a_configuration_is_a_file(name, workdir):
    fifo = nobody_writes_to(workdir)
    for path, what in ((fifo, "a FIFO"), ("/dev/zero", "a device"),
                       ("/dev/tty", "a device"), (workdir, "a directory")):
        done = run(name, "--check", "-c", path)
        assert done.returncode == 78
        assert f"{path}: cannot read the configuration: it is {what}" in done.stderr


@pytest.mark.parametrize("path", ["fifo", "/dev/zero"])
@pytest.mark.parametrize(
    "name, section, setting", [(n, n, s) for n, s in FILES] + OTHERS)
def test_what_a_setting_names_is_a_file(name, section, setting, path, config,  # noqa: F811
                                        workdir):
    path = nobody_writes_to(workdir) if path == "fifo" else path
    value = f"file:{path}" if setting in ("visitor_secret", "password") else str(path)
    if section == "domains":
        config["domains"] = {}
    config.setdefault(section, {})[setting] = [value] if setting == "geo_files" else value
    done = run(name, "--check", "-c", write(workdir, config))
    assert done.returncode in (71, 78), done.stderr
    assert str(path) in done.stderr


@pytest.mark.proof
@every_program
@pytest.mark.parametrize("text, complaint", [
    ("[" * 100_000, ":1:65: more than 64 lists and mappings within each other"),
    ("- " * 50_000, ":1:129: more than 64 lists and mappings"),
    ("".join(f"%TAG !a{n}! x\n" for n in range(60_000)), ":17:1: too many %TAG"),
    ("".join(f"k{n}: 1\n" for n in range(3_000_000)), ": is longer than 16777216 bytes"),
    ("log:\n" + "".join(f"  k{n}: 1\n" for n in range(900_000)),
     ":2:3: log.k0: unknown key"),
    ("log:\n" + "".join(f"  k{n % 850_000}: 1\n" for n in range(900_000)),
     ":850002:3: k0: given twice, first in line 2"),
    ("redirector:\n  a0: &a0 [x]\n" + "".join(
        f"  a{n + 1}: &a{n + 1} [*a{n}, *a{n}]\n" for n in range(60)),
     "too many anchors and aliases"),
], ids=["lists", "dashes", "tags", "keys", "unknown", "doubled", "bomb"])
def test_a_large_or_deep_configuration_takes_no_time(name, text, complaint, workdir):
    done = run(name, "--check", "-c", write(workdir, text))
    assert done.returncode == 78
    assert complaint in done.stderr


@pytest.mark.parametrize("text", [
    "domains:\n  list:\n" + "".join(
        f"    - {{name: d{n}, hosts: [h{n}.example]}}\n" for n in range(100_000)),
    "domains:\n  list:\n    - name: d\n      hosts:\n" + "".join(
        f"        - h{n}.example\n" for n in range(200_000))], ids=["names", "hosts"])
def test_many_domains_take_no_time(text, config, workdir):  # noqa: F811
    path = workdir / "domains.yaml"
    path.write_text(text)
    config["domains"] = {"file": str(path)}
    done = run("allocator", "--check", "-c", write(workdir, config))
    assert done.returncode == 0, done.stderr


def test_deep_domains_and_rules_are_refused(config, workdir):  # noqa: F811
    path = workdir / "deep.yaml"
    path.write_text("{a: " * 4_000)
    for name, section, setting in (("redirector", "domains", "file"),
                                   ("collector", "collector", "verdict_rules"),
                                   ("collector", "collector", "ua_rules")):
        changed = {**config, section: {
            **(config[section] if section == name else {}), setting: str(path)}}
        done = run(name, "--check", "-c", write(workdir, changed))
        assert done.returncode == 78
        assert "more than 64 lists and mappings within each other" in done.stderr
