/* The rows of derived_tables.c agree with the tables of schemas/clickhouse/. */
#include "tests/unit/aggregator/settled.h"
#include "tests/unit/unit.h"

#include "aggregator/settle/day_attempts.h"
#include "aggregator/settle/derived_tables.h"

static void a_walk_has_each_table_once(void **state)
{
	struct derived_walk walk = {0};
	const struct derived_table *t;
	struct buf names = {0};

	(void)state;
	while ((t = derived_walk_next(&walk)))
		buf_printf(&names, "%s ", t->name);
	assert_string_equal(buf_cstr(&names),
			    "stats_hourly link_slots link_days sealed_slots "
			    "owner_slots owner_values day_values "
			    "sampled_clicks link_values stats_spans ");
	buf_free(&names);
}

static void a_partition_is_a_day_or_a_month_as_its_row_says(void **state)
{
	struct settled *t = *state;
	struct derived_walk walk = {0};
	const struct derived_table *table;

	while ((table = derived_walk_next(&walk)))
		assert_int_equal(
			clickhouse_server_number(
				&t->server,
				"SELECT if(position(partition_key, "
				"'toYYYYMMDD(') > 0, 8, 6) FROM system.tables "
				"WHERE database = currentDatabase() AND "
				"name = '%s'",
				table->name),
			table->by);
}

static void each_table_has_the_columns_of_its_row(void **state)
{
	static const struct clickhouse_param params[] = {
		{"param_start", "0"}, {"param_end", "86400"}, {NULL, NULL}};
	struct settled *t = *state;

	for (size_t i = 0; i < DERIVED_ROWS; i++)
		for (size_t k = 0; k < DERIVED_TABLES_MAX; k++) {
			const struct derived_table *table =
				&derived_tables[i].tables[k];
			struct buf sql = {0};
			struct error err = {0};

			if (!table->name)
				continue;
			buf_printf(&sql,
				   "SELECT toUInt32(%s), %s, toString(%s) FROM "
				   "%s WHERE %s",
				   table->at, table->events,
				   !table->has	      ? "''"
				   : table->dimension ? table->dimension
						      : "dimension",
				   table->name,
				   table->in_day ? table->in_day : "true");
			if (clickhouse_query(t->server.ch, buf_cstr(&sql),
					     params, NULL, &err) < 0)
				fail_msg("%s: %s", sql.data, err.text);
			buf_free(&sql);
		}
}

/* The kind of the row that is inserted is refused, or has another number. */
static void each_kind_is_one_of_settled(void **state)
{
	struct settled *t = *state;

	for (size_t i = 0; i < COPIED_KINDS; i++) {
		const struct derived *copy = derived_copy((enum copied)i);

		clickhouse_server_do(&t->server,
				     "INSERT INTO settled (kind, unit, "
				     "attempt) VALUES ('%s', %d, 1), ('%s', "
				     "%d, 2), ('%s', %d, 3)",
				     copy->kind, (int)i * DAY, copy->marker,
				     (int)i * DAY, copy->base, (int)i * DAY);
		assert_int_equal(
			clickhouse_server_number(
				&t->server,
				"SELECT toInt8(kind) FROM settled WHERE "
				"attempt = 2 AND toUInt32(unit) = %d",
				(int)i * DAY),
			copy->marker_number);
	}
}

/* --- days ----------------------------------------------------------------- */

static void publish_attempt(struct settled *t, const char *kind,
			    uint64_t attempt)
{
	clickhouse_server_do(&t->server,
			     "INSERT INTO settled (kind, unit, attempt) VALUES "
			     "('%s', %" PRId64 ", %" PRIu64 ")",
			     kind, START, attempt);
}

/* Whether the copy of the day is current, and is read. */
static void assert_copy(struct settled *t, const struct derived *copy,
			bool current, bool read)
{
	struct buf sql = {0};

	buf_puts(&sql, "SELECT 2 * (");
	day_attempts_put_is_current(&sql, copy);
	buf_puts(&sql, ") + (");
	day_attempts_put_is_read(&sql, copy);
	buf_puts(&sql, ") FROM ");
	day_attempts_put(&sql);
	buf_printf(&sql, "WHERE d = %" PRId64, START);
	assert_int_equal(
		clickhouse_server_number(&t->server, "%s", buf_cstr(&sql)),
		(uint64_t)(2 * current + read));
	buf_free(&sql);
}

static void a_copy_is_read_while_it_has_all_that_is_settled(void **state)
{
	struct settled *t = *state;

	publish_attempt(t, "link_day", 5);
	for (size_t i = 0; i < COPIED_KINDS; i++) {
		const struct derived *copy = derived_copy((enum copied)i);

		assert_copy(t, copy, false, false);
		publish_attempt(t, copy->kind, 6);
		assert_copy(t, copy, true, true);
	}
	publish_attempt(t, "hour", 7);
	for (size_t i = 0; i < COPIED_KINDS; i++)
		assert_copy(t, derived_copy((enum copied)i), false, false);
}

static void a_copy_of_a_dropped_day_is_read_from_its_base(void **state)
{
	struct settled *t = *state;

	publish_attempt(t, "dropped_day", 7);
	publish_attempt(t, "hour", 8);
	for (size_t i = 0; i < COPIED_KINDS; i++) {
		const struct derived *copy = derived_copy((enum copied)i);

		assert_copy(t, copy, false, copy->param && !copy->based);
		if (copy->param)
			publish_attempt(t, copy->base, 6);
		assert_copy(t, copy, false, copy->param != NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walk_has_each_table_once),
		SETTLED_TEST(a_partition_is_a_day_or_a_month_as_its_row_says),
		SETTLED_TEST(each_table_has_the_columns_of_its_row),
		SETTLED_TEST(each_kind_is_one_of_settled),
		SETTLED_TEST(a_copy_is_read_while_it_has_all_that_is_settled),
		SETTLED_TEST(a_copy_of_a_dropped_day_is_read_from_its_base),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
