"""The reclaimer's runs, as the aggregator's API shows them to admins."""
import json

import pytest
import requests

from support.asking import aggregator, ask  # noqa: F401
from support.clicks import datetime64, instant, rfc3339
from support.keys import key_line

START = instant("2026-10-01T00:00:00Z")


def run(space, at, **fields):
    return {"space": space, "started_at": at, "finished_at": at + 60,
            "scanned": 10, "freed": 4, "live": 3, "lost": 2, "gap": 1,
            "skipped": 0, "sampled": 7, "seconds": 60.5, "interrupted": False,
            "error": "", "host": "host-1", **fields}


def told(row):
    """Returns the same row in the API's form."""
    return {**row, "started_at": rfc3339(row["started_at"]),
            "finished_at": rfc3339(row["finished_at"]),
            "error": row["error"] or None}


@pytest.fixture
def runs(migrated, clickhouse):
    rows = [run(space, START + 3600 * n, freed=n, interrupted=n == 3,
                error="said 'no'\n" if n == 5 else "")
            for n in range(20) for space in ("s1", "s2")]
    clickhouse.query(
        "INSERT INTO reclaim_runs FORMAT JSONEachRow",
        "\n".join(json.dumps({
            **row, "started_at": datetime64(row["started_at"] * 1000),
            "finished_at": datetime64(row["finished_at"] * 1000)})
            for row in rows).encode())
    migrated.link("code1", 1, space="s0", generation=3,
                  created_at=datetime64(START * 1000))
    return sorted(rows, key=lambda row: (row["started_at"], row["space"]),
                  reverse=True)


def pages(made, **params):
    found, cursor = [], {}
    while True:
        answer = ask(made, "/v1/reclaim-runs", **params, **cursor)
        found.append(answer["runs"])
        if not answer["next"]:
            return found
        cursor = {"cursor": answer["next"]}


@pytest.mark.proof
def test_runs_are_listed_newest_first_page_by_page(aggregator, runs):
    made = aggregator()
    assert ask(made, "/v1/reclaim-runs")["runs"] == [told(row) for row in runs]
    found = pages(made, limit=7)
    assert [len(page) for page in found] == [7, 7, 7, 7, 7, 5]
    assert sum(found, []) == [told(row) for row in runs]
    assert sum(pages(made, limit=20, space="s2"), []) == [
        told(row) for row in runs if row["space"] == "s2"]
    assert pages(made, space="nosuch") == [[]]
    cursor = ask(made, "/v1/reclaim-runs", limit=7)["next"]
    for params in ({"cursor": cursor[:-1]}, {"cursor": "00"}, {"limit": "0"},
                   {"cursor": cursor, "space": "s1"}, {"space": ""},
                   {"space": "a b"}, {"from": "2026-10-01"},
                   {"cursor": ("0" if cursor[0] != "0" else "1") + cursor[1:]}):
        answer = requests.get(made.url + "/v1/reclaim-runs", params=params,
                              timeout=60)
        assert answer.status_code == 400, params


def test_spaces_are_those_of_links_and_runs(aggregator, runs):
    spaces = ask(aggregator(), "/v1/archived-spaces")["spaces"]
    assert spaces == [
        {"name": "s0", "generation": 3, "runs": 0, "freed": 0, "last_run": None,
         "last_link_at": rfc3339(START)},
        *({"name": name, "generation": 0, "runs": 20, "freed": sum(range(20)),
           "last_link_at": None, "last_run": told(next(
               row for row in runs if row["space"] == name))}
          for name in ("s1", "s2"))]


def test_both_are_for_admins(aggregator, runs, workdir):
    path = workdir / "api.keys"
    path.write_text(key_line("boss", "admin") + key_line("any", "read accounts=*"))
    made = aggregator(keys_file=str(path))
    for route in ("/v1/reclaim-runs", "/v1/archived-spaces"):
        for key, status in (("boss", 200), ("any", 403), ("none", 401)):
            answer = requests.get(made.url + route, timeout=60, headers={
                "Authorization": f"Bearer {key}"})
            assert answer.status_code == status
