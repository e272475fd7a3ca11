"""Properties of each copy of a settled day: sealed days, owners', values'."""
import pytest

from support.clicks import instant, some_clicks
from support.copied_days import wait_copied
from support.program import eventually

FROM = instant("2026-10-24T00:00:00Z")
DAY = 86400
LINKS = (1, 2)


@pytest.mark.proof
@pytest.mark.parametrize("kind", (
    "sealed_day", *(pytest.param(kind, marks=pytest.mark.long)
                    for kind in ("owner_day", "value_day"))))
def test_a_copy_is_not_published_beside_clicks_that_it_has_not(
        program, redis, migrated, clickhouse, proxy, kind):
    """A reader that got these clicks from rows until then would lose them."""
    for link in LINKS:
        migrated.link(f"code{link}", link)
    rows = some_clicks(1, 120, [(FROM, FROM + DAY)], links=LINKS)
    late = some_clicks(2, 7, [(FROM, FROM + DAY)], links=LINKS)
    came = []

    def come():
        migrated.insert(late)
        came.append(late)
    proxy.call_at(1, come, f"settled:{kind}")
    migrated.insert(rows)
    made = program("aggregator", {
        "clickhouse": {"url": proxy.url}, "clicks": {"late_window": "1m"},
        "aggregator": {"settle_every": "500ms", "resettle_every": "0s",
                       "clean_every": "1h"}})
    eventually(lambda: came)
    wait_copied(clickhouse, kind, rows + late)
    assert {int(row["rows"]) for row in clickhouse.rows(
        f"SELECT rows FROM settled WHERE kind = '{kind}'")} == {len(rows + late)}
    assert "settling fails" not in made.log()
