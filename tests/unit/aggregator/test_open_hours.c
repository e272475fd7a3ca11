/* An hour that is not over is settled by adding what arrived since: with a real
 * engine. */
#include "tests/unit/aggregator/settled.h"

#include "aggregator/progress.h"
#include "aggregator/settle/hour_settlement.h"

struct open_world {
	struct settled *t;
	struct open_hours *open;
	int64_t start; /* the start of the present hour */
};

static struct open_world open_world_of(struct settled *t)
{
	struct open_world w = {.t = t};
	struct error err;

	w.open = open_hours_new(&err);
	assert_non_null(w.open);
	w.start = settling_now(&t->s) / CLOCK_SECOND / HOUR * HOUR;
	return w;
}

/* Stores clicks through a link and reports them as a block. */
static void store_clicks(struct open_world *w, unsigned link, unsigned count)
{
	const uint64_t first = w->t->next_offset;

	settled_insert(w->t,
		       (struct clicks){w->start * CLOCK_SECOND, count, link,
				       "redirected", "human", count, 1});
	clickhouse_server_do(
		&w->t->server,
		"INSERT INTO ingest_progress (epoch, topic, partition, "
		"partitions, first, last, rows, hours, append_time) SELECT 1, "
		"'clicks', 0, 1, %" PRIu64 ", %" PRIu64 ", %u, "
		"map(toUInt32(%" PRId64 "), toUInt64(%u)), now64(3)",
		first, first + count - 1, count, w->start, count);
}

/* Settles what was stored; checks whether it was added to the attempt before,
 * and whether that attempt is provisional. */
static void settle_open_hour(struct open_world *w, bool added, bool provisional)
{
	struct settle_count n;
	struct error err = {0};

	stale_list_release(&w->t->list);
	if (progress_hours_of(w->t->s.ch, w->start, w->start + HOUR,
			      &w->t->list, &err) < 0 ||
	    hours_settle(&w->t->s, w->t->list.items, 1, INT64_MAX, w->open,
			 &w->t->last, &n, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(n.published, 1);
	assert_int_equal(n.added, added);
	assert_string_equal(
		clickhouse_server_ask(&w->t->server,
				      "SELECT argMax(provisional, attempt) "
				      "FROM settled WHERE kind = 'hour'"),
		provisional ? "true" : "false");
}

static void assert_events(struct open_world *w, const char *dimension,
			  const char *expected)
{
	assert_string_equal(
		clickhouse_server_ask(&w->t->server,
				      "SELECT if(rest, '*', value) AS v, "
				      "sum(events) FROM stats_hourly WHERE "
				      "dimension = '%s' AND attempt = (SELECT "
				      "max(attempt) FROM settled WHERE kind = "
				      "'hour') GROUP BY v ORDER BY v",
				      dimension),
		expected);
}

static void what_arrived_is_added(void **state)
{
	struct open_world w = open_world_of(*state);

	store_clicks(&w, 1, 5);
	store_clicks(&w, 2, 3);
	settle_open_hour(&w, false, false);
	store_clicks(&w, 2, 4);
	settle_open_hour(&w, true, false);
	store_clicks(&w, 3, 1);
	settle_open_hour(&w, true, false);
	assert_events(&w, "total", "\t13");
	assert_events(&w, "link", "1\t5\n2\t7\n3\t1");
	open_hours_free(w.open);
}

/* The value that is the busiest now was counted with the rest before. */
static void
what_is_added_to_an_attempt_without_all_values_is_provisional(void **state)
{
	struct open_world w = open_world_of(*state);

	w.t->settings.values_max = 1;
	store_clicks(&w, 1, 5);
	settle_open_hour(&w, false, false);
	store_clicks(&w, 2, 3);
	/* The attempt that this is added to kept all values. */
	settle_open_hour(&w, true, false);
	assert_events(&w, "link", "*\t3\n1\t5");
	store_clicks(&w, 2, 4);
	settle_open_hour(&w, true, true);
	assert_events(&w, "total", "\t12");
	open_hours_free(w.open);
}

static void
an_hour_of_which_nothing_is_known_is_settled_from_all_rows(void **state)
{
	struct open_world w = open_world_of(*state);

	store_clicks(&w, 1, 5);
	settle_open_hour(&w, false, false);
	store_clicks(&w, 1, 2);
	open_hours_forget(w.open, w.start);
	settle_open_hour(&w, false, false);
	assert_events(&w, "total", "\t7");
	open_hours_free(w.open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(what_arrived_is_added),
		SETTLED_TEST(
			what_is_added_to_an_attempt_without_all_values_is_provisional),
		SETTLED_TEST(
			an_hour_of_which_nothing_is_known_is_settled_from_all_rows),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
