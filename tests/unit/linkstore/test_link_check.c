/* Every link against its block's marker; lives of codes; lost blocks closed. */
#include "tests/unit/linkstore/fixture.h"

#include "linkstore/block/code_expiries.h"
#include "linkstore/block/link_check.h"
#include "linkstore/block/markers.h"
#include "tests/unit/linkstore/edits.h"

struct seen {
	unsigned count;
	enum link_trouble last;
};

static void on_found(void *arg, const struct link_finding *finding)
{
	struct seen *seen = arg;

	seen->count++;
	seen->last = finding->trouble;
}

static bool go_on(void *arg, uint64_t links, uint64_t keys, uint64_t total)
{
	(void)arg;
	(void)links;
	(void)keys;
	(void)total;
	return false;
}

static uint64_t check(struct fixture *f, struct seen *ret)
{
	struct link_check check = {
		.redis = f->server.redis,
		.space = f->space,
		.found = on_found,
		.pause = go_on,
		.arg = ret,
	};

	*ret = (struct seen){0, LINK_SOUND};
	must(f, link_check_run(&check, &f->err));
	return check.links;
}

static void links_within_their_blocks_are_sound(void **state)
{
	struct fixture *f = *state;
	struct seen seen;

	for (int i = 0; i < 5; i++) {
		struct link_block b = open_block(f, i % 2 ? f->day : f->never);

		for (uint32_t k = 0; k < 300; k++)
			store_link(f, &b, k);
	}
	assert_int_equal(check(f, &seen), 1500);
	assert_int_equal(seen.count, 0);
}

static void a_link_against_its_marker_is_found(void **state)
{
	static const struct {
		const char *marker;
		enum link_trouble trouble;
	} cases[] = {
		{"2 o 1d 1 never h", LINK_OTHER_OWNER},
		{"1 c 1d 1 never h", LINK_CLOSED},
		{"1 o 1d 1 9 h", LINK_OUTLIVES},
		{"1 o1 1d 1 9 h", LINK_OUTLIVES}, /* another is blocked */
		{"damaged", LINK_UNMARKED},
		{"1 o 1d 1 never h", LINK_SOUND},
	};
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	struct seen seen;

	store_link(f, &b, 7);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_marker(f, cases[i].marker);
		check(f, &seen);
		assert_int_equal(seen.last, cases[i].trouble);
	}
	redis_server_number(&f->server, "DEL m:{s5:0}");
	check(f, &seen);
	assert_int_equal(seen.last, LINK_UNMARKED);
	redis_server_number(&f->server, "SET cursor:{s5} 0");
	check(f, &seen);
	assert_int_equal(seen.last, LINK_NEVER_ISSUED);
}

static void a_blocked_link_is_sound_where_its_block_knows_of_it(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	struct link_target t = store_link(f, &b, 7);
	struct seen seen;

	moderate(f, &t, true);
	check(f, &seen);
	assert_int_equal(seen.count, 0);
	set_marker(f, "1 o 1d 1 9999999999999 h");
	check(f, &seen);
	assert_int_equal(seen.last, LINK_UNCOUNTED);
}

static void an_endless_link_outlives_a_block_that_ends(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->never);
	char text[64];
	struct seen seen;

	store_link(f, &b, 7);
	snprintf(text, sizeof(text), "1 o never 1 %lld h",
		 (long long)clock_real_ms() + 90000);
	set_marker(f, text);
	check(f, &seen);
	assert_int_equal(seen.last, LINK_OUTLIVES);
}

static void any_key_is_judged_without_harm(void **state)
{
	static const char *const keys[] = {"l:{s5:",
					   "l:{s5:}:abcde",
					   "l:{s5:1}abcde",
					   "l:{s5:1}:",
					   "l:{s5:1}:toolongx",
					   "l:{s5:1x}:abcde",
					   "l:{s50:1}:ab",
					   "l:{s5:99999999999999999999}:abcde"};
	struct fixture *f = *state;
	struct link_facts facts = {
		.expires = 1, .head = "", .head_len = 0, .marker = ""};
	uint64_t block;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		for (size_t len = 0; len <= strlen(keys[i]); len++)
			assert_int_equal(link_judge(f->space, 9, keys[i], len,
						    &facts, &block),
					 LINK_KEY_DAMAGED);
}

/* --- lives ---------------------------------------------------------------- */

static void each_code_tells_when_it_ends(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	static int64_t ends[1000];
	int64_t now = clock_real_ms();

	store_link(f, &b, 0);
	store_link(f, &b, 999);
	must(f, code_expiries_read(f->server.redis, f->space, b.number, ends,
				   &f->err));
	assert_true(ends[0] > now + 86000000 && ends[0] < now + 86500000);
	assert_true(ends[999] > now);
	for (int i = 1; i < 999; i++)
		assert_int_equal(ends[i], 0);
}

static void a_tombstone_takes_no_code(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	struct link_target target = store_link(f, &b, 5);
	static int64_t ends[1000];

	delete_link(f, &target);
	must(f, code_expiries_read(f->server.redis, f->space, b.number, ends,
				   &f->err));
	assert_int_equal(ends[5], 0);
}

static void marker_and_link_are_weighed(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	uint64_t marker, link;

	store_link(f, &b, 5);
	must(f, block_weigh(f->server.redis, f->space, b.number, 5, &marker,
			    &link, &f->err));
	assert_true(marker > 40 && marker < 1000);
	assert_true(link > 40 && link < 1000);
	must(f, block_weigh(f->server.redis, f->space, 77, 5, &marker, &link,
			    &f->err));
	assert_true(!marker && !link);
}

/* --- markers -------------------------------------------------------------- */

static void markers_are_read_as_they_stand(void **state)
{
	struct fixture *f = *state;
	const uint64_t blocks[] = {2, 0, 1, 3};
	struct marker_look looks[4];

	open_block(f, f->day);
	open_block(f, f->never);
	redis_server_number(&f->server, "SET m:{s5:2} what");
	must(f, markers_read(f->server.redis, f->space, blocks, 4, looks,
			     &f->err));
	assert_int_equal(looks[0].state, MARKER_DAMAGED);
	assert_int_equal(looks[1].state, MARKER_SOUND);
	assert_true(looks[1].marker.open);
	assert_true(looks[2].marker.end == DURATION_NEVER);
	assert_int_equal(looks[3].state, MARKER_ABSENT);
}

static void a_lost_block_is_closed_against_a_late_open(void **state)
{
	struct fixture *f = *state;
	struct grant g = grant(f, f->day, 1);
	struct link_block late = block_of(f, &g, f->day);
	int64_t end;
	bool closed;

	must(f, marker_close_lost(f->server.redis, f->space, late.number, 1,
				  &closed, &f->err));
	assert_true(closed);
	must_fail(f, await_open(f->await, &late, &end, &f->err),
		  ERROR_NOT_OWNER);
	assert_false(marker(f, late.number).open);
}

static void a_block_with_a_marker_is_not_closed_as_lost(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	bool closed;

	must(f, marker_close_lost(f->server.redis, f->space, b.number, 1,
				  &closed, &f->err));
	assert_false(closed);
	assert_true(marker(f, b.number).open);
}

/* --- a Redis that does not answer ------------------------------------------
 */

static void say(struct fixture *f, const char *words)
{
	freeReplyObject(redis_server_ask(&f->server, words));
}

/* Here for want of a permission; else since it is busy, or a replica that has
 * lost its master. */
static void what_redis_does_not_tell_of_a_link_is_no_verdict(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	struct seen seen = {0};
	struct link_check check = {
		.redis = f->server.redis,
		.space = f->space,
		.found = on_found,
		.pause = go_on,
		.arg = &seen,
	};

	for (uint32_t k = 0; k < 30; k++)
		store_link(f, &b, k);
	say(f, "ACL SETUSER default -pexpiretime");
	must_fail(f, link_check_run(&check, &f->err), ERROR_REMOTE);
	say(f, "ACL SETUSER default +pexpiretime -getrange");
	must_fail(f, link_check_run(&check, &f->err), ERROR_REMOTE);
	assert_int_equal(seen.count, 0);
	/* Nothing is left over on the connection. */
	say(f, "ACL SETUSER default +getrange");
	check.links = 0;
	must(f, link_check_run(&check, &f->err));
	assert_int_equal(check.links, 30);
}

static void what_redis_does_not_tell_of_a_marker_is_no_damage(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	uint64_t blocks[600];
	struct marker_look looks[600];

	for (size_t i = 0; i < 600; i++)
		blocks[i] = b.number;
	say(f, "ACL SETUSER default -get");
	must_fail(f,
		  markers_read(f->server.redis, f->space, blocks, 600, looks,
			       &f->err),
		  ERROR_REMOTE);
	say(f, "ACL SETUSER default +get");
	must(f, markers_read(f->server.redis, f->space, blocks, 600, looks,
			     &f->err));
	assert_int_equal(looks[599].state, MARKER_SOUND);
}

static void what_redis_does_not_tell_of_a_code_is_no_life(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	int64_t ends[1000];

	store_link(f, &b, 0);
	say(f, "ACL SETUSER default -pexpiretime");
	must_fail(f,
		  code_expiries_read(f->server.redis, f->space, b.number, ends,
				     &f->err),
		  ERROR_REMOTE);
	say(f, "ACL SETUSER default +pexpiretime -get");
	must_fail(f,
		  code_expiries_read(f->server.redis, f->space, b.number, ends,
				     &f->err),
		  ERROR_REMOTE);
	say(f, "ACL SETUSER default +get");
	must(f, code_expiries_read(f->server.redis, f->space, b.number, ends,
				   &f->err));
	assert_true(ends[0] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(links_within_their_blocks_are_sound),
		TEST(a_link_against_its_marker_is_found),
		TEST(a_blocked_link_is_sound_where_its_block_knows_of_it),
		TEST(an_endless_link_outlives_a_block_that_ends),
		TEST(any_key_is_judged_without_harm),
		TEST(each_code_tells_when_it_ends),
		TEST(a_tombstone_takes_no_code),
		TEST(marker_and_link_are_weighed),
		TEST(markers_are_read_as_they_stand),
		TEST(a_lost_block_is_closed_against_a_late_open),
		TEST(a_block_with_a_marker_is_not_closed_as_lost),
		TEST(what_redis_does_not_tell_of_a_link_is_no_verdict),
		TEST(what_redis_does_not_tell_of_a_marker_is_no_damage),
		TEST(what_redis_does_not_tell_of_a_code_is_no_life),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
