/* Links that belong to no block. */
#include "tests/unit/linkstore/fixture.h"

#include "codespace/link_id.h"
#include "linkstore/block/renew.h"
#include "linkstore/link/edit.h"
#include "linkstore/standalone.h"
#include "linkstore/target.h"

static const char url[] = "https://example.org/";

static struct link_target make_target(struct fixture *f, const char *code)
{
	struct link_target t;

	must(f, linkstore_alias(f->store, code, strlen(code), &t, &f->err));
	return t;
}

static Shortloop__Link link_number(struct fixture *f, uint64_t number)
{
	Shortloop__Link link = empty_link();

	link.url = text_of(url);
	link.owner = text_of("shop");
	standalone_prepare(f->day, link_id_blockless(number), &link);
	return link;
}

static struct standalone_result create_link(struct fixture *f,
					    const struct link_target *t,
					    const Shortloop__Link *link)
{
	struct standalone_result result;

	must(f, await_standalone(f->await, t, link, 0, &result, &f->err));
	return result;
}

static struct link_answer look_up_link(struct fixture *f,
				       const struct link_target *t)
{
	struct link_answer answer;

	must(f, await_lookup(f->await, t, &answer, &f->err));
	return answer;
}

static void a_link_is_stored_alone_in_its_slot(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7);
	struct standalone_result result = create_link(f, &t, &link);
	struct link_answer answer = look_up_link(f, &t);

	assert_int_equal(result.outcome, STANDALONE_CREATED);
	assert_in_range(result.expires - clock_real_ms(), CLOCK_DAY - 5000,
			CLOCK_DAY + 5000);
	assert_int_equal(redis_server_number(&f->server, "EXISTS l:{sale-26}"),
			 1);
	assert_int_equal(answer.outcome, LINK_OUTCOME_REDIRECT);
	assert_true(answer.link->link_id == link.link_id);
	assert_in_range(answer.ttl_left, CLOCK_DAY - 5000, CLOCK_DAY);
	await_release(&answer.link);
}

static void the_very_same_link_again_is_a_success(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7);
	struct standalone_result first = create_link(f, &t, &link),
				 again = create_link(f, &t, &link);

	assert_int_equal(again.outcome, STANDALONE_CREATED);
	assert_in_range(again.expires, first.expires - 50, first.expires + 50);
}

/* This cannot happen unless an id was made twice. */
static void another_link_of_the_same_link_id_is_anothers(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7), other = link_number(f, 7);
	struct standalone_result result;

	create_link(f, &t, &link);
	other.owner = text_of("thief");
	result = create_link(f, &t, &other);
	assert_int_equal(result.outcome, STANDALONE_TAKEN);
	await_release(&result.existing);
}

static void a_link_that_was_changed_meanwhile_is_my_earlier_try(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link first = link_number(f, 7), changed = link_number(f, 7);

	changed.version = 2;
	changed.owner = text_of("shoe shop");
	create_link(f, &t, &changed);
	assert_int_equal(create_link(f, &t, &first).outcome,
			 STANDALONE_CREATED);
}

static void a_live_link_is_never_overwritten(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link mine = link_number(f, 7), other = link_number(f, 8);
	struct standalone_result result;
	struct link_answer answer;

	other.url = text_of("https://other.example/");
	create_link(f, &t, &mine);
	result = create_link(f, &t, &other);
	assert_int_equal(result.outcome, STANDALONE_TAKEN);
	assert_true(result.existing->link_id == mine.link_id);
	assert_string_equal(result.existing->url, url);
	assert_string_equal(result.existing->owner, "shop");
	assert_in_range(result.existing_left, CLOCK_DAY - 5000, CLOCK_DAY);
	await_release(&result.existing);
	answer = look_up_link(f, &t);
	assert_string_equal(answer.link->url, url);
	await_release(&answer.link);
}

static void a_link_may_live_for_ever(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7), other = link_number(f, 8);
	struct standalone_result result;

	standalone_prepare(f->never, link.link_id, &link);
	assert_true(create_link(f, &t, &link).expires == DURATION_NEVER);
	result = create_link(f, &t, &other);
	assert_true(result.existing_left == DURATION_NEVER);
	await_release(&result.existing);
}

static void past_its_deadline_nothing_is_stored(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7);
	struct standalone_result result;

	must_fail(f,
		  await_standalone(f->await, &t, &link, clock_real_ms() - 50,
				   &result, &f->err),
		  ERROR_LATE);
	assert_int_equal(redis_server_number(&f->server, "DBSIZE"), 5);
	must(f, await_standalone(f->await, &t, &link, clock_real_ms() + 5000,
				 &result, &f->err));
	assert_int_equal(result.outcome, STANDALONE_CREATED);
}

static void a_code_without_a_link_is_unknown(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	struct link_answer answer = look_up_link(f, &t);

	assert_int_equal(answer.outcome, LINK_OUTCOME_UNKNOWN);
	assert_null(answer.link);
}

static void a_visit_renews_a_link_without_a_block(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7);
	struct link_answer answer;
	int64_t left;

	create_link(f, &t, &link);
	redis_server_number(&f->server, "PEXPIRE l:{sale-26} 60000");
	answer = look_up_link(f, &t);
	assert_true(answer.renew);
	await_release(&answer.link);
	must(f, await_renew(f->await, &t, &link, &left, &f->err));
	assert_int_equal(left, CLOCK_DAY);
	assert_in_range(read_link_pttl(f, &t), CLOCK_DAY - 5000, CLOCK_DAY);
}

static void another_owners_link_is_not_renewed(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link former = link_number(f, 7), now = link_number(f, 8);
	int64_t left;

	create_link(f, &t, &now);
	redis_server_number(&f->server, "PEXPIRE l:{sale-26} 60000");
	must(f, await_renew(f->await, &t, &former, &left, &f->err));
	assert_int_equal(left, 0);
	assert_in_range(read_link_pttl(f, &t), 1, 60000);
}

static void a_link_of_a_block_is_not_stored_alone(void **state)
{
	struct fixture *f = *state;
	Shortloop__Link link = link_number(f, 7);
	struct standalone_result result;
	struct link_target t;

	linkstore_code(f->space, 0, 0, &t);
	must_fail(f, await_standalone(f->await, &t, &link, 0, &result, &f->err),
		  ERROR_INPUT);
}

/* --- an alias whose link has ended ---------------------------------------- */

static Shortloop__Link brief_number(struct fixture *f, uint64_t number)
{
	Shortloop__Link link = link_number(f, number);

	standalone_prepare(f->brief, link_id_blockless(number), &link);
	return link;
}

static enum standalone_outcome try_create(struct fixture *f,
					  const struct link_target *t,
					  const Shortloop__Link *link)
{
	struct standalone_result result = create_link(f, t, link);

	await_release(&result.existing);
	return result.outcome;
}

/* Redis' clock decides, however long this process was stopped. */
static void await_expiry(struct fixture *f, const char *exists)
{
	while (redis_server_number(&f->server, exists))
		sleep_ms(10);
}

/* A trace outlives its link: the test compares both expiry times and does not
 * sleep. */
static void assert_trace_outlives_link(struct fixture *f)
{
	assert_true(
		redis_server_number(&f->server, "PEXPIRETIME q:{sale-26}") >=
		redis_server_number(&f->server, "PEXPIRETIME l:{sale-26}") +
			QUARANTINE);
}

static void an_alias_that_expired_waits_for_its_quarantine(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link link = brief_number(f, 7), next = link_number(f, 8);
	struct standalone_result refused;

	assert_int_equal(try_create(f, &t, &link), STANDALONE_CREATED);
	assert_trace_outlives_link(f);
	redis_server_number(&f->server, "PEXPIRE q:{sale-26} 60000");
	await_expiry(f, "EXISTS l:{sale-26}");
	refused = create_link(f, &t, &next);
	assert_int_equal(refused.outcome, STANDALONE_QUARANTINED);
	assert_null(refused.existing);
	assert_in_range(refused.existing_left, 1, 60000);
	redis_server_number(&f->server, "PEXPIRE q:{sale-26} 20");
	await_expiry(f, "EXISTS q:{sale-26}");
	assert_int_equal(try_create(f, &t, &next), STANDALONE_CREATED);
}

static void a_renewed_alias_has_its_quarantine_after_that(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7), next = link_number(f, 8);
	int64_t left, end;

	create_link(f, &t, &link);
	redis_server_number(&f->server, "PEXPIRE l:{sale-26} 60000");
	redis_server_number(&f->server, "PEXPIRE q:{sale-26} 60150");
	end = redis_server_number(&f->server, "PEXPIRETIME q:{sale-26}");
	must(f, await_renew(f->await, &t, &link, &left, &f->err));
	assert_true(redis_server_number(&f->server, "PEXPIRETIME q:{sale-26}") >
		    end);
	assert_trace_outlives_link(f);
	redis_server_number(&f->server, "DEL l:{sale-26}");
	assert_int_equal(try_create(f, &t, &next), STANDALONE_QUARANTINED);
	redis_server_number(&f->server, "PEXPIRE q:{sale-26} 20");
	await_expiry(f, "EXISTS q:{sale-26}");
	assert_int_equal(try_create(f, &t, &next), STANDALONE_CREATED);
}

/* The alias is from before traces existed: a visit adds one. */
static void an_alias_without_a_trace_gets_one_when_it_is_renewed(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7), next = link_number(f, 8);
	int64_t left;

	create_link(f, &t, &link);
	assert_int_equal(redis_server_number(&f->server, "DEL q:{sale-26}"), 1);
	redis_server_number(&f->server, "PEXPIRE l:{sale-26} 60000");
	must(f, await_renew(f->await, &t, &link, &left, &f->err));
	assert_trace_outlives_link(f);
	redis_server_number(&f->server, "DEL l:{sale-26}");
	assert_int_equal(try_create(f, &t, &next), STANDALONE_QUARANTINED);
}

static void edit_life(struct fixture *f, const struct link_target *t,
		      const struct link_class *ttl)
{
	struct link_answer before = look_up_link(f, t);
	Shortloop__Link after = *before.link;
	int64_t expires;

	link_edit_prepare(before.link, ttl, &after);
	must(f, await_edit(f->await, t, before.link, &after, ttl, &expires,
			   &f->err));
	await_release(&before.link);
}

static void an_edited_life_moves_the_quarantine(void **state)
{
	struct fixture *f = *state;
	struct link_target t = make_target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7), next = link_number(f, 8);

	standalone_prepare(f->never, link_id_blockless(7), &link);
	create_link(f, &t, &link);
	assert_int_equal(redis_server_number(&f->server, "EXISTS q:{sale-26}"),
			 0);
	edit_life(f, &t, f->day);
	assert_in_range(redis_server_number(&f->server, "PTTL q:{sale-26}"),
			CLOCK_DAY, CLOCK_DAY + QUARANTINE + 1);
	edit_life(f, &t, f->brief);
	assert_trace_outlives_link(f);
	await_expiry(f, "EXISTS l:{sale-26}");
	await_expiry(f, "EXISTS q:{sale-26}");
	assert_int_equal(try_create(f, &t, &next), STANDALONE_CREATED);
}

static void codes_that_nobody_chooses_leave_no_trace(void **state)
{
	static const struct url_code_subject of = {"", "", "https://a.example/",
						   18};
	struct fixture *f = *state;
	Shortloop__Link link = link_number(f, 7);
	struct link_target t;

	must(f, linkstore_hash_code(f->hash, &of, 0, &t, &f->err));
	create_link(f, &t, &link);
	assert_int_equal(redis_server_number(&f->server, "DBSIZE"), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_ALL(a_link_is_stored_alone_in_its_slot),
		TEST_ALL(the_very_same_link_again_is_a_success),
		TEST_ALL(another_link_of_the_same_link_id_is_anothers),
		TEST_ALL(a_link_that_was_changed_meanwhile_is_my_earlier_try),
		TEST_ALL(a_live_link_is_never_overwritten),
		TEST_ALL(a_link_may_live_for_ever),
		TEST_ALL(past_its_deadline_nothing_is_stored),
		TEST_ALL(a_code_without_a_link_is_unknown),
		TEST_ALL(a_visit_renews_a_link_without_a_block),
		TEST_ALL(another_owners_link_is_not_renewed),
		TEST_ALL(a_link_of_a_block_is_not_stored_alone),
		TEST_ALL(an_alias_that_expired_waits_for_its_quarantine),
		TEST_ALL(a_renewed_alias_has_its_quarantine_after_that),
		TEST_ALL(an_alias_without_a_trace_gets_one_when_it_is_renewed),
		TEST_ALL(an_edited_life_moves_the_quarantine),
		TEST_ALL(codes_that_nobody_chooses_leave_no_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
