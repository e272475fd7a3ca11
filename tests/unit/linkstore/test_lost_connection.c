/* A connection is lost in the middle of a query: the call fails and uses none
 * of the replies; a second call succeeds. */
#include "tests/unit/linkstore/rotation.h"
#include "tests/unit/linkstore/sent.h"

#include "linkstore/block/code_expiries.h"
#include "linkstore/block/link_check.h"
#include "linkstore/block/link_count.h"
#include "linkstore/block/markers.h"
#include "linkstore/block/unopened.h"
#include "linkstore/retire.h"
#include "linkstore/target.h"

enum {
	SOME = 5,
	/* There are more than are sent ahead. */
	MANY = 40000
};

/* Makes the blocks 0 to SOME - 1, and links in the first of them. */
static void make_blocks_and_links(struct fixture *f)
{
	struct link_block first = open_block(f, f->day);

	for (uint32_t i = 0; i < SOME; i++)
		store_link(f, &first, i);
	for (int i = 1; i < SOME; i++)
		open_block(f, f->day);
}

static uint64_t *make_block_numbers(size_t count)
{
	uint64_t *blocks = calloc(count, sizeof(*blocks));

	assert_non_null(blocks);
	for (uint64_t i = 0; i < count; i++)
		blocks[i] = i;
	return blocks;
}

/* --- queries -------------------------------------------------------------- */

static int ask_markers(struct fixture *f)
{
	struct marker_look looks[SOME];
	uint64_t *blocks = make_block_numbers(SOME);
	int status = markers_read(f->server.redis, f->space, blocks, SOME,
				  looks, &f->err);

	free(blocks);
	return status;
}

static int scan_blocks(struct fixture *f)
{
	struct block_scan *looks = calloc(MANY, sizeof(*looks));
	uint64_t *blocks = make_block_numbers(MANY);
	int status = block_scan_read(f->server.redis, f->space, blocks, MANY,
				     clock_real_ms(), looks, &f->err);

	free(blocks);
	free(looks);
	return status;
}

static int close_markers(struct fixture *f)
{
	struct block_scan looks[SOME];
	uint64_t *blocks = make_block_numbers(SOME);
	int status = block_scan_close(f->server.redis, f->space, blocks, SOME,
				      1, looks, &f->err);

	free(blocks);
	return status;
}

static int close_unopened(struct fixture *f)
{
	static const uint32_t generations[SOME] = {1, 1, 1, 1, 1};
	static const uint64_t blocks[SOME] = {70, 71, 72, 73, 74};
	struct block_scan looks[SOME];

	return reclaim_close_unopened(f->server.redis, f->space, blocks,
				      generations, SOME, clock_real_ms(), looks,
				      &f->err);
}

static int close_lost(struct fixture *f)
{
	bool closed;

	return marker_close_lost(f->server.redis, f->space, 80, 1, &closed,
				 &f->err);
}

static int ask_unopened(struct fixture *f)
{
	static const uint32_t generations[SOME] = {1, 1, 1, 1, 1};
	uint64_t *blocks = make_block_numbers(SOME);
	bool marked[SOME];
	int status = reclaim_unopened(f->server.redis, f->space, blocks,
				      generations, SOME, marked, &f->err);

	free(blocks);
	return status;
}

static int ask_lives(struct fixture *f)
{
	int64_t ends[1000];

	return code_expiries_read(f->server.redis, f->space, 0, ends, &f->err);
}

static int measure_block_memory(struct fixture *f)
{
	uint64_t marker, link;

	return block_weigh(f->server.redis, f->space, 0, 0, &marker, &link,
			   &f->err);
}

static int count_links(struct fixture *f)
{
	uint64_t links;

	return link_count_read(f->server.redis, f->space, NULL, 0, &links,
			       &f->err);
}

static void on_found(void *arg, const struct link_finding *finding)
{
	(void)finding;
	++*(unsigned *)arg;
}

static bool go_on(void *arg, uint64_t links, uint64_t keys, uint64_t total)
{
	(void)arg;
	(void)links;
	(void)keys;
	(void)total;
	return false;
}

static int check_links(struct fixture *f)
{
	unsigned found = 0;
	struct link_check check = {.redis = f->server.redis,
				   .space = f->space,
				   .found = on_found,
				   .pause = go_on,
				   .arg = &found};
	int status = link_check_run(&check, &f->err);

	/* The marker of block 0 belongs to another holder; each link reports it
	 * once, or none does. */
	assert_int_equal(found, status ? 0 : SOME);
	return status;
}

static int ask_due(struct fixture *f)
{
	struct due_cursor cursor = {0};
	struct due_range ranges[SOME];
	size_t count;

	return reclaim_due(f->server.redis, f->space, &cursor, SOME, ranges,
			   &count, &f->err);
}

static int settle_ahead(struct fixture *f)
{
	static const struct block_range member = {0, 0, 1};
	static const struct settle_part part = {SETTLE_KEEP, {0, 0, 1}, 777};
	struct reclaim_lock lock;
	int status;

	must(f, reclaim_lock_take(f->server.redis, f->space, 60000, &lock,
				  &f->err));
	status = reclaim_settle_send(f->server.redis, &lock, &member, 1, &part,
				     1, &f->err);
	if (status == 0)
		status = reclaim_settle_take(f->server.redis, &lock, &f->err);
	freeReplyObject(redis_server_ask(&f->server, "DEL lock:{s5}"));
	return status;
}

/* The only other failure is that a key is in use. */
static int retire_key(struct fixture *f)
{
	uint64_t blocks;
	int status;

	status = space_retire_key(f->server.redis, f->space, 1, &blocks,
				  &f->err);
	freeReplyObject(redis_server_ask(&f->server, "DEL lock:{s5}"));
	return status;
}

/* --- losses --------------------------------------------------------------- */

struct question {
	int (*ask)(struct fixture *f);
	const char *word;
	int passes;
};

static void fails_with_its_connection(struct fixture *f,
				      const struct question *questions,
				      size_t count)
{
	static const enum loss losses[] = {LOST_BEFORE, LOST_AFTER};

	for (size_t i = 0; i < 2 * count; i++) {
		const struct question *q = &questions[i / 2];

		lose_at(q->word, q->passes, losses[i % 2]);
		must_fail(f, q->ask(f), ERROR_REMOTE);
		if (sent.word || !f->err.retriable)
			fail_msg("%s, after %d: %s", q->word, q->passes,
				 f->err.text);
		must(f, q->ask(f));
	}
}

#define FAIL_WITH_IT(f, questions)                                             \
	fails_with_its_connection(f, questions,                                \
				  sizeof(questions) / sizeof(*(questions)))

static void markers_are_read_to_the_last(void **state)
{
	static const struct question questions[] = {
		{ask_markers, "m:{s5:0}", 0}, {ask_markers, "m:{s5:2}", 0},
		{ask_markers, "m:{s5:4}", 0}, {scan_blocks, "MGET", 0},
		{scan_blocks, "MGET", 1},     {scan_blocks, "MGET", 70},
	};
	struct fixture *f = *state;

	make_blocks_and_links(f);
	FAIL_WITH_IT(f, questions);
}

static void blocks_are_closed_to_the_last(void **state)
{
	static const struct question questions[] = {
		{close_markers, "m:{s5:0}", 0},
		{close_unopened, "m:{s5:70}", 0},
		{close_unopened, "m:{s5:72}", 0},
		{close_unopened, "m:{s5:74}", 0},
		{close_lost, "m:{s5:80}", 0},
		{ask_unopened, "unopened:{s5}", 0},
	};
	struct fixture *f = *state;

	make_blocks_and_links(f);
	FAIL_WITH_IT(f, questions);
}

static void lives_are_read_to_the_last(void **state)
{
	static const struct question questions[] = {
		{ask_lives, "PEXPIRETIME", 0},
		{ask_lives, "PEXPIRETIME", 100},
		{ask_lives, "PEXPIRETIME", 999},
		{ask_lives, "\nGET\r", 0},
		{ask_lives, "\nGET\r", 3},
		{measure_block_memory, "MEMORY", 0},
		{measure_block_memory, "MEMORY", 1},
		{count_links, "l:{s5:0}", 0},
	};
	struct fixture *f = *state;

	make_blocks_and_links(f);
	FAIL_WITH_IT(f, questions);
}

static void links_are_checked_to_the_last(void **state)
{
	static const struct question questions[] = {
		{check_links, "DBSIZE", 0},
		{check_links, "cursor:{s5}", 0},
		{check_links, "SCAN", 0},
		{check_links, "PEXPIRETIME", 0},
		{check_links, "PEXPIRETIME", 3},
		{check_links, "GETRANGE", 0},
		{check_links, "GETRANGE", 4},
		{check_links, "\nGET\r\n$8\r\nm:{s5:0}", 0},
		{check_links, "\nGET\r\n$8\r\nm:{s5:0}", 4},
		/* The second check of the first links. */
		{check_links, "cursor:{s5}", 1},
		{check_links, "EVALSHA", 0},
	};
	struct fixture *f = *state;

	make_blocks_and_links(f);
	set_marker(f, "2 o 1d 1 never h");
	FAIL_WITH_IT(f, questions);
}

static void a_run_of_the_reclaimer_hears_of_it(void **state)
{
	static const struct question questions[] = {
		{ask_due, "issued:{s5}", 0},
		{settle_ahead, "issued:{s5}", 0},
	};
	struct fixture *f = *state;

	make_blocks_and_links(f);
	FAIL_WITH_IT(f, questions);
}

/* The key is in use again each time, or was never used. */
static void a_key_is_not_retired_without_its_answers(void **state)
{
	static const struct question questions[] = {
		{retire_key, "hand:{s5}", 0},
		{retire_key, "lock:{s5}", 0},
		{retire_key, "hand:{s5}", 1},
	};
	struct fixture *f = *state;

	configure_keys(f, 0, 1);
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
		create_space(f);
		lose_at(questions[i].word, questions[i].passes, LOST_BEFORE);
		must_fail(f, retire_key(f), ERROR_REMOTE);
		assert_command_was_met();
		assert_int_equal(redis_server_number(&f->server,
						     "HEXISTS space:{s5} "
						     "key:1"),
				 1);
		must(f, retire_key(f));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(markers_are_read_to_the_last),
		TEST(blocks_are_closed_to_the_last),
		TEST(lives_are_read_to_the_last),
		TEST(links_are_checked_to_the_last),
		TEST(a_run_of_the_reclaimer_hears_of_it),
		TEST(a_key_is_not_retired_without_its_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
