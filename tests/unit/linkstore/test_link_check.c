/* Compares every link with its block's marker; lives of codes; lost blocks are
 * closed. */
#include "tests/unit/linkstore/fixture.h"

#include "codespace/link_id.h"
#include "linkstore/block/code_expiries.h"
#include "linkstore/block/link_check.h"
#include "linkstore/block/link_count.h"
#include "linkstore/block/markers.h"
#include "linkstore/record_head.h"
#include "linkstore/target.h"
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

static uint64_t check_links(struct fixture *f, struct seen *ret)
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
	assert_int_equal(check_links(f, &seen), 1500);
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
		check_links(f, &seen);
		assert_int_equal(seen.last, cases[i].trouble);
	}
	redis_server_number(&f->server, "DEL m:{s5:0}");
	check_links(f, &seen);
	assert_int_equal(seen.last, LINK_UNMARKED);
	redis_server_number(&f->server, "SET cursor:{s5} 0");
	check_links(f, &seen);
	assert_int_equal(seen.last, LINK_NEVER_ISSUED);
}

static void a_blocked_link_is_sound_where_its_block_knows_of_it(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	struct link_target t = store_link(f, &b, 7);
	struct seen seen;

	moderate_link(f, &t, true);
	check_links(f, &seen);
	assert_int_equal(seen.count, 0);
	set_marker(f, "1 o 1d 1 9999999999999 h");
	check_links(f, &seen);
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
	check_links(f, &seen);
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

/* Checks the first link of block 3, with some facts changed. */
struct judged {
	struct link_id_parts parts;
	struct link_facts facts;
	uint64_t block, cursor; /* the key's and the space's */
};

static enum link_trouble evaluate_link(struct fixture *f,
				       const struct judged *j)
{
	struct link_facts facts = j->facts;
	unsigned char head[RECORD_HEAD];
	struct link_target t;
	char key[96];
	uint64_t id, block = 77;
	enum link_trouble trouble;

	linkstore_code(f->space, 3, 0, &t);
	must(f, link_id_pack(&j->parts, &id, &f->err));
	record_head(id, head);
	if (!facts.head)
		facts.head = (const char *)head;
	snprintf(key, sizeof(key), "l:{s5:%d}:%s", (int)j->block, t.code);
	trouble = link_judge(f->space, j->cursor, key, strlen(key), &facts,
			     &block);
	assert_int_equal(block, facts.expires ? j->block : 0);
	return trouble;
}

static struct judged sound_link(void)
{
	static const char marker[] = "1 o 1d 1 5000 h";

	return (struct judged){
		.parts = {.space = 5, .generation = 1, .id = 3000},
		.facts = {.expires = 5000,
			  .head_len = RECORD_HEAD,
			  .marker = marker,
			  .marker_len = sizeof(marker) - 1},
		.block = 3,
		.cursor = 4,
	};
}

static void a_link_is_where_its_record_says(void **state)
{
	struct fixture *f = *state;
	struct judged j = sound_link();

	assert_int_equal(evaluate_link(f, &j), LINK_SOUND);
	j.parts.id++;
	assert_int_equal(evaluate_link(f, &j), LINK_MISPLACED);
	j = sound_link();
	j.parts.space++;
	assert_int_equal(evaluate_link(f, &j), LINK_MISPLACED);
	j = sound_link();
	j.block = 2;
	assert_int_equal(evaluate_link(f, &j), LINK_MISPLACED);
	j = sound_link();
	j.cursor = 3;
	assert_int_equal(evaluate_link(f, &j), LINK_NEVER_ISSUED);
	/* The link is gone, so there is no finding. */
	j.facts.expires = 0;
	assert_int_equal(evaluate_link(f, &j), LINK_SOUND);
}

static void a_record_begins_with_the_links_number(void **state)
{
	struct fixture *f = *state;
	struct judged j = sound_link();

	j.facts.head_len--;
	assert_int_equal(evaluate_link(f, &j), LINK_RECORD_DAMAGED);
	j = sound_link();
	j.facts.head = "not a link";
	assert_int_equal(evaluate_link(f, &j), LINK_RECORD_DAMAGED);
}

static void a_link_may_end_a_little_after_its_block(void **state)
{
	struct fixture *f = *state;
	struct judged j = sound_link();

	j.facts.expires = 5000 + LINK_CHECK_SLACK;
	assert_int_equal(evaluate_link(f, &j), LINK_SOUND);
	j.facts.expires++;
	assert_int_equal(evaluate_link(f, &j), LINK_OUTLIVES);
	j.facts.expires = DURATION_NEVER;
	assert_int_equal(evaluate_link(f, &j), LINK_OUTLIVES);
	/* A blocked link lasts as long as the marker counts it. */
	j.facts.blocked = true;
	assert_int_equal(evaluate_link(f, &j), LINK_UNCOUNTED);
}

static void a_check_that_is_not_answered_fails(void **state)
{
	static const char *const refused[] = {"dbsize", "scan", "get",
					      "evalsha"};
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	struct seen seen = {0};
	struct link_check run = {
		.redis = f->server.redis,
		.space = f->space,
		.found = on_found,
		.pause = go_on,
		.arg = &seen,
	};
	char words[64];

	store_link(f, &b, 7);
	set_marker(f, "2 o 1d 1 never h");
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		snprintf(words, sizeof(words), "ACL SETUSER default -%s",
			 refused[i]);
		freeReplyObject(redis_server_ask(&f->server, words));
		must_fail(f, link_check_run(&run, &f->err), ERROR_REMOTE);
		snprintf(words, sizeof(words), "ACL SETUSER default +%s",
			 refused[i]);
		freeReplyObject(redis_server_ask(&f->server, words));
	}
	assert_int_equal(seen.count, 0);
	must(f, link_check_run(&run, &f->err));
	assert_int_equal(seen.count, 1);
}

static void links_that_cannot_be_counted_are_not_none(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	uint64_t links;
	bool has;

	store_link(f, &b, 7);
	freeReplyObject(
		redis_server_ask(&f->server, "ACL SETUSER default -exists"));
	must_fail(f,
		  link_count_read(f->server.redis, f->space, NULL, 0, &links,
				  &f->err),
		  ERROR_REMOTE);
	must_fail(
		f,
		link_count_any(f->server.redis, f->space, 0, 0, &has, &f->err),
		ERROR_REMOTE);
	freeReplyObject(
		redis_server_ask(&f->server, "ACL SETUSER default +exists"));
	must(f, link_count_any(f->server.redis, f->space, 0, 0, &has, &f->err));
	assert_true(has);
	must(f, link_count_any(f->server.redis, f->space, 1, 0, &has, &f->err));
	assert_false(has);
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
	struct grant g = make_grant(f, f->day, 1);
	struct link_block late = block_of(f, &g, f->day);
	int64_t end;
	bool closed;

	must(f, marker_close_lost(f->server.redis, f->space, late.number, 1,
				  &closed, &f->err));
	assert_true(closed);
	must_fail(f, await_open(f->await, &late, &end, &f->err),
		  ERROR_NOT_OWNER);
	assert_false(read_marker(f, late.number).open);
}

static void a_block_with_a_marker_is_not_closed_as_lost(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	bool closed;

	must(f, marker_close_lost(f->server.redis, f->space, b.number, 1,
				  &closed, &f->err));
	assert_false(closed);
	assert_true(read_marker(f, b.number).open);
}

/* --- a Redis that does not answer ------------------------------------------
 */

static void run_redis_command(struct fixture *f, const char *words)
{
	freeReplyObject(redis_server_ask(&f->server, words));
}

/* Here the permission is missing; in other cases Redis is busy, or is a replica
 * that lost its master. */
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
	run_redis_command(f, "ACL SETUSER default -pexpiretime");
	must_fail(f, link_check_run(&check, &f->err), ERROR_REMOTE);
	run_redis_command(f, "ACL SETUSER default +pexpiretime -getrange");
	must_fail(f, link_check_run(&check, &f->err), ERROR_REMOTE);
	assert_int_equal(seen.count, 0);
	/* The connection has no replies left over. */
	run_redis_command(f, "ACL SETUSER default +getrange");
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
	run_redis_command(f, "ACL SETUSER default -get");
	must_fail(f,
		  markers_read(f->server.redis, f->space, blocks, 600, looks,
			       &f->err),
		  ERROR_REMOTE);
	run_redis_command(f, "ACL SETUSER default +get");
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
	run_redis_command(f, "ACL SETUSER default -pexpiretime");
	must_fail(f,
		  code_expiries_read(f->server.redis, f->space, b.number, ends,
				     &f->err),
		  ERROR_REMOTE);
	run_redis_command(f, "ACL SETUSER default +pexpiretime -get");
	must_fail(f,
		  code_expiries_read(f->server.redis, f->space, b.number, ends,
				     &f->err),
		  ERROR_REMOTE);
	run_redis_command(f, "ACL SETUSER default +get");
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
		TEST(a_link_is_where_its_record_says),
		TEST(a_record_begins_with_the_links_number),
		TEST(a_link_may_end_a_little_after_its_block),
		TEST(a_check_that_is_not_answered_fails),
		TEST(links_that_cannot_be_counted_are_not_none),
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
