/* Look-ups of many links that one script does. */
#include "tests/unit/linkstore/edits.h"
#include "tests/unit/linkstore/sent.h"

#include "linkstore/block/link_reader.h"
#include "linkstore/target.h"

enum {
	LINKS = READ_BATCH_MAX + 1
};

/* A look-up that a test has queued, and its answer. */
struct sought {
	struct await *await;
	unsigned answers;
	struct link_answer answer; /* its link is not valid any more */
	uint64_t link_id;
	char url[64];
	struct error err; /* its code is 0 if there is none */
};

static unsigned waiting;

static struct link_reader *new_reader(struct fixture *f)
{
	struct link_reader *r =
		link_reader_new(f->await->loop, f->await->redis, &f->err);

	assert_non_null(r);
	await_connection(f->await);
	return r;
}

static void on_found(void *arg, const struct link_answer *answer,
		     const struct error *err)
{
	struct sought *s = arg;

	s->answers++;
	s->err = err ? *err : (struct error){0};
	if (answer)
		s->answer = *answer;
	if (answer && answer->link) {
		s->link_id = answer->link->link_id;
		snprintf(s->url, sizeof(s->url), "%s", answer->link->url);
	}
	if (--waiting == 0)
		loop_stop(s->await->loop);
}

static void queue_look_up(struct fixture *f, struct link_reader *r,
			  const struct link_target *target, struct sought *s)
{
	*s = (struct sought){.await = f->await};
	must(f, link_reader_look_up(r, target, on_found, s, &f->err));
	waiting++;
}

static void await_look_ups(struct fixture *f)
{
	while (waiting > 0)
		await_run(f->await, AWAIT_CONNECTION_MS);
}

/* Returns how many scripts have been called since the last RESETSTAT. */
static long long scripts_called(struct fixture *f)
{
	redisReply *reply = redis_server_ask(&f->server, "INFO commandstats");
	static const char name[] = "cmdstat_evalsha:calls=";
	const char *at = strstr(reply->str, name);
	long long calls = at ? strtoll(at + strlen(name), NULL, 10) : 0;

	freeReplyObject(reply);
	return calls;
}

static void forget_calls(struct fixture *f)
{
	freeReplyObject(redis_server_ask(&f->server, "CONFIG RESETSTAT"));
}

static void each_link_is_found_as_by_a_look_up_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day),
			  brief = open_block(f, f->brief);
	struct link_target targets[5];
	struct link_reader *r;
	struct sought sought[5];

	targets[0] = store_link(f, &block, 0);
	targets[1] = store_link(f, &block, 1);
	delete_link(f, &targets[1]);
	/* Codes of no link: of a block in which links have ended, or have
	 * not. */
	linkstore_code(f->space, brief.number, 7, &targets[2]);
	linkstore_code(f->space, block.number, 7, &targets[3]);
	targets[4] = store_alias(f, 7);
	sleep_ms(1100);
	r = new_reader(f);
	forget_calls(f);
	for (int i = 0; i < 5; i++)
		queue_look_up(f, r, &targets[i], &sought[i]);
	await_look_ups(f);
	assert_int_equal(scripts_called(f), 1);
	for (int i = 0; i < 5; i++) {
		struct link_answer alone = read_link(f, &targets[i]);

		assert_int_equal(sought[i].answers, 1);
		assert_int_equal(sought[i].err.code, 0);
		assert_int_equal(sought[i].answer.outcome, alone.outcome);
		assert_int_equal(sought[i].answer.former_id, alone.former_id);
		assert_in_range(sought[i].answer.ttl_left - alone.ttl_left, 0,
				5000);
		assert_true(sought[i].link_id ==
			    (alone.link ? alone.link->link_id : 0));
		assert_string_equal(sought[i].url,
				    alone.link ? alone.link->url : "");
		await_release(&alone.link);
	}
	assert_int_equal(sought[0].answer.outcome, LINK_OUTCOME_REDIRECT);
	assert_int_equal(sought[1].answer.outcome, LINK_OUTCOME_GONE);
	assert_int_equal(sought[2].answer.outcome, LINK_OUTCOME_GONE);
	assert_int_equal(sought[3].answer.outcome, LINK_OUTCOME_UNKNOWN);
	assert_int_equal(sought[4].answer.outcome, LINK_OUTCOME_REDIRECT);
	link_reader_free(r);
}

static void a_link_that_never_ends_is_read(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->never);
	struct link_target t = store_link(f, &block, 0);
	struct link_reader *r = new_reader(f);
	struct sought sought;

	queue_look_up(f, r, &t, &sought);
	await_look_ups(f);
	assert_true(sought.answer.ttl_left == DURATION_NEVER);
	link_reader_free(r);
}

static void a_full_script_is_sent_and_another_begun(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target targets[LINKS];
	struct link_reader *r;
	struct sought sought[LINKS];

	for (uint32_t i = 0; i < LINKS; i++)
		targets[i] = store_link(f, &block, i);
	r = new_reader(f);
	forget_calls(f);
	for (int i = 0; i < LINKS; i++)
		queue_look_up(f, r, &targets[i], &sought[i]);
	await_look_ups(f);
	assert_int_equal(scripts_called(f), 2);
	for (int i = 0; i < LINKS; i++) {
		assert_int_equal(sought[i].answers, 1);
		assert_int_equal(sought[i].answer.outcome,
				 LINK_OUTCOME_REDIRECT);
	}
	link_reader_free(r);
}

/* All keys of a script are in one slot there. */
static void a_cluster_gets_a_script_for_each_block(void **state)
{
	struct fixture *f = *state;
	struct link_block one = open_block(f, f->day),
			  two = open_block(f, f->day);
	struct link_target targets[4];
	struct link_reader *r = new_reader(f);
	struct sought sought[4];

	for (uint32_t i = 0; i < 4; i++)
		targets[i] = store_link(f, i % 2 ? &one : &two, i);
	forget_calls(f);
	for (int i = 0; i < 4; i++)
		queue_look_up(f, r, &targets[i], &sought[i]);
	await_look_ups(f);
	assert_int_equal(scripts_called(f), 2);
	for (int i = 0; i < 4; i++)
		assert_int_equal(sought[i].answer.outcome,
				 LINK_OUTCOME_REDIRECT);
	link_reader_free(r);
}

static void an_answer_may_fail_one_look_up_or_all(void **state)
{
	static const struct {
		const char *answer;
		enum error_code codes[2];
	} cases[] = {
		{"'text'", {ERROR_PROTOCOL, ERROR_PROTOCOL}},
		{"{false, -2, false}", {ERROR_PROTOCOL, ERROR_PROTOCOL}},
		{"{err = 'DAMAGED all'}", {ERROR_DAMAGED, ERROR_DAMAGED}},
		{"{'damaged', 5, false, false, -2, false}",
		 {ERROR_PROTOCOL, 0}},
		{"{false, 'x', false, false, -2, false}", {ERROR_PROTOCOL, 0}},
	};
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	struct link_reader *r = new_reader(f);
	struct sought sought[2];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		queue_look_up(f, r, &t, &sought[0]);
		queue_look_up(f, r, &t, &sought[1]);
		answer_with("EVALSHA", 0, cases[i].answer);
		await_look_ups(f);
		assert_command_was_met();
		for (int j = 0; j < 2; j++) {
			assert_int_equal(sought[j].answers, 1);
			assert_int_equal(sought[j].err.code, cases[i].codes[j]);
		}
	}
	link_reader_free(r);
}

static void look_ups_that_wait_when_it_ends_are_answered(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	struct link_reader *r = new_reader(f);
	struct sought sought;

	queue_look_up(f, r, &t, &sought);
	link_reader_free(r);
	assert_int_equal(sought.answers, 1);
	assert_int_equal(sought.err.code, ERROR_REMOTE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_ALL(each_link_is_found_as_by_a_look_up_of_its_own),
		TEST(a_link_that_never_ends_is_read),
		TEST(a_full_script_is_sent_and_another_begun),
		TEST_CLUSTER(a_cluster_gets_a_script_for_each_block),
		TEST(an_answer_may_fail_one_look_up_or_all),
		TEST(look_ups_that_wait_when_it_ends_are_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
