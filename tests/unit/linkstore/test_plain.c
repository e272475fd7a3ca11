/* Links that belong to no block. */
#include "tests/unit/linkstore/fixture.h"

#include "codespace/link_id.h"
#include "linkstore/plain/create.h"

static const char url[] = "https://example.org/";

static struct link_target target(struct fixture *f, const char *code)
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
	plain_prepare(f->day, link_id_blockless(number), &link);
	return link;
}

static struct plain_result create(struct fixture *f,
				  const struct link_target *t,
				  const Shortloop__Link *link)
{
	struct plain_result result;

	must(f, plain_create(f->server.redis, t, link, 0, &result, &f->err));
	return result;
}

static struct link_answer look(struct fixture *f, const struct link_target *t)
{
	struct link_answer answer;

	must(f, link_lookup(f->server.redis, t, &answer, &f->err));
	return answer;
}

static void a_link_is_stored_alone_in_its_slot(void **state)
{
	struct fixture *f = *state;
	struct link_target t = target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7);
	struct plain_result result = create(f, &t, &link);
	struct link_answer answer = look(f, &t);

	assert_int_equal(result.outcome, PLAIN_CREATED);
	assert_in_range(result.expires - clock_real_ms(), CLOCK_DAY - 5000,
			CLOCK_DAY + 5000);
	assert_int_equal(redis_server_number(&f->server, "EXISTS l:{sale-26}"),
			 1);
	assert_int_equal(answer.outcome, LINK_OUTCOME_REDIRECT);
	assert_true(answer.link->link_id == link.link_id);
	assert_in_range(answer.ttl_left, CLOCK_DAY - 5000, CLOCK_DAY);
	link_answer_release(&answer);
}

static void the_very_same_link_again_is_a_success(void **state)
{
	struct fixture *f = *state;
	struct link_target t = target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7);
	struct plain_result first = create(f, &t, &link),
			    again = create(f, &t, &link);

	assert_int_equal(again.outcome, PLAIN_CREATED);
	assert_in_range(again.expires, first.expires - 50, first.expires + 50);
}

static void a_live_link_is_never_overwritten(void **state)
{
	struct fixture *f = *state;
	struct link_target t = target(f, "sale-26");
	Shortloop__Link mine = link_number(f, 7), other = link_number(f, 8);
	struct plain_result result;
	struct link_answer answer;

	other.url = text_of("https://other.example/");
	create(f, &t, &mine);
	result = create(f, &t, &other);
	assert_int_equal(result.outcome, PLAIN_TAKEN);
	assert_true(result.existing->link_id == mine.link_id);
	assert_string_equal(result.existing->url, url);
	assert_string_equal(result.existing->owner, "shop");
	assert_in_range(result.existing_left, CLOCK_DAY - 5000, CLOCK_DAY);
	plain_result_release(&result);
	answer = look(f, &t);
	assert_string_equal(answer.link->url, url);
	link_answer_release(&answer);
}

static void a_link_may_live_for_ever(void **state)
{
	struct fixture *f = *state;
	struct link_target t = target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7), other = link_number(f, 8);
	struct plain_result result;

	plain_prepare(f->never, link.link_id, &link);
	assert_true(create(f, &t, &link).expires == DURATION_NEVER);
	result = create(f, &t, &other);
	assert_true(result.existing_left == DURATION_NEVER);
	plain_result_release(&result);
}

static void past_its_deadline_nothing_is_stored(void **state)
{
	struct fixture *f = *state;
	struct link_target t = target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7);
	struct plain_result result;

	must_fail(f,
		  plain_create(f->server.redis, &t, &link, clock_real_ms() - 50,
			       &result, &f->err),
		  ERROR_LATE);
	assert_int_equal(redis_server_number(&f->server, "DBSIZE"), 5);
	must(f, plain_create(f->server.redis, &t, &link, clock_real_ms() + 5000,
			     &result, &f->err));
	assert_int_equal(result.outcome, PLAIN_CREATED);
}

static void a_code_without_a_link_is_unknown(void **state)
{
	struct fixture *f = *state;
	struct link_target t = target(f, "sale-26");
	struct link_answer answer = look(f, &t);

	assert_int_equal(answer.outcome, LINK_OUTCOME_UNKNOWN);
	assert_null(answer.link);
}

static void a_visit_renews_a_link_without_a_block(void **state)
{
	struct fixture *f = *state;
	struct link_target t = target(f, "sale-26");
	Shortloop__Link link = link_number(f, 7);
	struct link_answer answer;
	int64_t left;

	create(f, &t, &link);
	redis_server_number(&f->server, "PEXPIRE l:{sale-26} 60000");
	answer = look(f, &t);
	assert_true(answer.renew);
	link_answer_release(&answer);
	must(f, link_renew(f->server.redis, &t, &link, &left, &f->err));
	assert_int_equal(left, CLOCK_DAY);
	assert_in_range(pttl(f, &t), CLOCK_DAY - 5000, CLOCK_DAY);
}

static void another_owners_link_is_not_renewed(void **state)
{
	struct fixture *f = *state;
	struct link_target t = target(f, "sale-26");
	Shortloop__Link former = link_number(f, 7), now = link_number(f, 8);
	int64_t left;

	create(f, &t, &now);
	redis_server_number(&f->server, "PEXPIRE l:{sale-26} 60000");
	must(f, link_renew(f->server.redis, &t, &former, &left, &f->err));
	assert_int_equal(left, 0);
	assert_in_range(pttl(f, &t), 1, 60000);
}

static void a_link_of_a_block_is_not_stored_alone(void **state)
{
	struct fixture *f = *state;
	Shortloop__Link link = link_number(f, 7);
	struct plain_result result;
	struct link_target t;

	linkstore_code(f->space, 0, 0, &t);
	must_fail(f,
		  plain_create(f->server.redis, &t, &link, 0, &result, &f->err),
		  ERROR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_ALL(a_link_is_stored_alone_in_its_slot),
		TEST_ALL(the_very_same_link_again_is_a_success),
		TEST_ALL(a_live_link_is_never_overwritten),
		TEST_ALL(a_link_may_live_for_ever),
		TEST_ALL(past_its_deadline_nothing_is_stored),
		TEST_ALL(a_code_without_a_link_is_unknown),
		TEST_ALL(a_visit_renews_a_link_without_a_block),
		TEST_ALL(another_owners_link_is_not_renewed),
		TEST_ALL(a_link_of_a_block_is_not_stored_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
