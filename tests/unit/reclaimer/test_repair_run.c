/* A repair corrects the findings of a survey: with a real Redis, and an archive
 * of links in a real ClickHouse. */
#include "tests/unit/clickhouse_server.h"
#include "tests/unit/linkstore/sent.h"
#include "tests/unit/reclaimer/issued.h"

#include "reclaimer/verify/repair.h"

static struct clickhouse_server archive;

struct world {
	struct fixture *f;
	struct reclaim_lock lock;
	struct survey survey;
	struct repair repair;
};

static int start_archive(void **state)
{
	(void)state;
	clickhouse_server_start(&archive);
	clickhouse_server_do(
		&archive,
		"CREATE TABLE links (link_id UInt64) ENGINE = Memory");
	return 0;
}

static int stop_archive(void **state)
{
	(void)state;
	clickhouse_server_stop(&archive);
	return 0;
}

static bool go_on(void *arg, uint64_t done, uint64_t total, int timeout_ms)
{
	(void)arg;
	(void)done;
	(void)total;
	(void)timeout_ms;
	return false;
}

/* Opens a space of this many blocks; the archive has no link. */
static void open_world(struct world *w, struct fixture *f, int cursor)
{
	char words[64];

	*w = (struct world){.f = f};
	snprintf(words, sizeof(words), "SET cursor:{s5} %d", cursor);
	run_command(f, words);
	clickhouse_server_do(&archive, "TRUNCATE TABLE links");
	must(f, reclaim_lock_take(f->server.redis, f->space, 60000, &w->lock,
				  &f->err));
	w->survey = (struct survey){.redis = f->server.redis,
				    .space = f->space,
				    .lock = &w->lock,
				    .pause = go_on,
				    .wants_lost = true};
	w->repair = (struct repair){.survey = &w->survey,
				    .lock = &w->lock,
				    .archive = archive.ch,
				    .note = {"tester", "a test"}};
}

static void survey_space(struct world *w)
{
	must(w->f, survey_run(&w->survey, &w->f->err));
}

static void repair_space(struct world *w)
{
	must(w->f, repair_run(&w->repair, &w->f->err));
}

/* Closes the survey; nothing may be left for another repair. */
static void close_world(struct world *w, uint64_t left)
{
	assert_int_equal(block_findings_left(&w->survey.findings), left);
	survey_free(&w->survey);
}

static void archive_link(unsigned space, unsigned generation, unsigned id)
{
	clickhouse_server_do(&archive,
			     "INSERT INTO links SELECT bitShiftLeft("
			     "toUInt64(%u), 57) + bitShiftLeft(toUInt64(%u), "
			     "42) + %u",
			     space, generation, id);
}

/* Returns -1 if it is no member. */
static long long read_score(struct world *w, const char *set,
			    const char *member)
{
	char words[96];
	redisReply *reply;
	long long number = -1;

	snprintf(words, sizeof(words), "ZSCORE %s:{s5} %s", set, member);
	reply = redis_server_ask(&w->f->server, words);
	if (reply->type == REDIS_REPLY_STRING)
		number = atoll(reply->str);
	freeReplyObject(reply);
	return number;
}

static const char *repair_of_finding(const struct world *w, size_t i)
{
	assert_true(i < w->survey.findings.count);
	return w->survey.findings.list[i].repair;
}

/* --- blocks in two sets, or in none --------------------------------------- */

static void what_is_claimed_twice_stays_once(void **state)
{
	struct world w;

	open_world(&w, *state, 8);
	put_live(w.f, 0, 3);
	run_command(w.f, "ZADD pool:{s5} 1000 2-5:1");
	run_command(w.f, "ZADD out:{s5} 3000 5-7:1");
	for (int block = 4; block < 8; block++)
		put_marker(w.f, block, "0 c 1s 1000 2000 holder");
	survey_space(&w);
	assert_int_equal(w.survey.findings.total, 2);
	repair_space(&w);
	assert_string_equal(repair_of_finding(&w, 0),
			    "kept once, in the stricter of its states");
	assert_int_equal(count_members(w.f, "issued"), 1);
	assert_true(read_score(&w, "issued", "0-3:1") > 0);
	assert_int_equal(count_members(w.f, "pool"), 1);
	assert_int_equal(read_score(&w, "pool", "4-4:1"), 1000);
	assert_int_equal(read_score(&w, "out", "5-7:1"), 3000);
	close_world(&w, 0);
}

static void missing_blocks_are_issued_for_the_longest_time(void **state)
{
	struct world w;
	int64_t before, longest;

	open_world(&w, *state, 8);
	longest = w.f->config.hold_max + CLOCK_DAY;
	put_live(w.f, 0, 3);
	put_live(w.f, 6, 7);
	put_marker(w.f, 5, "3 c 1s 1000 2000 holder");
	survey_space(&w);
	before = clock_real_ms();
	repair_space(&w);
	assert_in_range(read_score(&w, "issued", "4-5:3"),
			before + longest - 1000,
			clock_real_ms() + longest + 1000);
	assert_int_equal(count_members(w.f, "pool"), 0);
	close_world(&w, 0);
}

static void what_is_not_proven_is_not_issued(void **state)
{
	struct world w;

	open_world(&w, *state, 8);
	put_live(w.f, 0, 3);
	survey_space(&w);
	w.survey.proven = false;
	repair_space(&w);
	assert_non_null(strstr(repair_of_finding(&w, 0), "never rested"));
	assert_int_equal(count_members(w.f, "issued"), 1);
	close_world(&w, 1);
}

/* --- contradictions with markers ------------------------------------------ */

static void what_is_pooled_and_open_is_issued_and_due(void **state)
{
	struct world w;
	int64_t before;

	open_world(&w, *state, 8);
	run_command(w.f, "ZADD pool:{s5} 1000 0-5:2 2000 6-7:2");
	for (int block = 0; block < 8; block++)
		put_marker(w.f, block, "1 c 1s 1000 2000 holder");
	put_marker(w.f, 2, "1 o 1s 1000 2000 holder");
	put_marker(w.f, 3, "1 o 1s 1000 2000 holder");
	put_marker(w.f, 7, "1 o 1s 1000 2000 holder");
	before = clock_real_ms();
	survey_space(&w);
	repair_space(&w);
	assert_string_equal(repair_of_finding(&w, 0),
			    "issued and due: the next run judges it");
	assert_in_range(read_score(&w, "issued", "2-3:2"), before - 1000,
			clock_real_ms() + 1000);
	assert_true(read_score(&w, "issued", "7-7:2") > 0);
	assert_int_equal(count_members(w.f, "issued"), 2);
	assert_int_equal(read_score(&w, "pool", "0-1:2"), 1000);
	assert_int_equal(read_score(&w, "pool", "4-5:2"), 1000);
	assert_int_equal(read_score(&w, "pool", "6-6:2"), 2000);
	close_world(&w, 0);
}

static void what_only_people_can_judge_is_left_to_them(void **state)
{
	struct world w;

	open_world(&w, *state, 4);
	put_live(w.f, 0, 3);
	put_marker(w.f, 1, "nonsense");
	survey_space(&w);
	repair_space(&w);
	assert_string_equal(repair_of_finding(&w, 0), "left to you");
	close_world(&w, 1);
}

/* The member moved between survey and repair, five times. */
static void what_keeps_moving_is_for_the_next_repair(void **state)
{
	struct world w;

	open_world(&w, *state, 2);
	run_command(w.f, "ZADD pool:{s5} 1000 0-1:2");
	put_marker(w.f, 0, "1 c 1s 1000 2000 holder");
	put_marker(w.f, 1, "1 o 1s 1000 2000 holder");
	survey_space(&w);
	run_command(w.f, "DEL pool:{s5}");
	repair_space(&w);
	assert_string_equal(repair_of_finding(&w, 0),
			    "it keeps moving: run it again");
	assert_int_equal(count_members(w.f, "issued"), 0);
	close_world(&w, 1);
}

static void nothing_is_repaired_under_a_lock_that_is_gone(void **state)
{
	struct world w;

	open_world(&w, *state, 8);
	put_live(w.f, 0, 3);
	issue_until(w.f, "4-6:1", 0);
	survey_space(&w);
	run_command(w.f, "SET lock:{s5} another's");
	must_fail(w.f, repair_run(&w.repair, &w.f->err), ERROR_NOT_OWNER);
	assert_int_equal(count_members(w.f, "issued"), 2);
	w.survey.findings.count = 0;
	must_fail(w.f, repair_run(&w.repair, &w.f->err), ERROR_NOT_OWNER);
	assert_int_equal(redis_server_number(&w.f->server, "EXISTS m:{s5:4}"),
			 0);
	close_world(&w, 1);
}

/* --- lost blocks ---------------------------------------------------------- */

static void put_link(struct world *w, uint64_t block)
{
	struct link_target t;
	char words[160];

	linkstore_code(w->f->space, block, 7, &t);
	snprintf(words, sizeof(words), "SET l:{s5:%d}:%s x", (int)block,
		 t.code);
	run_command(w->f, words);
}

/* There is a link of that generation or a later one, or any link in Redis. */
static void lost_blocks_of_which_a_link_is_known_stay_lost(void **state)
{
	struct world w;
	int64_t before;

	open_world(&w, *state, 6);
	issue_until(w.f, "0-5:2", 0);
	archive_link(5, 2, 1999);
	archive_link(5, 3, 2000);
	put_link(&w, 3);
	/* The archive has links of a former generation, and of another space.
	 */
	archive_link(5, 1, 4000);
	archive_link(6, 2, 0);
	survey_space(&w);
	before = clock_real_ms();
	repair_space(&w);
	assert_int_equal(w.repair.freed, 3);
	assert_int_equal(w.repair.kept, 3);
	assert_in_range(read_score(&w, "pool", "0-0:3"),
			before + QUARANTINE - 1000,
			clock_real_ms() + QUARANTINE + 1000);
	assert_true(read_score(&w, "pool", "4-5:3") > 0);
	assert_int_equal(read_score(&w, "issued", "1-3:2"), 0);
	assert_int_equal(count_members(w.f, "issued"), 1);
	assert_int_equal(read_marker(w.f, 4).generation, 2);
	assert_false(read_marker(w.f, 4).open);
	assert_int_equal(redis_server_number(&w.f->server, "EXISTS m:{s5:1}"),
			 0);
	assert_string_equal(repair_of_finding(&w, 0),
			    "no link of it anywhere: closed and pooled");
	assert_int_equal(w.survey.findings.list[1].first, 4);
	assert_int_equal(w.survey.findings.list[1].last, 5);
	close_world(&w, 0);
}

/* The same holds for a block that was opened after all, or has no generation
 * left. */
static void lost_blocks_that_are_lost_no_more_stay(void **state)
{
	struct world w;

	open_world(&w, *state, 3);
	issue_until(w.f, "0-0:2", 0);
	issue_until(w.f, "1-1:32767", 0);
	issue_until(w.f, "2-2:32766", 0);
	survey_space(&w);
	put_marker(w.f, 0, "2 o 1s 1000 99999999000000 holder");
	repair_space(&w);
	assert_int_equal(w.repair.freed, 1);
	assert_int_equal(w.repair.kept, 2);
	assert_true(read_marker(w.f, 0).open);
	assert_true(read_score(&w, "pool", "2-2:32767") > 0);
	assert_int_equal(count_members(w.f, "pool"), 1);
	close_world(&w, 0);
}

static void a_lost_block_that_moves_is_not_pooled(void **state)
{
	struct world w;

	open_world(&w, *state, 2);
	issue_until(w.f, "0-1:1", 0);
	survey_space(&w);
	issue_until(w.f, "0-1:1", 5000);
	repair_space(&w);
	assert_int_equal(w.repair.freed, 0);
	assert_int_equal(count_members(w.f, "pool"), 0);
	assert_string_equal(repair_of_finding(&w, 0),
			    "it keeps moving: run it again");
	close_world(&w, 1);
}

/* A run would trust the marker of the former generation. */
static void what_was_never_opened_is_asked_after_in_the_archive(void **state)
{
	struct world w;

	open_world(&w, *state, 4);
	run_command(w.f, "ZADD issued:{s5} +inf 0-3:2");
	for (int block = 0; block < 4; block++)
		put_marker(w.f, block, "1 c never 1000 2000 holder");
	archive_link(5, 2, 1000);
	survey_space(&w);
	repair_space(&w);
	assert_string_equal(repair_of_finding(&w, 0), "set aside as lost");
	assert_int_equal(read_score(&w, "issued", "1-1:2"), 0);
	assert_int_equal(count_members(w.f, "issued"), 1);
	assert_true(read_score(&w, "pool", "0-0:3") > 0);
	assert_true(read_score(&w, "pool", "2-3:3") > 0);
	assert_int_equal(w.repair.kept, 1);
	close_world(&w, 0);
}

/* --- missing answers ------------------------------------------------------ */

static void nothing_is_pooled_without_the_archives_answer(void **state)
{
	struct world w;

	open_world(&w, *state, 3);
	issue_until(w.f, "0-2:2", 0);
	survey_space(&w);
	clickhouse_server_do(&archive, "RENAME TABLE links TO away");
	must_fail(w.f, repair_run(&w.repair, &w.f->err), ERROR_REMOTE);
	clickhouse_server_do(&archive, "RENAME TABLE away TO links");
	assert_int_equal(w.repair.freed, 0);
	assert_int_equal(count_members(w.f, "pool"), 0);
	assert_int_equal(redis_server_number(&w.f->server, "EXISTS m:{s5:0}"),
			 0);
	repair_space(&w);
	assert_int_equal(w.repair.freed, 3);
	close_world(&w, 0);
}

/* Makes one trouble of each kind that a repair corrects; the survey finds them.
 */
static void open_troubled_world(struct world *w, struct fixture *f)
{
	open_world(w, f, 12);
	/* In two sets, missing, pooled and open, lost, not opened. */
	put_live(f, 0, 1);
	run_command(f, "ZADD out:{s5} 3000 1-2:1");
	run_command(f, "ZADD pool:{s5} 1000 4-5:2");
	put_marker(f, 4, "1 o 1s 1000 2000 holder");
	put_marker(f, 5, "1 c 1s 1000 2000 holder");
	issue_until(f, "6-7:2", 0);
	run_command(f, "ZADD issued:{s5} +inf 8-8:2");
	put_marker(f, 8, "1 c never 1000 2000 holder");
	put_live(f, 9, 11);
	survey_space(w);
}

static void empty_space(struct world *w)
{
	for (int block = 0; block < 12; block++) {
		char words[64];

		snprintf(words, sizeof(words), "DEL m:{s5:%d}", block);
		run_command(w->f, words);
	}
	run_command(w->f, "DEL lock:{s5} issued:{s5} pool:{s5} out:{s5}");
}

static void a_repair_fails_when_a_command_is_refused(void **state)
{
	bool all_answered = false;
	struct world w;
	int n;

	for (n = 0; !all_answered; n++) {
		int status;

		open_troubled_world(&w, *state);
		answer_with("{s5", n, "{err = 'ERR no'}");
		status = repair_run(&w.repair, &w.f->err);
		all_answered = end_waiting();
		assert_int_equal(status, all_answered ? 0 : -1);
		if (!all_answered)
			assert_int_equal(w.f->err.code, ERROR_REMOTE);
		else
			assert_int_equal(w.repair.freed, 3);
		survey_free(&w.survey);
		empty_space(&w);
	}
	assert_true(n > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_claimed_twice_stays_once),
		TEST(missing_blocks_are_issued_for_the_longest_time),
		TEST(what_is_not_proven_is_not_issued),
		TEST(what_is_pooled_and_open_is_issued_and_due),
		TEST(what_only_people_can_judge_is_left_to_them),
		TEST(what_keeps_moving_is_for_the_next_repair),
		TEST(nothing_is_repaired_under_a_lock_that_is_gone),
		TEST(lost_blocks_of_which_a_link_is_known_stay_lost),
		TEST(lost_blocks_that_are_lost_no_more_stay),
		TEST(a_lost_block_that_moves_is_not_pooled),
		TEST(what_was_never_opened_is_asked_after_in_the_archive),
		TEST(nothing_is_pooled_without_the_archives_answer),
		TEST(a_repair_fails_when_a_command_is_refused),
	};

	return cmocka_run_group_tests(tests, start_archive, stop_archive);
}
