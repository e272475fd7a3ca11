/* Redis refuses the command of one step of a creation, because of an ACL or a
 * damaged value: the creation ends at once with an error and stores nothing. */
#include "tests/unit/allocator/creation_world.h"

static void tell_redis(struct creation_world *w, const char *words)
{
	redisReply *reply = redis_server_ask(&w->f->server, words);

	if (reply->type == REDIS_REPLY_ERROR)
		fail_msg("%s: %s", words, reply->str);
	freeReplyObject(reply);
}

/* All users are denied keys that begin with that letter. */
static void deny_keys(struct creation_world *w, char letter)
{
	char words[64];

	snprintf(words, sizeof(words), "ACL SETUSER default resetkeys ~[^%c]*",
		 letter);
	tell_redis(w, words);
}

static void allow_keys(struct creation_world *w)
{
	tell_redis(w, "ACL SETUSER default allkeys");
}

static struct made create_denied(struct creation_world *w, char letter,
				 const struct asked *asked)
{
	struct made m;

	deny_keys(w, letter);
	m = create_link_and_wait(w, asked);
	settle_world(w);
	allow_keys(w);
	return m;
}

/* A refused command is not retried, since Redis would refuse it again. */
static void assert_refused(struct creation_world *w, char letter,
			   const struct asked *asked)
{
	uint64_t created = metric_value(w->counts.created),
		 retries = metric_value(w->counts.retries),
		 unavailable = metric_value(w->counts.unavailable);
	size_t links = links_stored(w);
	struct made m = create_denied(w, letter, asked);

	assert_int_equal(m.status, 503);
	assert_non_null(strstr(m.detail, "Redis refused this"));
	assert_int_equal(links_stored(w), links);
	assert_int_equal(metric_value(w->counts.created), created);
	assert_int_equal(metric_value(w->counts.retries), retries);
	assert_int_equal(metric_value(w->counts.unavailable), unavailable + 1);
}

/* The key of the refused link is free for the next request; this is tested with
 * each strategy. */
static void a_link_that_redis_refuses_is_not_made(void **state)
{
	struct creation_world *w = *state;
	const struct asked ways[] = {
		{.space = w->f->space, .key = "1"},
		{.space = w->f->hash, .key = "2"},
		{.space = w->f->snowflake, .key = "3"},
		{.space = w->f->alias, .alias = "by-name", .key = "4"},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct asked plain = ways[i];

		plain.key = NULL;
		assert_refused(w, 'l', &plain);
		assert_refused(w, 'l', &ways[i]);
		assert_int_equal(create_link_and_wait(w, &ways[i]).status, 201);
		assert_int_equal(links_stored(w), i + 1);
	}
}

static void a_key_whose_record_redis_refuses_makes_no_link(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k"};

	assert_refused(w, 'i', &asked);
	assert_int_equal(create_link_and_wait(w, &asked).status, 201);
	/* No second link is made if the record cannot be read. */
	assert_refused(w, 'i', &asked);
	assert_true(create_link_and_wait(w, &asked).replayed);
	assert_int_equal(links_stored(w), 1);
}

/* One of its URLs may be blocked. */
static void what_redis_does_not_say_of_blocked_urls_is_not_made(void **state)
{
	struct creation_world *w = *state;

	assert_refused(w, 'b', &(struct asked){0});
	assert_refused(w, 'b', &(struct asked){.key = "k"});
	assert_int_equal(keys_like(w, "i:*"), 0);
	assert_int_equal(
		create_link_and_wait(w, &(struct asked){.key = "k"}).status,
		201);
}

static void what_redis_does_not_charge_is_not_made(void **state)
{
	struct creation_world *w = *state;

	w->rules.quota.links = (struct quota_rule){5, QUOTA_DAY};
	assert_refused(w, 'q', &(struct asked){0});
	assert_refused(w, 'q', &(struct asked){.key = "k"});
	assert_int_equal(keys_like(w, "quota:*"), 0);
	/* The charge is given back. */
	assert_refused(w, 'l', &(struct asked){0});
	assert_int_equal(read_charged_quota(w, "links"), 0);
}

/* Without a block there is no code.  Requests in the next moment are refused
 * without another query. */
static void a_block_that_redis_refuses_makes_no_link(void **state)
{
	struct creation_world *w = *state;
	int left = 10000;

	assert_refused(w, 'm', &(struct asked){0});
	assert_int_equal(create_link_and_wait(w, &(struct asked){0}).status,
			 503);
	while (create_link_and_wait(w, &(struct asked){0}).status != 201) {
		assert_true(--left > 0);
		world_turn(w);
	}
	assert_int_equal(links_stored(w), 1);
}

/* The URL's existing link is looked up before anything is charged. */
static void a_hashed_link_that_redis_does_not_show_is_not_made(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.space = w->f->hash};

	w->rules.quota.links = (struct quota_rule){5, QUOTA_DAY};
	assert_refused(w, 'l', &asked);
	assert_int_equal(create_link_and_wait(w, &asked).status, 201);
	assert_int_equal(create_denied(w, 'l', &asked).status, 503);
	assert_int_equal(create_link_and_wait(w, &asked).status, 200);
	assert_int_equal(links_stored(w), 1);
}

/* The response names only the log as the place of the reason. */
static void the_log_says_why(void **state)
{
	struct creation_world *w = *state;
	FILE *file = tmpfile();
	char line[1024] = "";
	struct error err = {0};

	assert_non_null(file);
	w->context.log =
		log_new("test", fileno(file), LOG_WARN, LOG_LOGFMT, &err);
	assert_non_null(w->context.log);
	assert_refused(w, 'l', &(struct asked){0});
	log_free(w->context.log);
	w->context.log = NULL;
	rewind(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_non_null(strstr(line, "a request failed"));
	assert_non_null(strstr(line, "permission"));
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(a_link_that_redis_refuses_is_not_made),
		IN_WORLD(a_key_whose_record_redis_refuses_makes_no_link),
		IN_WORLD(what_redis_does_not_say_of_blocked_urls_is_not_made),
		IN_WORLD(what_redis_does_not_charge_is_not_made),
		IN_WORLD(a_block_that_redis_refuses_makes_no_link),
		IN_WORLD(a_hashed_link_that_redis_does_not_show_is_not_made),
		IN_WORLD(the_log_says_why),
	};

	return cmocka_run_group_tests(tests, creation_world_begin,
				      creation_world_end);
}
