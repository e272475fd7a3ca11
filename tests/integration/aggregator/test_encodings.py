"""Answers of the aggregator in each content coding (RFC 9110, 12.5.3)."""
import gzip
import http.client
import json
import urllib.parse

import pytest
from backports import zstd

from support.asking import FROM, TO, aggregator, settled  # noqa: F401
from support.clicks import instant, rfc3339, some_clicks
from support.program import eventually

WINDOW = (instant("2026-10-24T22:00:00Z"), instant("2026-10-25T03:00:00Z"))
DECODE = {"identity": bytes, "gzip": gzip.decompress, "zstd": zstd.decompress}
# Which coding of a long answer is chosen for which lines of Accept-Encoding.
CHOICES = [
    ((), "identity"),
    (("",), "identity"),
    (("br, deflate",), "identity"),
    (("gzip",), "gzip"),
    (("x-gzip",), "gzip"),
    (("zstd",), "zstd"),
    (("gzip, deflate, br, zstd",), "zstd"),
    (("zstd;q=0.5, gzip",), "gzip"),
    (("gzip;q=0.9, identity",), "identity"),
    (("gzip;q=0",), "identity"),
    (("zstd;q=0, *",), "gzip"),
    (("*",), "zstd"),
    (("*;q=0, gzip;q=0.001",), "gzip"),
    (("identity;q=0, gzip",), "gzip"),
    (("gzip;q=2, identity;q=x",), "identity"),
    (("gzip;q=0.5", "zstd"), "zstd"),
]
LONG = "/v1/clicks?" + urllib.parse.urlencode(
    {"from": rfc3339(FROM), "to": rfc3339(TO), "interval": "hour"})
SCRIPT = "// every line of it\n" * 400


class Answer:
    """One raw request: nothing is added to it, nothing is decoded."""

    def __init__(self, made, path, *accept, method="GET", **headers):
        at = http.client.HTTPConnection(made.url.partition("//")[2],
                                        timeout=60)
        at.putrequest(method, path, skip_accept_encoding=True)
        for line in accept:
            at.putheader("Accept-Encoding", line)
        for name, value in headers.items():
            at.putheader(name.replace("_", "-"), value)
        at.endheaders()
        response = at.getresponse()
        self.status, self.raw = response.status, response.read()
        self.headers = response.headers
        at.close()

    @property
    def coding(self):
        return self.headers.get("Content-Encoding", "identity")

    def body(self):
        return DECODE[self.coding](self.raw)


@pytest.fixture
def made(aggregator, migrated, tmp_path):  # noqa: F811
    """The clicks are settled, so that an answer does not change."""
    (tmp_path / "app.js").write_text(SCRIPT)
    (tmp_path / "index.html").write_text("<p>hello")
    (tmp_path / "dot.png").write_bytes(bytes(5000))
    rows = some_clicks(1, 500, [WINDOW])
    migrated.insert(rows)
    made = aggregator(web_root=str(tmp_path))
    settled(made, len(rows))

    def stays():
        """Returns whether no later answer differs."""
        answer = json.loads(Answer(made, LONG).raw)
        return answer["complete_until"] and answer["waiting"] is False
    eventually(stays, what="that nothing waits")
    return made


def tag_of(etag, coding):
    return etag if coding == "identity" else f'{etag[:-1]}-{coding}"'


@pytest.mark.proof
def test_an_answer_is_the_same_in_every_coding(made):
    for path in (LONG, LONG + "&format=csv", "/openapi.json", "/app.js"):
        plain = Answer(made, path)
        assert (plain.status, plain.coding) == (200, "identity")
        assert len(plain.raw) > 1400
        for accept, coding in CHOICES:
            got = Answer(made, path, *accept)
            what = (path, accept)
            assert (got.status, got.coding) == (200, coding), what
            assert got.body() == plain.raw, what
            assert got.headers["Vary"] == "Accept-Encoding", what
            assert got.headers["ETag"] == tag_of(plain.headers["ETag"],
                                                 coding), what
            assert got.headers["Content-Type"] == \
                plain.headers["Content-Type"], what
            assert int(got.headers["Content-Length"]) == len(got.raw), what
            if coding != "identity":
                assert len(got.raw) < len(plain.raw) / 2, what
    assert Answer(made, LONG, "gzip").headers["ETag"] == \
        f'"{json.loads(Answer(made, LONG).raw)["revision"]}-gzip"'


def test_head_has_the_headers_of_get(made):
    for path in (LONG, "/app.js", "/index.html"):
        for accept in ((), ("gzip",), ("gzip, zstd",)):
            get = Answer(made, path, *accept)
            head = Answer(made, path, *accept, method="HEAD")
            for answer in (get, head):
                del answer.headers["Date"]
            assert head.raw == b""
            assert head.headers.items() == get.headers.items()


def test_who_has_any_form_is_not_sent_another(made):
    for path in (LONG, "/app.js"):
        etag = Answer(made, path).headers["ETag"]
        forms = {coding: tag_of(etag, coding) for coding in DECODE}
        for have in (*forms.values(), "W/" + forms["gzip"], "*",
                     f'"other", {forms["zstd"]}'):
            for accept, coding in CHOICES:
                got = Answer(made, path, *accept, If_None_Match=have)
                assert (got.status, got.raw) == (304, b""), (have, accept)
                assert got.headers["ETag"] == forms[coding]
                assert got.headers["Vary"] == "Accept-Encoding"
                for name in ("Content-Encoding", "Content-Type",
                             "Content-Length"):
                    assert name not in got.headers
        for have in (etag[1:-1], etag[:-1] + '-br"', '"other"', ""):
            assert Answer(made, path, "gzip",
                          If_None_Match=have).status == 200, have


def test_what_is_short_or_no_text_is_left_alone(made):
    short = "/v1/clicks?" + urllib.parse.urlencode(
        {"from": rfc3339(FROM), "to": rfc3339(TO), "interval": "month"})
    for path in (short, "/index.html", "/dot.png"):
        got = Answer(made, path, "gzip, zstd")
        assert (got.status, got.coding) == (200, "identity")
        assert got.headers["Vary"] == "Accept-Encoding"
    for path in ("/v1/clicks?no=such", "/v1/links/none/summary", "/none"):
        got = Answer(made, path, "gzip, zstd")
        assert got.status in (400, 404)
        assert got.coding == "identity"
        assert json.loads(got.raw)["status"] == got.status


def test_who_refuses_identity_is_sent_another_or_406(made):
    short = LONG.replace("interval=hour", "interval=month")
    for path in (LONG, short, "/app.js", "/index.html", "/openapi.json"):
        plain = Answer(made, path).raw
        for refused in ("identity;q=0", "*;q=0"):
            got = Answer(made, path, refused + ", zstd;q=0.1")
            assert (got.status, got.coding) == (200, "zstd")
            assert got.body() == plain
    for path, accept in ((LONG, "identity;q=0"), (LONG, "*;q=0"),
                         (short, "identity;q=0, br"), ("/app.js", "*;q=0"),
                         ("/dot.png", "identity;q=0, gzip")):
        got = Answer(made, path, accept)
        assert got.status == 406, (path, accept)
        assert got.coding == "identity"
        assert got.headers["Vary"] == "Accept-Encoding"
        assert "Accept-Encoding" in json.loads(got.raw)["detail"]
