"""Polls of a page that has not changed: the ETag is that of the counts, and what the
watermark changes comes in headers, with a 304 as well."""
import requests

import pytest

from support.asking import aggregator, settled  # noqa: F401
from support.clicks import instant, rfc3339, some_clicks
from support.keys import key_line
from support.program import eventually

FROM, TO = instant("2026-10-24T00:00:00Z"), instant("2026-10-25T00:00:00Z")
HOUR = 3600
UNCHANGED = "shortloop_aggregator_polls_unchanged_total"
SAID = {"complete_until": "Complete-Until", "complete": "Complete", "waiting": "Waiting"}
KEYS = {"all": "read accounts=*", "acme": "read account=acme"}
PAGE = ("/v1/clicks?breakdowns=country,region&limit=3", "/v1/top?limit=3",
        "/v1/clicks?code=code1", "/v1/clicks?account=acme&format=csv")


@pytest.fixture
def made(aggregator, migrated, workdir):  # noqa: F811
    path = workdir / "api.keys"
    path.write_text("".join(key_line(*item) for item in KEYS.items()))
    migrated.link("code1", 1)
    return aggregator(keys_file=str(path), watermark_every="300ms")


def get(made, path, etag=None, key="all"):
    headers = {"If-None-Match": etag} if etag else {}
    return requests.get(f"{made.url}{path}&from={rfc3339(FROM)}&to={rfc3339(TO)}", timeout=60,
                        headers={"Authorization": f"Bearer {key}", **headers})


def said(answer):
    """Returns the headers as JSON has them."""
    return {name: answer.headers.get(header) for name, header in SAID.items()}


def assert_said(answer):
    """The headers of a 200 say what its members say."""
    body = answer.json()
    assert said(answer) == {
        "complete_until": body["complete_until"],
        "complete": str(body["complete"]).lower(), "waiting": str(body["waiting"]).lower()}


def test_an_unchanged_page_is_polled_without_a_query_while_the_watermark_goes_on(
        made, migrated):
    rows = some_clicks(1, 40, [(FROM, FROM + HOUR)], links=(1,))
    migrated.insert(rows, append_ms=(FROM + 2 * HOUR) * 1000)

    def first(path):
        answer = get(made, path)
        return answer if answer.headers.get("Complete-Until") else None
    eventually(lambda: get(made, PAGE[0]).json()["total"]["events"] == len(rows))
    tags = {path: eventually(lambda p=path: first(p)).headers["ETag"] for path in PAGE}
    for path in PAGE[:3]:
        assert_said(get(made, path))
    assert said(get(made, PAGE[0]))["complete"] == "false"

    # Time goes on, without a click: nobody asks ClickHouse, and the headers say it.
    migrated.report([], 0, (TO + HOUR) * 1000)
    for path in PAGE:
        def unchanged(path=path):
            answer = get(made, path, tags[path])
            assert answer.status_code == 304 and not answer.content, path
            return said(answer) == {"complete_until": rfc3339(TO),
                                    "complete": "true", "waiting": "false"}
        eventually(unchanged, what=f"the watermark in the headers of {path}")
        answer = get(made, path)
        assert answer.status_code == 200 and answer.headers["ETag"] == tags[path]
    # Answers that were just made are polled from memory, unless tables were merged since.
    for path in PAGE:
        def from_memory(path=path):
            before = made.metric(UNCHANGED)
            assert get(made, path, tags[path]).status_code == 304
            return made.metric(UNCHANGED) == before + 1
        eventually(from_memory, what=f"{path} from memory")

    # A key of another account's links has an answer of its own.
    assert get(made, PAGE[0], tags[PAGE[0]], "acme").status_code == 200
    # A click changes the page.
    more = some_clicks(2, 5, [(FROM, FROM + HOUR)], links=(1,))
    migrated.insert(more, append_ms=(TO + HOUR) * 1000)
    for path in PAGE:
        eventually(lambda p=path: get(made, p, tags[p]).status_code == 200,
                   what=f"another answer to {path}")
    eventually(lambda: get(made, PAGE[0]).json()["total"]["events"] == len(rows + more))


def test_what_waits_is_said_by_the_headers(made, migrated):
    """Every answer that says how far it is complete says so in its headers."""
    migrated.insert(some_clicks(1, 20, [(FROM, FROM + HOUR)], links=(1,)),
                    append_ms=(FROM + 2 * HOUR) * 1000)
    for path in "/v1/visit-statistics?link_id=1", "/v1/clicks?code=code1":
        assert_said(get(made, path))
        in_csv = get(made, path + "&format=csv")
        assert {"Complete", "Waiting"} <= set(in_csv.headers)
    answer = get(made, "/v1/creations?interval=total")
    assert "Waiting" not in answer.headers and answer.headers["Complete"] == "false"
