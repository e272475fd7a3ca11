"""`reclaimer history`, with the rows of former runs."""
import datetime

import pytest

from support.reclaim import *  # noqa: F403, fixtures too


def old_run(tables, days, freed, space="s7", error=""):
    when = (datetime.datetime.now(datetime.timezone.utc)
            - datetime.timedelta(days=days)).strftime("%Y-%m-%d 12:00:00")
    space = space.replace("'", "''")
    tables.query(
        "INSERT INTO reclaim_runs (space, started_at, finished_at, scanned, "
        f"freed, seconds, error) VALUES ('{space}', '{when}', '{when}', "
        f"{freed + 1}, {freed}, 1.5, '{error}')")


def test_history_lists_runs_and_adds_up_days(space, tables, reclaimer, begin):
    space.ended(0, 9)
    reclaimer("run")
    old_run(tables, 1, 100)
    old_run(tables, 1, 50, error="no marker")
    old_run(tables, 9, 7)
    done = reclaimer("history")
    assert done.status == 0, done
    assert [r["freed"] for r in done.json["runs"]][0] == 10
    assert sorted(r["freed"] for r in done.json["runs"]) == [10, 50, 100]
    days = done.json["days"]
    assert [(d["runs"], d["failed"], d["freed"], d["seconds"])
            for d in days[1:]] == [(2, 1, 150, 3.0)]
    assert days[0]["freed"] == 10 and done.json["total"] == 3
    for days in ("30", "36500"):
        assert len(reclaimer("history", "--days", days).json["runs"]) == 4
    text = Done(begin("history")).out
    assert "By day, in blocks:" in text and "no marker" in text


def test_history_of_one_space(space, tables, reclaimer):
    old_run(tables, 0, 1)
    old_run(tables, 0, 2, space="it's")
    assert [r["freed"] for r in reclaimer("history", "--space",
                                          "it's").json["runs"]] == [2]


def test_history_without_runs_says_so(space, tables, begin):
    done = Done(begin("history"))
    assert done.status == 0 and "No run is recorded in the last 7 days" in done.out


def test_history_says_that_runs_are_not_recorded(space, tables, begin, reclaimer):
    space.ended(0, 9)
    reclaimer("run", record=False)
    assert "reclaimer.record is off" in Done(begin("history", record=False)).out
    assert reclaimer("history", record=False).json["recording"] is False
    assert reclaimer("history").json["recording"] is True


def test_history_of_a_space_that_is_not_configured_says_so(space, tables, begin,
                                                           reclaimer):
    """The space may have been configured once."""
    old_run(tables, 1, 7, space="s9")
    done = Done(begin("history", "--space", "s9"))
    assert done.status == 0, done
    assert "Space s9 is not in the configuration." in done.out
    found = reclaimer("history", "--space", "s9").json
    assert (found["configured"], found["total"]) == (False, 1)
    assert reclaimer("history", "--space", "s7").json["configured"] is True


def test_history_without_clickhouse_is_75(space, reclaimer):
    assert reclaimer("history").status == 75


@pytest.mark.parametrize("days", ["0", "-1", "x", "99999999"])
def test_days_without_sense_are_64(space, begin, days):
    assert Done(begin("history", "--days", days)).status == 64
