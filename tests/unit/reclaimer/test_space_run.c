/* A run over a space, from its checks to its end, with a real Redis. */
#include "tests/unit/reclaimer/issued.h"

#include "reclaimer/space/space_run.h"

/* A run; the test can act between two chunks, or while the run waits for
 * another. */
struct watch {
	struct fixture *f;
	struct reclaimer_settings settings;
	struct clock_check clock;
	struct space_run run;
	struct tally tally;
	bool interrupted;
	/* Reports so far. */
	int pauses, waits;
	uint64_t scanned, total, largest; /* blocks of a chunk */
	int longest;			  /* pause, ms */
	/* NULL: nothing is done.  If it returns true, the run ends there. */
	bool (*on_pause)(struct watch *w, int timeout_ms);
	uint64_t seen; /* for note_renewal: `scanned` of the last pause */
	bool renewed;
};

static bool pause_run(void *arg, const struct tally *tally, uint64_t total,
		      int timeout_ms)
{
	struct watch *w = arg;
	uint64_t chunk = tally->scanned - w->scanned;

	w->pauses++;
	w->scanned = tally->scanned;
	w->total = total;
	if (chunk > w->largest)
		w->largest = chunk;
	if (timeout_ms > w->longest)
		w->longest = timeout_ms;
	return w->on_pause && w->on_pause(w, timeout_ms);
}

static void on_waiting(void *arg, const struct error *why)
{
	struct watch *w = arg;

	assert_int_equal(why->code, ERROR_BUSY);
	w->waits++;
}

static struct watch watch_of(struct fixture *f)
{
	return (struct watch){
		.f = f,
		.settings = {.lock_ttl = 60000,
			     .chunk = 100,
			     .sample_every = 1000},
		.run = {.redis = f->server.redis, .space = f->space},
	};
}

static int execute_run(struct watch *w)
{
	w->run.settings = &w->settings;
	w->run.clock = &w->clock;
	w->run.pause = pause_run;
	w->run.waiting = on_waiting;
	w->run.arg = w;
	w->tally = (struct tally){0};
	w->pauses = w->waits = 0;
	w->scanned = 0;
	return space_run(&w->run, &w->tally, &w->interrupted, &w->f->err);
}

/* Adds `count` blocks that have ended. */
static void put_blocks(struct fixture *f, int count)
{
	for (int i = 0; i < count; i++)
		put_block(f, 2 * i);
}

static void put_lost(struct fixture *f, int block)
{
	char words[64];

	put_block(f, block);
	snprintf(words, sizeof(words), "DEL m:{s5:%d}", block);
	redis_server_number(&f->server, words);
}

static long long count_locks(struct fixture *f)
{
	return redis_server_number(&f->server, "EXISTS lock:{s5}");
}

/* --- work of a run -------------------------------------------------------- */

static void all_that_is_due_is_pooled(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 250);
	must(f, execute_run(&w));
	assert_false(w.interrupted);
	assert_int_equal(w.tally.scanned, 250);
	assert_int_equal(w.tally.freed, 250);
	assert_int_equal(count_members(f, "pool"), 250);
	assert_int_equal(count_members(f, "issued"), 0);
	assert_int_equal(w.largest, 100);
	assert_int_equal(w.longest, 0);
	assert_int_equal(w.total, 250);
	assert_int_equal(count_locks(f), 0);
	assert_int_equal(w.waits, 0);
}

/* A dry run does not need the lock either. */
static void a_dry_run_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 250);
	run_command(f, "SET lock:{s5} another's");
	w.run.dry_run = true;
	must(f, execute_run(&w));
	assert_int_equal(w.tally.scanned, 250);
	assert_int_equal(w.tally.freed, 250);
	assert_int_equal(count_members(f, "pool"), 0);
	assert_int_equal(count_members(f, "issued"), 250);
	assert_true(read_marker(f, 0).open);
	assert_int_equal(count_locks(f), 1);
}

/* The ends may differ by up to the interval of renewals. */
static void neighbours_that_end_together_stay_a_member(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	issue_member(f, "0-1:1");
	put_marker(f, 0, "1 o 1s 1000 99999999000000 holder");
	put_marker(f, 1, "1 o 1s 1000 99999999000009 holder");
	must(f, execute_run(&w));
	assert_int_equal(w.tally.live, 2);
	assert_int_equal(
		redis_server_number(&f->server, "ZSCORE issued:{s5} 0-1:1"),
		99999999000010);
}

static bool end_behind_two(struct watch *w, int timeout_ms)
{
	(void)timeout_ms;
	return w->pauses == 3;
}

static void a_run_ends_where_it_is_told_to(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 250);
	w.on_pause = end_behind_two;
	must(f, execute_run(&w));
	assert_true(w.interrupted);
	assert_int_equal(w.tally.freed, 200);
	assert_int_equal(count_members(f, "pool"), 200);
	assert_int_equal(count_locks(f), 0);
}

static void a_run_takes_as_many_as_it_is_told_to(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 250);
	w.run.max_blocks = 150;
	must(f, execute_run(&w));
	assert_false(w.interrupted);
	assert_int_equal(w.tally.freed, 150);
	assert_int_equal(w.total, 150);
	/* This is more than there are. */
	w.run.max_blocks = 150;
	must(f, execute_run(&w));
	assert_int_equal(w.tally.freed, 100);
	assert_int_equal(w.total, 100);
}

/* --- rate of a run -------------------------------------------------------- */

static void a_run_keeps_its_rate(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);
	int64_t begun = clock_monotonic_ms();

	put_blocks(f, 150);
	w.run.rate = 1000;
	must(f, execute_run(&w));
	/* This is the work of a hundredth of a second. */
	assert_int_equal(w.largest, 10);
	assert_true(clock_monotonic_ms() - begun >= 149);
	assert_int_equal(w.tally.freed, 150);
}

static bool end_of_fourth(struct watch *w, int timeout_ms)
{
	(void)timeout_ms;
	return w->pauses == 4;
}

/* Runs until the fourth pause; returns whether there was time for the longest
 * wait. */
static bool runs_in_time(struct watch *w)
{
	int64_t begun = clock_monotonic_ms();

	w->longest = 0;
	must(w->f, execute_run(w));
	assert_true(w->interrupted);
	assert_int_equal(w->largest, 1);
	return clock_monotonic_ms() - begun < 400;
}

/* A wait lasts an eighth of the lock's time, or a second: then the run can end
 * in time. */
static void a_slow_run_waits_a_while_at_a_time(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 10);
	w.run.rate = 1;
	w.settings.lock_ttl = 4000;
	w.on_pause = end_of_fourth;
	if (runs_in_time(&w))
		assert_int_equal(w.longest, 500);
	assert_in_range(w.longest, 0, 500);
	w.run.dry_run = true;
	if (runs_in_time(&w))
		assert_in_range(w.longest, 501, 1000);
	assert_in_range(w.longest, 0, 1000);
}

/* Each chunk renews the lock, too, so only renewals during one wait count. */
static bool note_renewal(struct watch *w, int timeout_ms)
{
	const char *words = "PTTL lock:{s5}";

	if (w->scanned && w->scanned == w->seen &&
	    redis_server_number(&w->f->server, words) <= w->settings.lock_ttl)
		w->renewed = true;
	w->seen = w->scanned;
	redis_server_number(&w->f->server, "PEXPIRE lock:{s5} 3600000");
	sleep_ms(timeout_ms);
	return w->renewed;
}

static void a_run_that_waits_keeps_its_lock(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 5);
	w.run.rate = 1;
	w.settings.lock_ttl = 3000;
	w.on_pause = note_renewal;
	must(f, execute_run(&w));
	assert_true(w.renewed);
}

static bool take_the_lock(struct watch *w, int timeout_ms)
{
	(void)timeout_ms;
	if (w->pauses == 2)
		run_command(w->f, "SET lock:{s5} another's");
	return false;
}

static void a_run_ends_when_its_lock_is_anothers(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 250);
	w.on_pause = take_the_lock;
	must_fail(f, execute_run(&w), ERROR_NOT_OWNER);
	assert_int_equal(count_members(f, "pool"), 100);
	assert_int_equal(w.tally.scanned, 100);
	assert_int_equal(count_locks(f), 1);
}

/* No later settling would notice the loss. */
static bool lose_the_lock_at_the_end(struct watch *w, int timeout_ms)
{
	(void)timeout_ms;
	if (w->scanned < 5)
		return false;
	run_command(w->f, "DEL lock:{s5}");
	sleep_ms(150);
	return false;
}

static void a_run_whose_lock_is_gone_has_not_ended_well(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 5);
	w.settings.lock_ttl = 500;
	w.on_pause = lose_the_lock_at_the_end;
	must_fail(f, execute_run(&w), ERROR_NOT_OWNER);
}

static bool refuse_markers(struct watch *w, int timeout_ms)
{
	(void)timeout_ms;
	if (w->pauses == 2)
		run_command(w->f, "ACL SETUSER default -mget");
	return false;
}

static bool refuse_scripts(struct watch *w, int timeout_ms)
{
	(void)timeout_ms;
	if (w->pauses == 2)
		run_command(w->f, "ACL SETUSER default -evalsha");
	return false;
}

static void what_redis_does_not_tell_ends_the_run(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 250);
	w.on_pause = refuse_markers;
	must_fail(f, execute_run(&w), ERROR_REMOTE);
	assert_int_equal(w.tally.scanned, 100);
	run_command(f, "ACL SETUSER default +mget");
	w.on_pause = refuse_scripts;
	must_fail(f, execute_run(&w), ERROR_REMOTE);
	run_command(f, "ACL SETUSER default +evalsha");
	assert_int_equal(count_members(f, "pool"), 200);
}

/* By then the run has read markers, but not the marks of endless grants. */
static void nothing_is_pooled_of_a_chunk_that_is_half_known(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 10);
	issue_member(f, "5001-5001:2");
	put_marker(f, 5001, "1 c never 1000 2000 holder");
	run_command(f, "ACL SETUSER default -zmscore");
	must_fail(f, execute_run(&w), ERROR_REMOTE);
	run_command(f, "ACL SETUSER default +zmscore");
	assert_int_equal(w.tally.scanned, 0);
	assert_int_equal(count_members(f, "pool"), 0);
	assert_int_equal(count_members(f, "issued"), 11);
}

/* --- another run ---------------------------------------------------------- */

static void another_run_is_waited_for_no_longer_than_told(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);
	int64_t begun;

	put_blocks(f, 5);
	run_command(f, "SET lock:{s5} another's");
	must_fail(f, execute_run(&w), ERROR_BUSY);
	assert_int_equal(w.waits, 0);
	assert_int_equal(w.pauses, 0);
	w.run.wait = 50;
	begun = clock_monotonic_ms();
	must_fail(f, execute_run(&w), ERROR_BUSY);
	assert_true(clock_monotonic_ms() - begun >= 50);
	assert_int_equal(w.waits, 1);
	assert_in_range(w.longest, 0, 50);
	assert_int_equal(count_members(f, "issued"), 5);
	assert_int_equal(count_locks(f), 1);
}

static bool give_lock_up(struct watch *w, int timeout_ms)
{
	(void)timeout_ms;
	if (w->pauses == 2)
		run_command(w->f, "DEL lock:{s5}");
	return false;
}

static void a_run_goes_on_when_another_has_ended(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 5);
	run_command(f, "SET lock:{s5} another's");
	w.run.wait = DURATION_NEVER;
	w.on_pause = give_lock_up;
	must(f, execute_run(&w));
	assert_int_equal(w.waits, 1);
	assert_int_equal(w.longest, 200);
	assert_int_equal(w.tally.freed, 5);
	assert_int_equal(count_locks(f), 0);
}

static bool end_now(struct watch *w, int timeout_ms)
{
	(void)w;
	(void)timeout_ms;
	return true;
}

static void a_run_that_waits_ends_when_it_is_told_to(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 5);
	run_command(f, "SET lock:{s5} another's");
	w.run.wait = DURATION_NEVER;
	w.on_pause = end_now;
	must(f, execute_run(&w));
	assert_true(w.interrupted);
	assert_int_equal(w.pauses, 1);
	assert_int_equal(count_members(f, "issued"), 5);
	assert_int_equal(count_locks(f), 1);
}

/* --- replies that are not trusted ----------------------------------------- */

static void more_lost_than_may_be_change_nothing(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 10);
	for (int i = 1; i <= 5; i += 2)
		put_lost(f, i);
	w.settings.max_lost = 2;
	must_fail(f, execute_run(&w), ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "3 blocks of space s5 have no"));
	assert_int_equal(w.tally.lost, 3);
	assert_int_equal(w.tally.scanned, 3);
	assert_int_equal(count_members(f, "pool"), 0);
	assert_true(read_marker(f, 0).open);
	assert_int_equal(count_locks(f), 0);
	w.run.dry_run = true;
	must_fail(f, execute_run(&w), ERROR_UNSAFE);
	assert_int_equal(w.tally.scanned, 13);
	w.run.dry_run = false;
	w.settings.max_lost = 3;
	must(f, execute_run(&w));
	assert_int_equal(w.tally.lost, 3);
	assert_int_equal(w.tally.freed, 10);
	assert_int_equal(count_members(f, "issued"), 3);
}

static void those_lost_before_count_too(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 10);
	put_lost(f, 1);
	put_lost(f, 19);
	w.settings.max_lost = 1;
	w.settings.chunk = 10;
	must_fail(f, execute_run(&w), ERROR_UNSAFE);
	assert_int_equal(w.tally.lost, 2);
	assert_int_equal(w.tally.freed, 9);
	assert_int_equal(count_members(f, "pool"), 9);
}

static bool lose_policy(struct watch *w, int timeout_ms)
{
	(void)timeout_ms;
	if (w->pauses == 2) {
		run_command(w->f, "CONFIG SET maxmemory-policy allkeys-lru");
		sleep_ms(1100); /* a check is valid for a second */
	}
	return false;
}

static void a_redis_that_may_evict_is_not_believed(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 250);
	w.on_pause = lose_policy;
	must_fail(f, execute_run(&w), ERROR_UNSAFE);
	assert_int_equal(count_members(f, "pool"), 100);
	assert_int_equal(count_locks(f), 0);
	w.on_pause = NULL;
	must_fail(f, execute_run(&w), ERROR_UNSAFE);
	assert_int_equal(w.pauses, 0);
	assert_int_equal(count_members(f, "pool"), 100);
}

static bool lose_policy_and_lock(struct watch *w, int timeout_ms)
{
	if (w->pauses == 1)
		run_command(w->f, "CONFIG SET maxmemory-policy allkeys-lru");
	return give_lock_up(w, timeout_ms);
}

static void what_was_checked_before_a_wait_is_checked_again(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 5);
	run_command(f, "SET lock:{s5} another's");
	w.run.wait = DURATION_NEVER;
	w.on_pause = lose_policy_and_lock;
	must_fail(f, execute_run(&w), ERROR_UNSAFE);
	assert_int_equal(w.pauses, 2);
	assert_int_equal(count_members(f, "pool"), 0);
	assert_int_equal(count_locks(f), 0);
}

static void a_clock_that_has_jumped_is_not_believed(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 5);
	w.clock = (struct clock_check){.begun = true, .beyond = 1};
	must_fail(f, execute_run(&w), ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "Redis' clock has jumped"));
	assert_int_equal(count_members(f, "pool"), 0);
}

static void a_space_of_another_record_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 5);
	run_command(f, "HSET space:{s5} block_size 999");
	must_fail(f, execute_run(&w), ERROR_CONFIG);
	assert_int_equal(count_members(f, "pool"), 0);
	run_command(f, "DEL space:{s5}");
	must_fail(f, execute_run(&w), ERROR_UNSAFE);
	assert_int_equal(count_members(f, "pool"), 0);
}

static void a_link_that_lives_stops_the_run(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);
	struct link_target t;
	char words[160];

	put_blocks(f, 5);
	linkstore_code(f->space, 8, 0, &t);
	snprintf(words, sizeof(words), "SET l:{s5:8}:%s x", t.code);
	run_command(f, words);
	w.settings.sample_every = 1;
	must_fail(f, execute_run(&w), ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "block 8 of space s5 has ended"));
	assert_int_equal(count_members(f, "pool"), 0);
	assert_int_equal(count_locks(f), 0);
}

static void a_span_that_is_still_to_come_is_refused(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	put_blocks(f, 5);
	w.run.span.from = clock_real_ms() + CLOCK_HOUR;
	must_fail(f, execute_run(&w), ERROR_USAGE);
	w.run.span = (struct due_span){.from = 1004, .until = 1006};
	must(f, execute_run(&w));
	assert_int_equal(w.tally.freed, 2);
}

/* A replica still answers, and may lack due members. */
static void what_a_replica_says_is_no_run(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f);

	w.run.dry_run = true;
	must(f, execute_run(&w));
	run_command(f, "REPLICAOF 127.0.0.1 1");
	assert_int_equal(execute_run(&w), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_that_is_due_is_pooled),
		TEST(a_dry_run_changes_nothing),
		TEST(neighbours_that_end_together_stay_a_member),
		TEST(a_run_ends_where_it_is_told_to),
		TEST(a_run_takes_as_many_as_it_is_told_to),
		TEST(a_run_keeps_its_rate),
		TEST(a_slow_run_waits_a_while_at_a_time),
		TEST(a_run_that_waits_keeps_its_lock),
		TEST(a_run_ends_when_its_lock_is_anothers),
		TEST(a_run_whose_lock_is_gone_has_not_ended_well),
		TEST(what_redis_does_not_tell_ends_the_run),
		TEST(nothing_is_pooled_of_a_chunk_that_is_half_known),
		TEST(another_run_is_waited_for_no_longer_than_told),
		TEST(a_run_goes_on_when_another_has_ended),
		TEST(a_run_that_waits_ends_when_it_is_told_to),
		TEST(more_lost_than_may_be_change_nothing),
		TEST(those_lost_before_count_too),
		TEST(a_redis_that_may_evict_is_not_believed),
		TEST(what_was_checked_before_a_wait_is_checked_again),
		TEST(a_clock_that_has_jumped_is_not_believed),
		TEST(a_space_of_another_record_is_left_alone),
		TEST(a_link_that_lives_stops_the_run),
		TEST(a_span_that_is_still_to_come_is_refused),
		TEST(what_a_replica_says_is_no_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
