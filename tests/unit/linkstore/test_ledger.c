/* The ledger of a space; the test puts the ranges into Redis directly. */
#include "tests/unit/linkstore/fixture.h"

#define DAY_MS (24 * 3600 * INT64_C(1000))

/* Puts `count` ranges of 3 blocks each, from block `first` on. */
static void put_ranges(struct fixture *f, const char *set, uint64_t first,
		       unsigned count, const char *score, unsigned generation)
{
	char words[128];

	for (unsigned i = 0; i < count; i++) {
		snprintf(words, sizeof(words), "ZADD %s:{s5} %s %llu-%llu:%u",
			 set, score, (unsigned long long)(first + 3 * i),
			 (unsigned long long)(first + 3 * i + 2), generation);
		redis_server_number(&f->server, words);
	}
}

static struct space_ledger read_ledger(struct fixture *f)
{
	struct space_ledger ledger;

	if (space_read_ledger(f->server.redis, f->space, &ledger, &f->err) < 0)
		fail_msg("%s", f->err.text);
	return ledger;
}

static void blocks_are_told_apart_by_their_score(void **state)
{
	struct fixture *f = *state;
	struct space_ledger l;

	put_ranges(f, "issued", 0, 1, "0", 1);
	put_ranges(f, "issued", 100, 2, "5", 1);
	put_ranges(f, "issued", 200, 3, "7777777777777", 1);
	put_ranges(f, "issued", 300, 4, "+inf", 1);
	put_ranges(f, "pool", 400, 5, "5", 1);
	put_ranges(f, "pool", 500, 6, "7777777777777", 1);
	l = read_ledger(f);
	assert_int_equal(l.lost, 3);
	assert_int_equal(l.due, 6);
	assert_int_equal(l.live, 21);
	assert_int_equal(l.issued, 30);
	assert_int_equal(l.pooled, 15);
	assert_int_equal(l.quarantined, 18);
	assert_int_equal(l.next_due, 7777777777777);
}

static void more_ranges_than_a_page_are_all_counted(void **state)
{
	struct fixture *f = *state;
	struct space_ledger l;

	put_ranges(f, "issued", 0, 2 * LEDGER_PAGE, "+inf", 1);
	put_ranges(f, "issued", 10000, LEDGER_PAGE + 1, "7777777777777", 1);
	l = read_ledger(f);
	assert_int_equal(l.live, 3 * (3 * LEDGER_PAGE + 1));
}

static void exactly_a_page_is_counted_once(void **state)
{
	struct fixture *f = *state;

	put_ranges(f, "pool", 0, LEDGER_PAGE, "5", 1);
	assert_int_equal(read_ledger(f).pooled, 3 * LEDGER_PAGE);
}

static void generations_in_use_are_those_of_all_ranges(void **state)
{
	struct fixture *f = *state;
	struct space_ledger l;

	put_ranges(f, "issued", 0, 1, "+inf", 4);
	put_ranges(f, "issued", 100, 1, "+inf", 2);
	put_ranges(f, "pool", 200, 1, "5", 9);
	l = read_ledger(f);
	assert_int_equal(l.lowest_generation, 2);
	assert_int_equal(l.highest_generation, 9);
}

static void an_empty_space_has_no_generation(void **state)
{
	struct space_ledger l = read_ledger(*state);

	assert_int_equal(l.lowest_generation, 0);
	assert_int_equal(l.highest_generation, 0);
	assert_int_equal(l.issued, 0);
	assert_true(l.created > 0 && l.created <= l.now);
}

/* Returns the date that many days ago as "yyyymmdd". */
static const char *day_ago(int days, char text[16])
{
	char rfc[RFC3339_TEXT_MAX];

	rfc3339_format(clock_real_ms() - days * DAY_MS, rfc);
	snprintf(text, 16, "%.4s%.2s%.2s", rfc, rfc + 5, rfc + 8);
	return text;
}

static void a_week_of_days_is_read_newest_first(void **state)
{
	struct fixture *f = *state;
	struct space_ledger l;
	char words[128], day[16];

	for (int i = 0; i < 10; i++) {
		snprintf(words, sizeof(words),
			 "HSET day:{s5}:%s granted %d handed_back 1 reclaimed "
			 "2 pooled 3 created 4",
			 day_ago(i, day), 100 + i);
		redis_server_number(&f->server, words);
	}
	l = read_ledger(f);
	for (int i = 0; i < LEDGER_DAYS; i++)
		assert_int_equal(l.days[i].granted, 100 + i);
	assert_int_equal(l.days[7].handed_back, 1);
	assert_int_equal(l.days[7].reclaimed, 2);
	assert_int_equal(l.days[7].pooled, 3);
	assert_int_equal(l.days[7].links_created, 4);
}

static void what_redis_forgot_is_told(void **state)
{
	struct fixture *f = *state;
	struct space_ledger l;

	redis_server_number(&f->server, "HSET space:{s5} run_id other");
	make_grant(f, f->day, 1);
	l = read_ledger(f);
	assert_int_equal(l.forgot, 1);
	assert_int_equal(l.skipped, GAP);
	/* The blocks of a gap have no known holder: they are not live. */
	assert_int_equal(l.gap, GAP);
	assert_int_equal(l.live, 1);
	assert_int_equal(l.issued, GAP + 1);
}

static void a_gap_is_of_one_generation_and_counts_once(void **state)
{
	struct fixture *f = *state;
	struct space_ledger l;

	redis_server_number(&f->server,
			    "HSET space:{s5} gaps 0-9_5-14_20-29:3");
	redis_server_number(&f->server, "ZADD issued:{s5} +inf 0-29:1");
	redis_server_number(&f->server, "ZADD issued:{s5} +inf 25-34:3");
	redis_server_number(&f->server, "ZADD issued:{s5} 0 100-101:1");
	l = read_ledger(f);
	assert_int_equal(l.gap, 15 + 5);
	assert_int_equal(l.live, 15 + 5);
	assert_int_equal(l.lost, 2);
}

static void a_space_that_was_never_made_is_not_found(void **state)
{
	struct fixture *f = *state;
	struct space_ledger l;

	assert_int_equal(
		space_read_ledger(f->server.redis, f->space, &l, &f->err), -1);
	assert_int_equal(f->err.code, ERROR_NOTFOUND);
}

#define WITH_SPACE(test)                                                       \
	cmocka_unit_test_setup_teardown(test, setup_fixture, teardown_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SPACE(blocks_are_told_apart_by_their_score),
		WITH_SPACE(more_ranges_than_a_page_are_all_counted),
		WITH_SPACE(exactly_a_page_is_counted_once),
		WITH_SPACE(generations_in_use_are_those_of_all_ranges),
		WITH_SPACE(an_empty_space_has_no_generation),
		WITH_SPACE(a_week_of_days_is_read_newest_first),
		WITH_SPACE(what_redis_forgot_is_told),
		WITH_SPACE(a_gap_is_of_one_generation_and_counts_once),
		cmocka_unit_test_setup_teardown(
			a_space_that_was_never_made_is_not_found,
			setup_without_space, teardown_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
