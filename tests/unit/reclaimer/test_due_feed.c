/* The feed returns the due members of a space in portions; the Redis is real.
 */
#include "tests/unit/reclaimer/issued.h"

#include "reclaimer/space/due_feed.h"

enum {
	TAKEN_MAX = 64
};

struct taken {
	struct due_feed *feed;
	struct scanned_range ranges[TAKEN_MAX];
	size_t count;
};

static struct taken feed_of(struct fixture *f, struct due_span span,
			    size_t room, bool peek)
{
	struct taken t = {.feed = due_feed_new(f->server.redis, f->space, span,
					       room, peek, &f->err)};

	assert_non_null(t.feed);
	return t;
}

static int take_portion(struct fixture *f, struct taken *t, size_t blocks)
{
	return due_feed_take(t->feed, blocks, t->ranges, &t->count, &f->err);
}

/* Checks number i of the last portion. */
static void is_taken(const struct taken *t, size_t i, uint64_t first,
		     uint64_t upto, uint64_t last, int64_t score)
{
	const struct scanned_range *r = &t->ranges[i];

	assert_true(i < t->count);
	assert_int_equal(r->member.first, first);
	assert_int_equal(r->upto, upto);
	assert_int_equal(r->member.last, last);
	assert_int_equal(r->score, score);
}

/* Only the first member of a span is returned. */
static void has_only(struct fixture *f, struct due_span span, uint64_t first)
{
	struct taken t = feed_of(f, span, 10, false);

	must(f, take_portion(f, &t, TAKEN_MAX));
	assert_int_equal(t.count, 1);
	assert_int_equal(t.ranges[0].member.first, first);
	due_feed_free(t.feed);
}

/* --- portions ------------------------------------------------------------- */

static void a_portion_is_of_so_many_blocks_by_their_first(void **state)
{
	struct fixture *f = *state;
	struct taken t = feed_of(f, (struct due_span){0}, 10, true);

	issue_until(f, "10-19:3", 1000);
	issue_until(f, "0-4:1", 2000);
	issue_until(f, "30-30:1", 3000);
	must(f, take_portion(f, &t, 12));
	assert_int_equal(t.count, 2);
	is_taken(&t, 0, 0, 1, 4, 2000);
	is_taken(&t, 1, 10, 19, 19, 1000);
	assert_int_equal(t.ranges[1].member.generation, 3);
	must(f, take_portion(f, &t, 3));
	assert_int_equal(t.count, 1);
	is_taken(&t, 0, 2, 4, 4, 2000);
	must(f, take_portion(f, &t, 12));
	assert_int_equal(t.count, 1);
	is_taken(&t, 0, 30, 30, 30, 3000);
	must(f, take_portion(f, &t, 12));
	assert_int_equal(t.count, 0);
	due_feed_free(t.feed);
}

/* These are more than the feed keeps at once. */
static void what_is_only_looked_at_is_stepped_over(void **state)
{
	struct fixture *f = *state;
	struct taken t = feed_of(f, (struct due_span){0}, 2, true);

	for (int i = 0; i < 5; i++)
		put_block(f, 3 * i);
	for (uint64_t i = 0; i < 5; i++) {
		must(f, take_portion(f, &t, 1));
		assert_int_equal(t.count, 1);
		assert_int_equal(t.ranges[0].member.first, 3 * i);
	}
	must(f, take_portion(f, &t, 1));
	assert_int_equal(t.count, 0);
	due_feed_free(t.feed);
}

/* A settled member is no longer due, and others take its rank. */
static void what_is_settled_is_read_from_the_beginning(void **state)
{
	struct fixture *f = *state;
	struct taken t = feed_of(f, (struct due_span){0}, 2, false);

	for (int i = 0; i < 5; i++)
		put_block(f, i);
	for (uint64_t i = 0; i < 4; i += 2) {
		must(f, take_portion(f, &t, 2));
		assert_int_equal(t.count, 2);
		assert_int_equal(t.ranges[0].member.first, i);
		redis_server_number(&f->server,
				    "ZREMRANGEBYRANK issued:{s5} 0 1");
	}
	assert_int_equal(due_feed_left(t.feed), 1);
	must(f, take_portion(f, &t, 2));
	is_taken(&t, 0, 4, 4, 4, 1004);
	due_feed_free(t.feed);
}

static void ranges_still_to_come_are_reckoned(void **state)
{
	struct fixture *f = *state;
	struct scanned_range ranges[64];
	struct due_feed *feed;
	size_t count;

	for (int i = 0; i < 200; i++)
		put_block(f, 2 * i);
	feed = due_feed_new(f->server.redis, f->space, (struct due_span){0}, 64,
			    true, &f->err);
	assert_int_equal(due_feed_left(feed), 0);
	must(f, due_feed_take(feed, 10, ranges, &count, &f->err));
	assert_int_equal(due_feed_left(feed), 190);
	for (int i = 0; i < 19; i++)
		must(f, due_feed_take(feed, 10, ranges, &count, &f->err));
	while (count)
		must(f, due_feed_take(feed, 10, ranges, &count, &f->err));
	assert_int_equal(due_feed_left(feed), 0);
	due_feed_free(feed);
}

/* --- spans ---------------------------------------------------------------- */

static void a_span_has_what_is_due_in_it(void **state)
{
	struct fixture *f = *state;
	int64_t later = clock_real_ms() + CLOCK_HOUR;

	issue_until(f, "0-0:1", 1000);
	issue_until(f, "5-5:1", 2000);
	has_only(f, (struct due_span){.until = 1999}, 0);
	has_only(f, (struct due_span){.until = 1000}, 0);
	has_only(f, (struct due_span){.from = 1001}, 5);
	has_only(f, (struct due_span){.from = 2000}, 5);
	/* A span that ends in the future ends now. */
	issue_until(f, "9-9:1", later);
	has_only(f, (struct due_span){.from = 2000, .until = later + 1}, 5);
}

static void what_becomes_due_meanwhile_is_for_the_next_run(void **state)
{
	struct fixture *f = *state;
	struct taken t = feed_of(f, (struct due_span){0}, 1, false);
	int64_t now;

	put_block(f, 0);
	must(f, take_portion(f, &t, 1));
	assert_int_equal(t.count, 1);
	now = due_feed_now(t.feed);
	assert_true(now > 1000);
	redis_server_number(&f->server, "DEL issued:{s5}");
	issue_until(f, "5-5:1", now + 1);
	while (clock_real_ms() <= now + 1)
		sleep_ms(1);
	must(f, take_portion(f, &t, 1));
	assert_int_equal(t.count, 0);
	assert_int_equal(due_feed_now(t.feed), now);
	due_feed_free(t.feed);
	has_only(f, (struct due_span){0}, 5);
}

static void nothing_is_due_before_its_time(void **state)
{
	struct fixture *f = *state;
	struct taken t = feed_of(
		f, (struct due_span){.from = clock_real_ms() + CLOCK_HOUR}, 10,
		false);

	must_fail(f, take_portion(f, &t, 1), ERROR_USAGE);
	assert_non_null(strstr(f->err.text, "nothing is reclaimed before"));
	due_feed_free(t.feed);
}

/* --- wrong accounting ----------------------------------------------------- */

static void a_range_beyond_the_space_is_none(void **state)
{
	struct fixture *f = *state;
	const unsigned long long blocks = f->space->blocks;
	struct taken t = feed_of(f, (struct due_span){0}, 10, false);
	char member[64];

	snprintf(member, sizeof(member), "%llu-%llu:1", blocks - 2, blocks - 1);
	issue_member(f, member);
	must(f, take_portion(f, &t, 2));
	assert_int_equal(t.count, 1);
	snprintf(member, sizeof(member), "%llu-%llu:1", blocks - 1, blocks);
	issue_member(f, member);
	must_fail(f, take_portion(f, &t, 2), ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, member));
	due_feed_free(t.feed);
}

static void a_block_that_is_issued_twice_stops_the_run(void **state)
{
	struct fixture *f = *state;
	struct taken t = feed_of(f, (struct due_span){0}, 10, false);

	issue_member(f, "0-4:1");
	issue_member(f, "5-9:2");
	must(f, take_portion(f, &t, 20));
	assert_int_equal(t.count, 2);
	issue_member(f, "9-12:3");
	must_fail(f, take_portion(f, &t, 20), ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "block 9 of space s5 is issued"));
	due_feed_free(t.feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_portion_is_of_so_many_blocks_by_their_first),
		TEST(what_is_only_looked_at_is_stepped_over),
		TEST(what_is_settled_is_read_from_the_beginning),
		TEST(ranges_still_to_come_are_reckoned),
		TEST(a_span_has_what_is_due_in_it),
		TEST(what_becomes_due_meanwhile_is_for_the_next_run),
		TEST(nothing_is_due_before_its_time),
		TEST(a_range_beyond_the_space_is_none),
		TEST(a_block_that_is_issued_twice_stops_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
