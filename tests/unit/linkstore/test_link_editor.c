/* Edits of many links that one script does. */
#include "tests/unit/linkstore/edits.h"
#include "tests/unit/linkstore/sent.h"

#include "linkstore/link/link_editor.h"
#include "linkstore/target.h"

enum {
	LINKS = EDIT_BATCH_MAX + 1
};

/* An edit that a test has queued, and its answer. */
struct asked {
	struct fixture *f;
	struct link_target target;
	struct link_answer read;
	unsigned answers;
	int64_t expires;
	struct error err; /* its code is 0 if there is none */
};

static unsigned waiting;

static void on_edited(void *arg, int64_t expires, const struct error *err)
{
	struct asked *a = arg;

	a->answers++;
	a->expires = expires;
	a->err = err ? *err : (struct error){0};
	if (--waiting == 0)
		loop_stop(a->f->await->loop);
}

static void queue_version(struct asked *a, const Shortloop__Link *after,
			  const struct link_class *ttl)
{
	must(a->f,
	     link_editor_edit(a->f->await->editor, &a->target, a->read.link,
			      after, ttl, on_edited, a, &a->f->err));
	waiting++;
}

static void queue_url(struct asked *a, const char *url,
		      const struct link_class *ttl)
{
	Shortloop__Link after = *a->read.link;

	after.url = text_of(url);
	link_edit_prepare(a->read.link, ttl, &after);
	queue_version(a, &after, ttl);
}

static void queue_state(struct asked *a, Shortloop__LinkState to)
{
	Shortloop__Link after = *a->read.link;

	link_edit_prepare(a->read.link, NULL, &after);
	after.state = to;
	link_edit_keep_life(a->read.link, NULL, a->read.ttl_left, &after);
	queue_version(a, &after, NULL);
}

/* Sends what is queued and waits for all answers. */
static void await_edits(struct fixture *f)
{
	while (waiting > 0)
		await_run(f->await, AWAIT_CONNECTION_MS);
}

static struct asked ask_of(struct fixture *f, struct link_target target)
{
	return (struct asked){
		.f = f, .target = target, .read = read_link(f, &target)};
}

/* Stores links of a new block; `asked` is to be released. */
static void store_links(struct fixture *f, const struct link_class *ttl,
			struct asked *asked, uint32_t count)
{
	struct link_block block = open_block(f, ttl);

	for (uint32_t i = 0; i < count; i++)
		asked[i] = ask_of(f, store_link(f, &block, i));
}

static void release_asked(struct asked *asked, size_t count)
{
	for (size_t i = 0; i < count; i++)
		await_release(&asked[i].read.link);
}

/* Every edit must have been answered once, with that error. */
static void assert_answers(const struct asked *asked, size_t count,
			   enum error_code code)
{
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(asked[i].answers, 1);
		if (asked[i].err.code != code)
			fail_msg("edit %zu: %s", i, asked[i].err.text);
	}
}

static void assert_url(struct asked *a, const char *url)
{
	char text[64];

	assert_string_equal(url_at(a->f, &a->target, text), url);
}

/* Returns how often a command was called since the last CONFIG RESETSTAT. */
static long long calls_of(struct fixture *f, const char *command)
{
	redisReply *reply = redis_server_ask(&f->server, "INFO commandstats");
	char name[64];
	const char *at;
	long long calls = 0;

	snprintf(name, sizeof(name), "cmdstat_%s:calls=", command);
	at = strstr(reply->str, name);
	if (at)
		calls = strtoll(at + strlen(name), NULL, 10);
	freeReplyObject(reply);
	return calls;
}

static void forget_calls(struct fixture *f)
{
	freeReplyObject(redis_server_ask(&f->server, "CONFIG RESETSTAT"));
}

/* --- one script ----------------------------------------------------------- */

static void edits_of_a_turn_are_one_script(void **state)
{
	struct fixture *f = *state;
	struct asked asked[4];

	store_links(f, f->day, asked, 3);
	asked[3] = ask_of(f, store_alias(f, 7));
	forget_calls(f);
	for (int i = 0; i < 4; i++)
		queue_url(&asked[i], "https://new.ex/", NULL);
	await_edits(f);
	assert_answers(asked, 4, 0);
	assert_int_equal(calls_of(f, "evalsha"), 1);
	assert_int_equal(calls_of(f, "publish"), 1);
	assert_int_equal(calls_of(f, "set"), 4);
	for (int i = 0; i < 4; i++)
		assert_url(&asked[i], "https://new.ex/");
	release_asked(asked, 4);
}

static void a_full_script_is_sent_and_another_begun(void **state)
{
	struct fixture *f = *state;
	struct asked asked[LINKS];

	store_links(f, f->day, asked, LINKS);
	forget_calls(f);
	for (int i = 0; i < LINKS; i++)
		queue_url(&asked[i], "https://new.ex/", NULL);
	await_edits(f);
	assert_answers(asked, LINKS, 0);
	assert_int_equal(calls_of(f, "evalsha"), 2);
	for (int i = 0; i < LINKS; i++)
		assert_url(&asked[i], "https://new.ex/");
	release_asked(asked, LINKS);
}

static void each_edit_has_its_own_result(void **state)
{
	struct fixture *f = *state;
	struct asked asked[4];
	char words[96];

	store_links(f, f->day, asked, 4);
	snprintf(words, sizeof(words), "DEL l:{s5:0}:%s", asked[1].target.code);
	redis_server_number(&f->server, words);
	edit_link(f, &asked[2].target, "https://first.example/", NULL);
	edit_link(f, &asked[3].target, "https://new.ex/", NULL);
	for (int i = 0; i < 4; i++)
		queue_url(&asked[i], "https://new.ex/", NULL);
	await_edits(f);
	assert_answers(&asked[0], 1, 0);
	assert_answers(&asked[1], 1, ERROR_NOTFOUND);
	assert_answers(&asked[2], 1, ERROR_CONFLICT);
	/* The record there is the same caller's earlier try. */
	assert_answers(&asked[3], 1, 0);
	assert_true(asked[0].expires > 0 && asked[3].expires > 0);
	assert_url(&asked[0], "https://new.ex/");
	assert_url(&asked[2], "https://first.example/");
	release_asked(asked, 4);
}

static void the_marker_is_written_once(void **state)
{
	struct fixture *f = *state;
	struct asked asked[5];

	store_links(f, f->brief, asked, 5);
	moderate_link(f, &asked[4].target, true);
	await_release(&asked[4].read.link);
	asked[4].read = read_link(f, &asked[4].target);
	forget_calls(f);
	for (int i = 0; i < 3; i++)
		queue_state(&asked[i], SHORTLOOP__LINK_STATE__LINK_BLOCKED);
	queue_state(&asked[4], SHORTLOOP__LINK_STATE__LINK_LIVE);
	queue_url(&asked[3], "https://e.x/", f->day);
	await_edits(f);
	assert_answers(asked, 5, 0);
	assert_int_equal(calls_of(f, "evalsha"), 1);
	assert_int_equal(calls_of(f, "set"), 5 + 1);
	assert_int_equal(read_marker(f, 0).blocked, 3);
	assert_true(read_marker(f, 0).end == asked[3].expires);
	assert_true(asked[0].expires == DURATION_NEVER);
	release_asked(asked, 5);
}

static void one_link_edited_twice_in_a_turn_changes_once(void **state)
{
	struct fixture *f = *state;
	struct asked asked[2];

	store_links(f, f->day, asked, 1);
	asked[1] = ask_of(f, asked[0].target);
	queue_url(&asked[0], "https://a.example/", NULL);
	queue_url(&asked[1], "https://b.example/", NULL);
	await_edits(f);
	assert_answers(&asked[0], 1, 0);
	assert_answers(&asked[1], 1, ERROR_CONFLICT);
	assert_url(&asked[0], "https://a.example/");
	release_asked(asked, 2);
}

/* All keys of a script are in one slot there. */
static void a_cluster_gets_a_script_for_each_block(void **state)
{
	struct fixture *f = *state;
	struct asked asked[6];

	store_links(f, f->day, asked, 3);
	store_links(f, f->day, asked + 3, 3);
	forget_calls(f);
	for (int i = 0; i < 6; i++)
		queue_url(&asked[i % 2 * 3 + i / 2], "https://n.ex/", NULL);
	await_edits(f);
	assert_answers(asked, 6, 0);
	assert_int_equal(calls_of(f, "evalsha"), 2);
	release_asked(asked, 6);
}

/* --- failures ------------------------------------------------------------- */

static void a_longer_edit_does_not_spoil_the_others(void **state)
{
	struct fixture *f = *state;
	struct asked asked[4];

	store_links(f, f->day, asked, 4);
	freeReplyObject(redis_server_ask(&f->server, "CONFIG SET maxmemory 1"));
	queue_url(&asked[0], "https://example.org/much/longer", NULL);
	queue_url(&asked[2], "https://new.ex/", NULL);
	queue_url(&asked[1], "https://example.org/much/longer", NULL);
	queue_state(&asked[3], SHORTLOOP__LINK_STATE__LINK_BLOCKED);
	await_edits(f);
	assert_answers(asked, 2, ERROR_REMOTE);
	assert_non_null(strstr(asked[0].err.text, "redis is full"));
	assert_true(asked[0].err.retriable);
	assert_answers(asked + 2, 2, 0);
	assert_url(&asked[0], "https://example.org/");
	assert_url(&asked[2], "https://new.ex/");
	assert_int_equal(read_marker(f, 0).blocked, 1);
	release_asked(asked, 4);
}

static void a_script_that_fails_fails_each_edit(void **state)
{
	static const struct {
		const char *answer;
		enum error_code code;
	} cases[] = {
		{"{err = 'DAMAGED all'}", ERROR_DAMAGED},
		{"{err = 'BUSY script'}", ERROR_REMOTE},
		{"{1, 5, 1}", ERROR_PROTOCOL},
		{"'text'", ERROR_PROTOCOL},
	};
	struct fixture *f = *state;
	struct asked asked[2];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		store_links(f, f->day, asked, 2);
		queue_url(&asked[0], "https://new.ex/", NULL);
		queue_url(&asked[1], "https://new.ex/", NULL);
		answer_with("EVALSHA", 0, cases[i].answer);
		await_edits(f);
		assert_command_was_met();
		assert_answers(asked, 2, cases[i].code);
		assert_string_equal(asked[0].err.text, asked[1].err.text);
		release_asked(asked, 2);
	}
}

static void an_answer_may_fail_one_edit(void **state)
{
	struct fixture *f = *state;
	struct asked asked[2];

	store_links(f, f->day, asked, 2);
	queue_url(&asked[0], "https://new.ex/", NULL);
	queue_url(&asked[1], "https://new.ex/", NULL);
	answer_with("EVALSHA", 0, "{{err = 'DAMAGED this'}, 0, 1, 5}");
	await_edits(f);
	assert_answers(asked, 1, ERROR_DAMAGED);
	assert_answers(asked + 1, 1, 0);
	assert_int_equal(asked[1].expires, 5);
	release_asked(asked, 2);
}

static void edits_that_wait_when_it_ends_are_answered(void **state)
{
	struct fixture *f = *state;
	struct asked asked[2];

	store_links(f, f->day, asked, 2);
	queue_url(&asked[0], "https://new.ex/", NULL);
	queue_url(&asked[1], "https://new.ex/", NULL);
	link_editor_free(f->await->editor);
	f->await->editor = NULL;
	assert_answers(asked, 2, ERROR_REMOTE);
	assert_true(asked[0].err.retriable);
	release_asked(asked, 2);
}

/* Nothing is in doubt then, so nothing has to be tried again. */
static void nothing_is_queued_while_redis_is_away(void **state)
{
	struct fixture *f = *state;
	struct asked asked;
	Shortloop__Link after;

	store_links(f, f->day, &asked, 1);
	redis_server_kill(&f->server);
	while (redis_async_is_up(f->await->redis))
		await_run(f->await, AWAIT_CONNECTION_MS);
	link_edit_delete(asked.read.link, asked.read.ttl_left, &after);
	must_fail(f,
		  link_editor_edit(f->await->editor, &asked.target,
				   asked.read.link, &after, NULL, on_edited,
				   &asked, &f->err),
		  ERROR_REMOTE);
	release_asked(&asked, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_ALL(edits_of_a_turn_are_one_script),
		TEST(a_full_script_is_sent_and_another_begun),
		TEST(each_edit_has_its_own_result),
		TEST_CLUSTER(each_edit_has_its_own_result),
		TEST(the_marker_is_written_once),
		TEST_CLUSTER(the_marker_is_written_once),
		TEST(one_link_edited_twice_in_a_turn_changes_once),
		TEST_CLUSTER(a_cluster_gets_a_script_for_each_block),
		TEST(a_longer_edit_does_not_spoil_the_others),
		TEST(a_script_that_fails_fails_each_edit),
		TEST(an_answer_may_fail_one_edit),
		TEST(edits_that_wait_when_it_ends_are_answered),
		TEST(nothing_is_queued_while_redis_is_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
