/* URLs to which an account may make no links, since a link to them was blocked.
 */
#include "tests/unit/linkstore/fixture.h"

#include "linkstore/url_blocks.h"
#include "linkstore/url_checker.h"

#define BAD	"https://bad.example/"
#define WORSE	"https://worse.example/"
#define GOOD	"https://good.example/"
#define BLOCKED "blocked:{acme}"

static const char *const bad[] = {BAD}, *const both[] = {BAD, WORSE};

static void block_urls(struct fixture *f, const char *account, uint64_t link_id,
		       const char *const *urls, size_t count)
{
	const struct url_decision decision = {
		.link_id = link_id, .code = "abc", .key = "boss"};

	await_begin(f->await, NULL, &f->err);
	must(f, await_end(f->await,
			  url_block_async(f->await->redis, f->store, account,
					  &decision, urls, count, await_on_done,
					  f->await, &f->err)));
}

static void let_go(struct fixture *f, const char *account, uint64_t link_id,
		   const char *const *urls, size_t count)
{
	await_begin(f->await, NULL, &f->err);
	must(f, await_end(f->await,
			  url_let_go_async(f->await->redis, f->store, account,
					   link_id, urls, count, await_on_done,
					   f->await, &f->err)));
}

static int64_t lift_url(struct fixture *f, const char *account, const char *url)
{
	char id[URL_BLOCK_ID];
	int64_t number;

	url_block_id(url, id);
	await_begin(f->await, &number, &f->err);
	must(f, await_end(f->await,
			  url_lift_async(f->await->redis, account, id,
					 await_on_number, f->await, &f->err)));
	return number;
}

/* --- checking ------------------------------------------------------------- */

struct answer {
	struct await *await;
	int *left; /* checks without an answer yet */
	const char *blocked;
	bool failed;
	struct error err;
};

static void on_checked(void *arg, const char *blocked, const struct error *err)
{
	struct answer *answer = arg;

	answer->blocked = blocked;
	answer->failed = err != NULL;
	if (err)
		answer->err = *err;
	if (--*answer->left == 0)
		await_answer(answer->await, NULL);
}

struct question {
	const char *account;
	const char *urls[2]; /* the second may be NULL */
};

/* Makes all checks in one turn of a loop of its own: the loop keeps its hooks
 * until it ends. */
static void check_all(struct fixture *f, const struct question *questions,
		      struct answer *answers, int count)
{
	struct await *a =
		await_new(&f->server.config, linkstore_scripts(f->store));
	struct url_checker *checker;
	int left = count;

	assert_non_null(a);
	checker = url_checker_new(a->loop, a->redis, &f->err);
	assert_non_null(checker);
	await_begin(a, NULL, &f->err);
	for (int i = 0; i < count; i++) {
		answers[i] = (struct answer){.await = a, .left = &left};
		must(f, url_checker_check(checker, questions[i].account,
					  questions[i].urls,
					  questions[i].urls[1] ? 2 : 1,
					  on_checked, &answers[i], &f->err));
	}
	assert_int_equal(left, count);
	must(f, await_end(a, 0));
	redis_async_free(a->redis);
	a->redis = NULL;
	url_checker_free(checker);
	await_free(a);
}

static const char *check_url(struct fixture *f, const char *account,
			     const char *url)
{
	const struct question question = {account, {url, NULL}};
	struct answer answer;

	check_all(f, &question, &answer, 1);
	if (answer.failed)
		fail_msg("%s", answer.err.text);
	return answer.blocked;
}

static long long calls_of(struct fixture *f, const char *command)
{
	char name[64];
	redisReply *reply = redis_server_ask(&f->server, "INFO commandstats");
	const char *at;
	long long calls = 0;

	snprintf(name, sizeof(name), "cmdstat_%s:calls=", command);
	at = strstr(reply->str, name);
	if (at)
		calls = strtoll(at + strlen(name), NULL, 10);
	freeReplyObject(reply);
	return calls;
}

/* --- tests ---------------------------------------------------------------- */

static void a_url_is_blocked_for_its_account(void **state)
{
	struct fixture *f = *state;

	assert_null(check_url(f, "acme", BAD));
	block_urls(f, "acme", 7, both, 2);
	assert_string_equal(check_url(f, "acme", BAD), BAD);
	assert_string_equal(check_url(f, "acme", WORSE), WORSE);
	assert_null(check_url(f, "acme", GOOD));
	assert_null(check_url(f, "acme2", BAD));
	let_go(f, "acme", 7, both, 2);
	assert_null(check_url(f, "acme", BAD));
	assert_int_equal(redis_server_number(&f->server, "EXISTS " BLOCKED), 0);
}

static void what_is_decided_does_not_end(void **state)
{
	struct fixture *f = *state;

	block_urls(f, "acme", 7, bad, 1);
	assert_int_equal(redis_server_number(&f->server, "PTTL " BLOCKED), -1);
}

static void a_url_is_free_when_its_last_link_is(void **state)
{
	struct fixture *f = *state;

	block_urls(f, "acme", 7, both, 2);
	block_urls(f, "acme", 8, bad, 1);
	let_go(f, "acme", 7, both, 2);
	assert_string_equal(check_url(f, "acme", BAD), BAD);
	assert_null(check_url(f, "acme", WORSE));
	let_go(f, "acme", 9, bad, 1);
	assert_string_equal(check_url(f, "acme", BAD), BAD);
	let_go(f, "acme", 8, bad, 1);
	assert_null(check_url(f, "acme", BAD));
}

/* The call is repeated, as after a lost reply. */
static void the_same_sent_again_counts_once(void **state)
{
	struct fixture *f = *state;
	char before[512], after[512];
	char words[96], id[URL_BLOCK_ID];

	url_block_id(BAD, id);
	snprintf(words, sizeof(words), "HGET " BLOCKED " %s", id);
	block_urls(f, "acme", 7, bad, 1);
	redis_server_text(&f->server, words, before);
	block_urls(f, "acme", 7, bad, 1);
	redis_server_text(&f->server, words, after);
	assert_string_equal(before, after);
	let_go(f, "acme", 7, bad, 1);
	let_go(f, "acme", 7, bad, 1);
	assert_null(check_url(f, "acme", BAD));
}

static void a_url_by_itself_is_let_go_with_no_link(void **state)
{
	struct fixture *f = *state;

	block_urls(f, "acme", 0, bad, 1);
	block_urls(f, "acme", 7, bad, 1);
	let_go(f, "acme", 7, bad, 1);
	assert_string_equal(check_url(f, "acme", BAD), BAD);
	assert_int_equal(lift_url(f, "acme", BAD), 1);
	assert_int_equal(lift_url(f, "acme", BAD), 0);
	assert_null(check_url(f, "acme", BAD));
}

/* One entry stays small whatever its account does; it is then lifted by hand.
 */
static void of_very_many_links_the_url_is_blocked_by_itself(void **state)
{
	struct fixture *f = *state;

	for (uint64_t id = 1; id <= URL_BLOCK_LINKS + 50; id++)
		block_urls(f, "acme", id, bad, 1);
	for (uint64_t id = 1; id <= URL_BLOCK_LINKS + 50; id++)
		let_go(f, "acme", id, bad, 1);
	assert_string_equal(check_url(f, "acme", BAD), BAD);
	assert_int_equal(lift_url(f, "acme", BAD), 1);
}

static void a_redis_that_is_full_blocks_and_lets_go(void **state)
{
	struct fixture *f = *state;

	freeReplyObject(redis_server_ask(&f->server, "CONFIG SET maxmemory 1"));
	block_urls(f, "acme", 7, bad, 1);
	assert_string_equal(check_url(f, "acme", BAD), BAD);
	block_urls(f, "acme", 8, bad, 1);
	let_go(f, "acme", 8, bad, 1);
	let_go(f, "acme", 7, bad, 1);
	assert_null(check_url(f, "acme", BAD));
}

#define MANY 600

/* Each check gets its own answer; an account without blocks costs one query for
 * any number of links. */
static void checks_of_one_turn_are_asked_together(void **state)
{
	static const char *const accounts[] = {"acme", "bank", "corp"};
	struct fixture *f = *state;
	struct question *questions = calloc(MANY, sizeof(*questions));
	struct answer *answers = calloc(MANY, sizeof(*answers));

	block_urls(f, "acme", 7, both, 2);
	for (int i = 0; i < MANY; i++)
		questions[i] = (struct question){
			accounts[i % 3],
			{i % 2 ? BAD : GOOD, i % 5 ? NULL : WORSE}};
	freeReplyObject(redis_server_ask(&f->server, "CONFIG RESETSTAT"));
	check_all(f, questions, answers, MANY);
	for (int i = 0; i < MANY; i++) {
		const char *expected = i % 3   ? NULL
				       : i % 2 ? BAD
				       : i % 5 ? NULL
					       : WORSE;

		assert_false(answers[i].failed);
		if (expected)
			assert_string_equal(answers[i].blocked, expected);
		else
			assert_null(answers[i].blocked);
	}
	assert_int_equal(calls_of(f, "exists"), 3);
	assert_int_equal(calls_of(f, "hmget"), 1);
	free(questions);
	free(answers);
}

/* An unknown state does not allow the URL. */
static void a_damaged_record_fails_the_check(void **state)
{
	const struct question question = {"acme", {BAD, NULL}};
	struct fixture *f = *state;
	struct answer answer;

	freeReplyObject(redis_server_ask(&f->server, "SET " BLOCKED " x"));
	check_all(f, &question, &answer, 1);
	assert_true(answer.failed);
}

static void a_link_leads_to_each_url_once(void **state)
{
	Shortloop__Target ios, android;
	Shortloop__Target *targets[] = {&ios, &android};
	Shortloop__Link link = empty_link();
	const char *urls[LINK_URLS_MAX];

	(void)state;
	shortloop__target__init(&ios);
	shortloop__target__init(&android);
	link.url = text_of(GOOD);
	ios.url = text_of(BAD);
	android.url = text_of(BAD);
	android.app = text_of("myapp://x");
	link.targets = targets;
	link.n_targets = 2;
	assert_int_equal(link_urls(&link, urls), 3);
	assert_string_equal(urls[0], GOOD);
	assert_string_equal(urls[1], BAD);
	assert_string_equal(urls[2], "myapp://x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_url_is_blocked_for_its_account),
		TEST_CLUSTER(a_url_is_blocked_for_its_account),
		TEST(what_is_decided_does_not_end),
		TEST(a_url_is_free_when_its_last_link_is),
		TEST(the_same_sent_again_counts_once),
		TEST(a_url_by_itself_is_let_go_with_no_link),
		TEST(of_very_many_links_the_url_is_blocked_by_itself),
		TEST(a_redis_that_is_full_blocks_and_lets_go),
		TEST(checks_of_one_turn_are_asked_together),
		TEST(a_damaged_record_fails_the_check),
		cmocka_unit_test(a_link_leads_to_each_url_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
