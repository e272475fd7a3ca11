"""GET /v1/links/{code}/qr: a decoder reads every picture."""
import http.client
import select
import xml.etree.ElementTree as ElementTree

import pytest

from support.allocator import *  # noqa: F403, fixtures too
from support.picture import qr_of, read_png, read_svg
from support.program import eventually


@pytest.fixture
def link(api):
    return api.create()


def qr(api, link, method="GET", **params):
    return api.call(method, f"/v1/links/{link['code']}/qr", params=params)


def edge_of(rows):
    """Returns the white pixels left of the first dark column, and above the first dark
    row."""
    def first(lines):
        return next(i for i, line in enumerate(lines) if 0 in line)
    return first(zip(*rows)), first(rows)


@pytest.mark.parametrize("level", "LMQH")
@pytest.mark.parametrize("size", [64, 100, 257, 1024, 4096])
def test_a_png_says_the_short_url(api, link, size, level):
    answer = qr(api, link, format="png", size=size, level=level)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "image/png"
    rows = read_png(answer.content)
    assert len(rows) == len(rows[0]) == size
    assert qr_of(rows) == (link["short_url"], level)


@pytest.mark.parametrize("level", "LMQH")
def test_an_svg_says_the_short_url(api, link, level):
    answer = qr(api, link, level=level)
    assert answer.headers["Content-Type"] == "image/svg+xml"
    assert qr_of(read_svg(answer.text)) == (link["short_url"], level)


def test_without_parameters_it_is_an_svg_of_256_with_4_modules_around(
        api, link):
    answer = qr(api, link)
    root = ElementTree.fromstring(answer.text)
    assert root.get("width") == root.get("height") == "256"
    assert edge_of(read_svg(answer.text, scale=1)) == (4, 4)
    assert qr_of(read_svg(answer.text))[1] == "M"


@pytest.mark.parametrize("margin", [0, 1, 4, 32])
def test_the_margin_is_what_was_asked(api, link, margin):
    rows = read_svg(qr(api, link, margin=margin).text, scale=1)
    assert edge_of(rows) == (margin, margin)


@pytest.mark.parametrize("margin", [0, 1, 4, 32])
def test_every_module_of_a_png_has_the_same_pixels(api, link, margin):
    modules = read_svg(qr(api, link, margin=margin).text, scale=1)
    size = 10 * len(modules) + 7
    rows = read_png(qr(api, link, format="png", size=size,
                       margin=margin).content)
    for y, line in enumerate(modules):
        wide = b"".join(bytes([module]) * 10 for module in line)
        for row in rows[3 + 10 * y:13 + 10 * y]:
            assert row == b"\xff" * 3 + wide + b"\xff" * 4


WRONG = [
    ({"size": "0"}, "size"), ({"size": "15"}, "size"),
    ({"size": "4097"}, "size"), ({"size": "big"}, "size"),
    ({"size": "-64"}, "size"), ({"size": ""}, "size"),
    ({"size": "99999999999999999999"}, "size"), ({"size": "1e3"}, "size"),
    ({"margin": "33"}, "margin"), ({"margin": "x"}, "margin"),
    ({"level": "X"}, "level"), ({"level": "m"}, "level"),
    ({"level": ""}, "level"), ({"level": "LM"}, "level"),
    ({"format": "gif"}, "format"), ({"format": ""}, "format"),
    ({"colour": "red"}, "colour"), ({"size": ["64", "64"]}, "size"),
    ({"format": "png", "size": "20"}, "size"),
]


def test_a_wrong_parameter_is_named(api, link, subtests):
    for params, name in WRONG:
        with subtests.test(str(params)):
            detail = problem(qr(api, link, **params), 400)
            assert detail.startswith(name + ":")


def test_a_bad_escape_is_a_400(api, link):
    path = f"/v1/links/{link['code']}/qr?size=%zz"
    problem(api.call("GET", path), 400)


def test_head_has_the_headers_and_no_body(api, link):
    get, head = qr(api, link), qr(api, link, method="HEAD")
    assert head.status_code == 200 and head.content == b""
    for name in ("Content-Type", "Content-Length", "ETag", "Cache-Control"):
        assert head.headers[name] == get.headers[name]


def test_who_has_the_picture_is_told_so(api, link):
    first = qr(api, link)
    assert first.headers["Cache-Control"] == "private, max-age=3600"
    path = f"/v1/links/{link['code']}/qr"
    again = api.call("GET", path,
                     headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304 and again.content == b""
    assert again.headers["ETag"] == first.headers["ETag"]
    other = api.call("GET", path + "?level=H",
                     headers={"If-None-Match": first.headers["ETag"]})
    assert other.status_code == 200


def test_a_code_nobody_has_is_404(api):
    problem(api.call("GET", "/v1/links/aaaaaaa/qr"), 404)


def test_an_expired_link_has_no_code_any_more(api):
    link = api.create(ttl="2s")
    eventually(lambda: qr(api, link).status_code == 410)


def test_it_needs_the_role_to_read(api, link):
    path = f"/v1/links/{link['code']}/qr"
    problem(api.call("GET", path, "crm"), 403)
    problem(api.call("GET", path, None), 401)


def test_another_method_is_405(api, link):
    answer = qr(api, link, method="POST")
    problem(answer, 405)
    assert answer.headers["Allow"] == "GET, HEAD"


def test_large_pictures_hold_nothing_else_up(redis, topic, create_space, start):
    """The pictures are drawn outside the only thread that answers."""
    assert create_space()[0] == 0
    api = start(topic, threads=1)
    code = api.create()["code"]
    host, port = api.program.section["listen"].split(":")

    def others_meanwhile():
        """Returns how many other requests were answered while pictures were still
        drawn."""
        asking = [http.client.HTTPConnection(host, int(port), timeout=60)
                  for _ in range(24)]
        for connection in asking:
            connection.request(
                "GET", f"/v1/links/{code}/qr?format=png&size=4096",
                headers={"Authorization": "Bearer boss"})
        sockets, others = [c.sock for c in asking], -1
        while len(select.select(sockets, [], [], 0)[0]) < len(sockets):
            assert api.get(code).status_code == 200
            others += 1
        assert [c.getresponse().status for c in asking] == [200] * len(asking)
        return others
    # If the answering thread drew them, one or two would be answered.
    eventually(lambda: others_meanwhile() > 4, what="answers meanwhile")
