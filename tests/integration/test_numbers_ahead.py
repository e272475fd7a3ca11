"""Numbers of attempts that are ahead of time, since ClickHouse's clock was."""
from support.clicks import expected_link_counts, link_counts, some_clicks
from support.keeping import (DAY, FROM, LINKS, PATIENCE, keeper, put_ahead,
                             world)  # noqa: F401
from support.program import eventually

# An attempt is over after five quarters of keep_superseded.
SOON_OVER = {"keep_superseded": "5s", "settle_timeout": "4s", "reconcile_every": "0s"}
QUICK = {"query_timeout": "3s"}


class Late:
    """Holds the next statement of a kind until what it belongs to must be published."""

    def __init__(self, clickhouse, proxy, kind):
        held = proxy.hold(kind)
        assert held.here.wait(PATIENCE), f"no {kind}"
        params = next(p.params for p in reversed(proxy.passed)
                      if kind in (p.kind, p.says))
        self.attempt, until = params["param_attempt"], int(params["param_until"])

        def left():
            return until - int(clickhouse.value("SELECT toUnixTimestamp64Milli(now64(3))"))
        assert left() < 60000
        eventually(lambda: left() < 0, PATIENCE, what="it to be late")
        held.release()
        assert held.met.wait(PATIENCE)


def test_what_took_too_long_is_not_published_where_clickhouses_clock_was_ahead(
        keeper, world, clickhouse, proxy):
    put_ahead(clickhouse)
    rows = some_clicks(3, 200, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    keeper(raw_days=0, clickhouse={**QUICK, "url": proxy.url},
           **{**SOON_OVER, "settle_timeout": "1m"})

    # By the aggregator, which does not ask; and by the server, when it is asked too late.
    staged = Late(clickhouse, proxy, "link_slots")
    published = Late(clickhouse, proxy, "settled:link_day")

    eventually(lambda: link_counts(clickhouse) == expected_link_counts(rows), PATIENCE,
               what="the day to be settled")
    assert staged.attempt not in {p.params["param_attempt"] for p in proxy.passed
                                  if p.says == "settled:link_day"}
    assert published.attempt not in {row["attempt"] for row in clickhouse.rows(
        "SELECT toString(attempt) AS attempt FROM settled WHERE kind = 'link_day'")}
