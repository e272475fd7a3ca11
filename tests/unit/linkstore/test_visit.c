/* The queries of a visit to Redis: the link of a code, and promise 6. */
#include "codespace/link_id.h"
#include "linkstore/block/renew.h"
#include "linkstore/target.h"
#include "tests/unit/linkstore/fixture.h"

/* --- look-up -------------------------------------------------------------- */

static enum link_outcome
look_up_outcome(struct fixture *f, const struct link_target *t, bool *ret_renew)
{
	struct link_answer answer;

	must(f, await_lookup(f->await, t, &answer, &f->err));
	*ret_renew = answer.renew;
	await_release(&answer.link);
	return answer.outcome;
}

static void a_fresh_link_redirects_and_needs_no_renewal(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	bool renew;

	assert_int_equal(look_up_outcome(f, &t, &renew), LINK_OUTCOME_REDIRECT);
	assert_false(renew);
}

static void a_code_never_issued_is_unknown(void **state)
{
	struct fixture *f = *state;
	struct link_target t;
	bool renew;

	linkstore_code(f->space, 3, 0, &t);
	assert_int_equal(look_up_outcome(f, &t, &renew), LINK_OUTCOME_UNKNOWN);
	open_block(f, f->day);
	linkstore_code(f->space, 0, 9, &t);
	assert_int_equal(look_up_outcome(f, &t, &renew), LINK_OUTCOME_UNKNOWN);
}

static void an_expired_link_is_gone(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);
	struct link_target t = store_link(f, &block, 0);
	bool renew;

	sleep_ms(1020);
	assert_int_equal(look_up_outcome(f, &t, &renew), LINK_OUTCOME_GONE);
}

static void a_code_of_a_former_generation_is_gone(void **state)
{
	struct fixture *f = *state;
	struct link_target t;
	bool renew;

	linkstore_code(f->space, 0, 9, &t);
	set_marker(f, "2 o 1d 9999999999990 9999999999999 me");
	assert_int_equal(look_up_outcome(f, &t, &renew), LINK_OUTCOME_GONE);
	set_marker(f, "1 c 1d 9999999999990 9999999999999 me");
	assert_int_equal(look_up_outcome(f, &t, &renew), LINK_OUTCOME_GONE);
}

/* Returns the generation of the link that the code had; 0 if it is unknown. */
static uint32_t former_generation(struct fixture *f,
				  const struct link_target *t)
{
	struct link_answer answer;

	must(f, await_lookup(f->await, t, &answer, &f->err));
	assert_int_equal(answer.outcome, LINK_OUTCOME_GONE);
	assert_null(answer.link);
	return answer.former_id ? link_id_unpack(answer.former_id).generation
				: 0;
}

/* For a while, codes of an open block may still be of the generation before. */
static void a_code_that_is_gone_was_somebodys(void **state)
{
	struct fixture *f = *state;
	long long now = clock_real_ms();
	struct link_target t;
	char text[64];

	linkstore_code(f->space, 0, 9, &t);
	snprintf(text, sizeof(text), "2 o 1d %lld %lld me", now, now + 90000);
	set_marker(f, text);
	assert_int_equal(former_generation(f, &t), 0);
	snprintf(text, sizeof(text), "2 o 1d %lld %lld me", now - 3 * HOLD,
		 now + 90000);
	set_marker(f, text);
	assert_int_equal(former_generation(f, &t), 2);
	snprintf(text, sizeof(text), "2 c 1d %lld %lld me", now, now + 90000);
	set_marker(f, text);
	assert_int_equal(former_generation(f, &t), 2);
	snprintf(text, sizeof(text), "1 o 1s %lld %lld me", now - 1000,
		 now + 90000);
	set_marker(f, text);
	assert_int_equal(former_generation(f, &t), 1);
}

/* Block 0 was granted again, and closed without having been opened: its codes
 * were not issued under that generation. */
static void a_code_of_a_block_that_was_not_opened_was_nobodys(void **state)
{
	struct fixture *f = *state;
	long long now = clock_real_ms();
	struct link_target t;
	char text[64];

	linkstore_code(f->space, 0, 9, &t);
	snprintf(text, sizeof(text), "2 c - %lld %lld me", now, now);
	set_marker(f, text);
	assert_int_equal(former_generation(f, &t), 0);
}

/* In the first generation a code is unknown until it can have expired. */
static void a_code_of_the_first_generation_may_have_expired(void **state)
{
	static const struct {
		const char *class;
		long long ago;
		enum link_outcome outcome;
	} cases[] = {
		{"1d", CLOCK_DAY - 90000, LINK_OUTCOME_UNKNOWN},
		{"1d", CLOCK_DAY, LINK_OUTCOME_GONE},
		/* The class is no longer configured. */
		{"2d", CLOCK_DAY, LINK_OUTCOME_UNKNOWN},
		{"2d", 2 * CLOCK_DAY, LINK_OUTCOME_GONE},
		{"never", 1000 * CLOCK_DAY, LINK_OUTCOME_UNKNOWN},
	};
	struct fixture *f = *state;
	struct link_target t;
	char text[64];
	bool renew;

	linkstore_code(f->space, 0, 9, &t);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), "1 o %s %lld never me",
			 cases[i].class,
			 (long long)clock_real_ms() - cases[i].ago);
		set_marker(f, text);
		assert_int_equal(look_up_outcome(f, &t, &renew),
				 cases[i].outcome);
	}
}

static void put_state(struct fixture *f, const struct link_target *t,
		      Shortloop__LinkState link_state)
{
	Shortloop__Link link = empty_link();
	uint8_t record[64];
	char key[128];
	const char *argv[] = {"SET", key, (const char *)record};
	size_t lens[] = {3, 0, 0};
	redisReply *reply;

	link.link_id = 1;
	link.state = link_state;
	lens[1] = (size_t)snprintf(key, sizeof(key), "l:{s5:%d}:%s",
				   (int)t->block, t->code);
	lens[2] = shortloop__link__pack(&link, record);
	must(f, redis_command(f->server.redis, 3, argv, lens, &reply, &f->err));
	freeReplyObject(reply);
}

static void deleted_and_blocked_links_say_so(void **state)
{
	struct fixture *f = *state;
	struct link_target t;
	bool renew;

	linkstore_code(f->space, 0, 9, &t);
	put_state(f, &t, SHORTLOOP__LINK_STATE__LINK_DELETED);
	assert_int_equal(look_up_outcome(f, &t, &renew), LINK_OUTCOME_GONE);
	put_state(f, &t, SHORTLOOP__LINK_STATE__LINK_BLOCKED);
	assert_int_equal(look_up_outcome(f, &t, &renew), LINK_OUTCOME_BLOCKED);
}

/* --- renew ---------------------------------------------------------------- */

static void set_remaining_life(struct fixture *f, const struct link_target *t,
			       int64_t left)
{
	char words[128];

	snprintf(words, sizeof(words), "PEXPIRE l:{s5:%d}:%s %d", (int)t->block,
		 t->code, (int)left);
	redis_server_number(&f->server, words);
}

static int64_t renew_link(struct fixture *f, const struct link_target *t,
			  uint64_t link_id_change)
{
	struct link_answer answer;
	Shortloop__Link link;
	int64_t left;

	must(f, await_lookup(f->await, t, &answer, &f->err));
	assert_non_null(answer.link);
	link = *answer.link;
	link.link_id += link_id_change;
	must(f, await_renew(f->await, t, &link, &left, &f->err));
	await_release(&answer.link);
	return left;
}

static void a_visit_to_an_ageing_link_asks_for_renewal(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	bool wanted;

	set_remaining_life(f, &t, CLOCK_DAY - CLOCK_HOUR - 1000);
	assert_int_equal(look_up_outcome(f, &t, &wanted),
			 LINK_OUTCOME_REDIRECT);
	assert_true(wanted);
	assert_true(renew_link(f, &t, 0) == CLOCK_DAY);
	assert_true(read_link_pttl(f, &t) > CLOCK_DAY - 5000);
}

static void renewing_lifts_the_marker_above_the_link(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	int64_t now = clock_real_ms();
	char text[128];

	snprintf(text, sizeof(text), "1 o 1d 1000 %lld %s",
		 (long long)now + 60000, block.holder);
	set_marker(f, text);
	set_remaining_life(f, &t, 50000);
	renew_link(f, &t, 0);
	assert_true(read_marker(f, 0).end >= now + CLOCK_DAY);
	assert_true(read_marker(f, 0).end >= now + read_link_pttl(f, &t));
}

/* This holds even if the clock advances while the script runs. */
static void no_renewed_link_outlives_the_end_of_its_block(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);

	sleep_ms(HOLD + 10);
	for (int i = 0; i < 3000; i++) {
		set_remaining_life(f, &t, 50000);
		renew_link(f, &t, 0);
		assert_true(gone_at(f, &t) <= read_marker(f, 0).end);
	}
}

static void renewing_never_lowers_the_marker(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	char text[128];

	snprintf(text, sizeof(text), "1 o 1d 1000 9999999999999 %s",
		 block.holder);
	set_marker(f, text);
	set_remaining_life(f, &t, 1000);
	renew_link(f, &t, 0);
	assert_true(read_marker(f, 0).end == 9999999999999);
}

/* A renewal reports the end that Redis then has; 0 if it raised nothing. */
static void a_renewal_reports_the_end_that_redis_has(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	struct link_renewal renewal;
	struct link_answer answer;
	char words[128];

	set_remaining_life(f, &t, 50000);
	must(f, await_lookup(f->await, &t, &answer, &f->err));
	must(f, await_renewal(f->await, &t, answer.link, &renewal, &f->err));
	assert_true(renewal.left == CLOCK_DAY);
	snprintf(words, sizeof(words), "PEXPIRETIME l:{s5:%d}:%s", (int)t.block,
		 t.code);
	assert_true(renewal.end == redis_server_number(&f->server, words));
	must(f, await_renewal(f->await, &t, answer.link, &renewal, &f->err));
	assert_true(renewal.left > CLOCK_DAY - 90000 && renewal.end == 0);
	await_release(&answer.link);
}

static void a_young_link_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);

	set_remaining_life(f, &t, CLOCK_DAY - 60 * 1000);
	renew_link(f, &t, 0);
	assert_true(read_link_pttl(f, &t) <= CLOCK_DAY - 60 * 1000);
}

static void another_owners_link_is_not_renewed(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);

	set_remaining_life(f, &t, 5000);
	assert_int_equal(renew_link(f, &t, 1), 0);
	assert_true(read_link_pttl(f, &t) <= 5000);
}

static void a_link_of_a_closed_block_is_not_renewed(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);

	set_remaining_life(f, &t, 5000);
	set_marker(f, "1 c 1d 1000 2000 me");
	assert_int_equal(renew_link(f, &t, 0), 0);
	set_marker(f, "2 o 1d 1000 2000 me");
	assert_int_equal(renew_link(f, &t, 0), 0);
	assert_true(read_link_pttl(f, &t) <= 5000);
}

static void a_link_whose_marker_is_lost_is_renewed(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);

	set_remaining_life(f, &t, 5000);
	redis_server_number(&f->server, "DEL m:{s5:0}");
	assert_true(renew_link(f, &t, 0) == CLOCK_DAY);
}

static void a_link_that_never_expires_stays_so(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->never);
	struct link_target t = store_link(f, &block, 0);

	assert_true(renew_link(f, &t, 0) == DURATION_NEVER);
	assert_int_equal(read_link_pttl(f, &t), -1);
}

static void anothers_link_that_never_expires_is_not_the_visitors(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->never);
	struct link_target t = store_link(f, &block, 0);

	assert_int_equal(renew_link(f, &t, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_fresh_link_redirects_and_needs_no_renewal),
		TEST(a_code_never_issued_is_unknown),
		TEST(an_expired_link_is_gone),
		TEST(a_code_of_a_former_generation_is_gone),
		TEST(a_code_that_is_gone_was_somebodys),
		TEST(a_code_of_a_block_that_was_not_opened_was_nobodys),
		TEST(a_code_of_the_first_generation_may_have_expired),
		TEST(deleted_and_blocked_links_say_so),
		TEST(a_visit_to_an_ageing_link_asks_for_renewal),
		TEST(renewing_lifts_the_marker_above_the_link),
		TEST(no_renewed_link_outlives_the_end_of_its_block),
		TEST(renewing_never_lowers_the_marker),
		TEST(a_renewal_reports_the_end_that_redis_has),
		TEST(a_young_link_is_left_alone),
		TEST(another_owners_link_is_not_renewed),
		TEST(a_link_of_a_closed_block_is_not_renewed),
		TEST(a_link_whose_marker_is_lost_is_renewed),
		TEST(a_link_that_never_expires_stays_so),
		TEST(anothers_link_that_never_expires_is_not_the_visitors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
