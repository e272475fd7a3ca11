"""The redirector's access log: its content, and that `collector import` can read it."""
import datetime
import hashlib
import json
import re
import signal
import socket

import pytest

from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, clicks, domains_config, links, make_links, start, visit)
from test_import import importer  # noqa: F401 (a fixture)

CLIENT = "8.8.8.8"
NOWHERE = "zzzzzzz"
COMBINED = re.compile(
    r'(\S+) - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\] '
    r'"(\S+) (\S+) HTTP/1\.([01])" (\d{3}) (\d+) "([^"]*)" "([^"]*)"\n')


@pytest.fixture
def log_path(workdir):
    return workdir / "access.log"


@pytest.fixture
def logged(start, log_path):
    """logged(setting=...) starts a redirector that writes the log."""
    return lambda **settings: start(
        **{"threads": 1, "trusted_proxies": ["127.0.0.0/8"],
           "access_log": str(log_path), **settings})


def ask(redirector, path, method="GET", **headers):
    return visit(f"{redirector.url}/{path}", method, headers={
        "X-Forwarded-For": CLIENT, "User-Agent": "agent/1.0", **headers})


def lines_of(path, count):
    """Returns the lines once there are `count` whole ones: they are written after the
    answers, and a text of more than a page becomes visible page by page."""
    def written():
        text = path.read_bytes().decode("ascii")
        return text.count("\n") >= count and text.splitlines(keepends=True)
    lines = eventually(written, what=f"{count} lines")
    assert len(lines) == count
    return lines


def test_each_answer_is_a_combined_line(links, logged, log_path):
    redirector = logged(client_rate="1/h", client_burst=7)
    code = links.create()
    ask(redirector, f"{code}?a=1", Referer="https://from.example/")
    ask(redirector, code, "HEAD")
    pages = [ask(redirector, NOWHERE), ask(redirector, "humans.txt"),
             ask(redirector, code, "POST"), ask(redirector, "")]
    ask(redirector, code)
    ask(redirector, code)
    found = [COMBINED.fullmatch(line).groups()
             for line in lines_of(log_path, 8)]
    assert {ip for ip, *_ in found} == {CLIENT}
    assert [(method, path, int(status)) for _, method, path, _, status, *_
            in found] == [
        ("GET", f"/{code}?a=1", 302), ("HEAD", f"/{code}", 302),
        ("GET", f"/{NOWHERE}", 404), ("GET", "/humans.txt", 404),
        ("POST", f"/{code}", 405), ("GET", "/", 404),
        ("GET", f"/{code}", 302), ("GET", f"/{code}", 429)]
    assert found[0][-2:] == ("https://from.example/", "agent/1.0")
    assert [int(line[5]) for line in found[2:6]] == [
        len(page.content) for page in pages]


def test_a_line_has_the_time_of_its_event(links, logged, log_path, clicks):
    redirector = logged(access_log_format="json")
    code = links.create()
    for _ in range(300):
        ask(redirector, code)
    told = [datetime.datetime.fromisoformat(json.loads(line)["time_iso8601"])
            for line in lines_of(log_path, 300)]
    assert [round(t.timestamp() * 1000) for t in told] == [
        e.time_ms for e in sorted(clicks(redirector, 300),
                                  key=lambda e: e.time_ms)]


def test_the_whole_log_is_written_before_the_end(links, logged, log_path):
    redirector = logged(threads=2)
    code = links.create()
    for _ in range(200):
        ask(redirector, code)
    assert redirector.stop() == 0
    assert len(log_path.read_text().splitlines()) == 200


def test_one_in_so_many_is_written(links, logged, log_path):
    redirector = logged(access_log_sample=10, access_log_format="json")
    code = links.create()
    for n in range(200):
        ask(redirector, f"{code}?{n}")
    assert redirector.stop() == 0
    found = [int(json.loads(line)["args"]) for line in log_path.open()]
    assert [n // 10 for n in found] == list(range(20))
    assert len({n % 10 for n in found}) > 1


def test_no_log_unless_it_is_asked_for(links, start, workdir):
    before = set(workdir.iterdir())
    redirector = start()
    ask(redirector, links.create())
    assert redirector.stop() == 0
    assert {p.suffix for p in set(workdir.iterdir()) - before} <= {""}


def test_a_log_that_was_moved_away_is_made_anew(links, logged, log_path):
    redirector = logged()
    code = links.create()
    ask(redirector, f"{code}?1")
    lines_of(log_path, 1)
    moved = log_path.rename(log_path.with_suffix(".1"))
    redirector.process.signal(signal.SIGHUP)
    eventually(log_path.exists, what="a new file")
    ask(redirector, f"{code}?2")
    assert "?2 " in lines_of(log_path, 1)[0]
    assert "?1 " in lines_of(moved, 1)[0]


def test_a_full_disk_stops_no_visit(links, logged, log_path):
    log_path.symlink_to("/dev/full")
    redirector = logged(access_log_queue="64KiB")
    code = links.create()
    agent = "a" * 4000
    for _ in range(50):
        assert ask(redirector, code, **{"User-Agent": agent}).status_code == 302
    lost = "shortloop_redirector_access_lines_lost_total"
    eventually(lambda: redirector.metric(lost) > 0, what="lost lines")
    redirector.wait_log("No space left")
    log_path.unlink()
    redirector.process.signal(signal.SIGHUP)
    redirector.wait_log("writing resumed")
    assert redirector.stop() == 0
    assert len(log_path.read_text().splitlines()) <= 50


def test_a_log_that_cannot_be_opened_is_one_clear_line(links, logged):
    redirector = logged(ready=False, access_log="/nonexistent/access.log")
    assert redirector.process.wait(60) == 78
    assert ("redirector.access_log: /nonexistent/access.log: No such file"
            in redirector.log())


def raw(redirector, head):
    """Sends a request with bytes that no library sends."""
    host, port = redirector.section["listen"].rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as s:
        s.sendall(head + b"\r\nConnection: close\r\n\r\n")
        while s.recv(4096):
            pass


HOSTILE = b'x" 200 0 "-" "\\ \xff\xc3\xa4\t\x80'


@pytest.mark.parametrize("kind", ["combined", "json"])
def test_an_import_reads_what_was_answered(links, logged, log_path, tables,
                                           importer, kind):
    redirector = logged(access_log_format=kind)
    code, gone = links.create(), links.create()
    links.delete(gone)
    ask(redirector, f"{code}?utm_source=news&x=1", Host="sho.rt",
        Referer="https://www.google.com/x")
    for path in (gone, NOWHERE):
        ask(redirector, path)
    ask(redirector, code, "HEAD")
    raw(redirector, b"GET /" + code.encode() + b"?\"\\ HTTP/1.0\r\n"
        b"X-Forwarded-For: 8.8.8.8\r\nUser-Agent: " + HOSTILE)
    assert redirector.stop() == 0
    run = importer()
    run(log_path)
    assert f"({kind}, " in run.out
    found = tables.rows("SELECT *, toString(ip) AS address, "
                        "hex(unique_identity) AS visitor FROM clicks "
                        "ORDER BY offset")
    assert [(r["code"], r["outcome"]) for r in found] == [
        (code, "redirected"), (gone, "expired"), (NOWHERE, "not_found"),
        (code, "head"), (code, "redirected")]
    assert {r["address"] for r in found} == {f"::ffff:{CLIENT}"}
    assert found[0]["query"] == "utm_source=news&x=1"
    assert (found[0]["referrer_host"], found[0]["utm_source"]) == (
        "www.google.com", "news")
    assert found[4]["query"] == '"\\'
    # Address and agent identify a visitor; the combined format has the exact bytes.
    agent = HOSTILE if kind == "combined" else HOSTILE.replace(
        b"\xff", b"?").replace(b"\x80", b"?")
    assert found[4]["visitor"].lower() == hashlib.sha1(
        bytes([8, 8, 8, 8]) + agent).hexdigest()
    assert found[0]["domain"] == ("sho.rt" if kind == "json" else "")
