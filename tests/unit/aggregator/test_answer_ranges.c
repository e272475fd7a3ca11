#include "tests/unit/unit.h"

#include "aggregator/api/published_hours.h"
#include "aggregator/api/statistics/clicks_sql.h"

#define DAY   86400
#define HOUR  3600
#define START INT64_C(1792800000)

static struct copied_day items[] = {{.start = START, .attempt = 5},
				    {.start = START + 2 * DAY, .attempt = 6}};
static const struct copied_days none, days = {.items = items, .count = 2};

typedef bool put_open_fn(struct buf *sql, const struct question *q,
			 const struct copied_days *copied);

static void assert_open(put_open_fn *put, const struct copied_days *copied,
			int64_t from, int64_t to, const char *expected)
{
	const struct question q = {.from = from, .to = to};
	struct buf sql = {0};

	assert_int_equal(put(&sql, &q, copied), *expected != '\0');
	assert_string_equal(buf_cstr(&sql), expected);
	buf_free(&sql);
}

static void what_no_copied_day_has_is_read_from_rows(void **state)
{
	(void)state;
	assert_open(clicks_sql_put_open, &none, 900, 1800,
		    " AND ((ts >= toDateTime64(900, 3, 'UTC') AND ts < "
		    "toDateTime64(1800, 3, 'UTC')))");
	/* Rows are read before the first day, between the two days, and after
	 * the last. */
	assert_open(clicks_sql_put_open, &days, START - 900,
		    START + 3 * DAY + 900,
		    " AND ((ts >= toDateTime64(1792799100, 3, 'UTC') AND ts < "
		    "toDateTime64(1792800000, 3, 'UTC')) OR "
		    "(ts >= toDateTime64(1792886400, 3, 'UTC') AND ts < "
		    "toDateTime64(1792972800, 3, 'UTC')) OR "
		    "(ts >= toDateTime64(1793059200, 3, 'UTC') AND ts < "
		    "toDateTime64(1793060100, 3, 'UTC')))");
	assert_open(clicks_sql_put_open, &days, START, START + 3 * DAY,
		    " AND ((ts >= toDateTime64(1792886400, 3, 'UTC') AND ts < "
		    "toDateTime64(1792972800, 3, 'UTC')))");
	{
		const struct copied_days first = {.items = items, .count = 1};

		assert_open(clicks_sql_put_open, &first, START, START + DAY,
			    "");
	}
}

/* The range begins within an hour; that hour is read whole. */
static void so_is_what_is_read_from_hours(void **state)
{
	(void)state;
	assert_open(clicks_sql_put_open_hours, &none, HOUR + 900, 2 * HOUR,
		    " AND ((hour >= toDateTime(3600, 'UTC') AND hour < "
		    "toDateTime(7200, 'UTC')))");
	assert_open(clicks_sql_put_open_hours, &none, HOUR, 2 * HOUR,
		    " AND ((hour >= toDateTime(3600, 'UTC') AND hour < "
		    "toDateTime(7200, 'UTC')))");
}

static void assert_hours(const struct published_hours *hours,
			 const char *starts, const char *attempts)
{
	struct buf s = {0}, a = {0};
	struct error err = {0};

	assert_int_equal(published_hours_put(hours, &s, &a, &err), 0);
	assert_string_equal(s.data, starts);
	assert_string_equal(a.data, attempts);
	buf_free(&s);
	buf_free(&a);
}

static void hours_of_copied_days_are_left_out(void **state)
{
	struct published_hour all[] = {
		{START - HOUR, 1},	     {START, 2},
		{START + DAY - HOUR, 3},     {START + DAY, 4},
		{START + 2 * DAY - HOUR, 5}, {START + 2 * DAY, 6},
		{START + 3 * DAY - HOUR, 7}, {START + 3 * DAY, 8}};
	struct published_hours hours = {all, 8};

	(void)state;
	published_hours_leave_out(&hours, &none);
	assert_int_equal(hours.count, 8);
	published_hours_leave_out(&hours, &days);
	assert_hours(&hours, "[1792796400,1792886400,1792969200,1793059200]",
		     "[1,4,5,8]");
	hours.count = 0;
	assert_hours(&hours, "[]", "[]");
}

static void assert_interval(const struct buckets *buckets,
			    const char *answer_part, const char *bucket,
			    const char *sets)
{
	struct clicks_sql_interval by;

	clicks_sql_interval_fill(&by, "t", buckets);
	assert_string_equal(by.answer_part, answer_part);
	assert_string_equal(buf_cstr(&by.bucket), bucket);
	assert_string_equal(by.sets ? by.sets : "", sets);
	clicks_sql_interval_release(&by);
}

static void one_bucket_is_the_total(void **state)
{
	int64_t starts[] = {START, START + DAY};
	struct buckets buckets = {starts, 1};

	(void)state;
	assert_interval(&buckets, "'total'", "0", "");
	buckets.count = 2;
	assert_interval(&buckets, "if(grouping(bucket) = 0, 'bucket', 'total')",
			"roundDown(t, CAST('[1792800000,1792886400]', "
			"'Array(Int64)'))",
			"GROUP BY GROUPING SETS ((bucket), ())");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_no_copied_day_has_is_read_from_rows),
		cmocka_unit_test(so_is_what_is_read_from_hours),
		cmocka_unit_test(hours_of_copied_days_are_left_out),
		cmocka_unit_test(one_bucket_is_the_total),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
