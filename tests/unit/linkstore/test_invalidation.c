/* The messages about changed links, and their reading. */
#include "tests/unit/linkstore/edits.h"

#include "linkstore/link/invalidation.h"

struct heard {
	char codes[512];
	size_t count;
};

static void on_code(void *arg, const char *code, size_t len)
{
	struct heard *h = arg;
	size_t at = strlen(h->codes);

	h->count++;
	snprintf(h->codes + at, sizeof(h->codes) - at, "[%.*s]", (int)len,
		 code);
}

static enum invalidation read_message(const char *text, struct heard *ret_heard)
{
	*ret_heard = (struct heard){{0}, 0};
	return invalidation_read(text, strlen(text), on_code, ret_heard);
}

static void a_message_is_codes(void **state)
{
	struct heard h;

	(void)state;
	assert_int_equal(read_message("a", &h), INVALIDATION_CODES);
	assert_string_equal(h.codes, "[a]");
	assert_int_equal(read_message("aB3xY7k sale-26 _", &h),
			 INVALIDATION_CODES);
	assert_string_equal(h.codes, "[aB3xY7k][sale-26][_]");
}

static void a_star_is_all(void **state)
{
	struct heard h;

	(void)state;
	assert_int_equal(read_message("*", &h), INVALIDATION_ALL);
	assert_int_equal(h.count, 0);
}

static void other_messages_are_refused_as_a_whole(void **state)
{
	static const char *const messages[] = {
		"",    " ",   "a ",  " a",	 "a  b",  "a\n",   "a b\t",
		"* *", "a *", "a/b", "\xc3\xa4", "l:{a}", "{a}:b",
	};
	struct heard h;

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		assert_int_equal(read_message(messages[i], &h),
				 INVALIDATION_MALFORMED);
		assert_int_equal(h.count, 0);
	}
	assert_int_equal(invalidation_read("a\0b", 3, on_code, &h),
			 INVALIDATION_MALFORMED);
}

static void codes_have_64_characters_at_the_most(void **state)
{
	char text[66];
	struct heard h;

	(void)state;
	memset(text, 'x', sizeof(text));
	text[64] = '\0';
	assert_int_equal(read_message(text, &h), INVALIDATION_CODES);
	text[64] = 'x';
	text[65] = '\0';
	assert_int_equal(read_message(text, &h), INVALIDATION_MALFORMED);
}

static void messages_are_bounded(void **state)
{
	static char text[INVALIDATION_MAX + 1];
	struct heard h = {{0}, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 2 ? ' ' : 'x';
	assert_int_equal(
		invalidation_read(text, INVALIDATION_MAX - 1, on_code, &h),
		INVALIDATION_CODES);
	assert_int_equal(h.count, INVALIDATION_MAX / 2);
	assert_int_equal(
		invalidation_read(text, INVALIDATION_MAX + 1, on_code, &h),
		INVALIDATION_MALFORMED);
}

/* --- messages ------------------------------------------------------------- */

static struct redis *subscribe_invalidations(struct fixture *f)
{
	const char *argv[] = {"SUBSCRIBE", INVALIDATION_CHANNEL};
	struct redis *r = redis_new(&f->server.config, NULL, &f->err);
	redisReply *reply;

	assert_non_null(r);
	must(f, redis_command(r, 2, argv, NULL, &reply, &f->err));
	freeReplyObject(reply);
	return r;
}

/* Returns the codes of all messages before the reply to a PING that is sent
 * now. */
static const char *heard_by(struct fixture *f, struct redis *r,
			    struct heard *ret_heard)
{
	const char *argv[] = {"PING"};
	redisReply *reply;
	bool pong = false;
	int status;

	*ret_heard = (struct heard){{0}, 0};
	must(f, redis_send(r, 1, argv, &f->err));
	while (!pong) {
		status = redis_listen(r, 1000, INVALIDATION_MAX, &reply,
				      &f->err);
		if (status < 0)
			fail_msg("%s", f->err.text);
		if (status == 0)
			continue;
		pong = !strcmp(reply->element[0]->str, "pong");
		if (!pong)
			assert_int_equal(
				invalidation_read(reply->element[2]->str,
						  reply->element[2]->len,
						  on_code, ret_heard),
				INVALIDATION_CODES);
		freeReplyObject(reply);
	}
	return ret_heard->codes;
}

static void each_change_of_a_link_is_told(void **state)
{
	struct fixture *f = *state;
	struct redis *r = subscribe_invalidations(f);
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	char expected[3 * ALIAS_TEXT_MAX + 16];
	struct heard h;

	assert_string_equal(heard_by(f, r, &h), ""); /* it is new */
	edit_link(f, &t, "https://example.org/2", NULL);
	edit_link(f, &t, "https://example.org/3", f->never);
	delete_link(f, &t);
	snprintf(expected, sizeof(expected), "[%s][%s][%s]", t.code, t.code,
		 t.code);
	assert_string_equal(heard_by(f, r, &h), expected);
	redis_free(r);
}

static void changes_of_links_without_a_block_are_told(void **state)
{
	struct fixture *f = *state;
	struct redis *r = subscribe_invalidations(f);
	struct link_target t = store_alias(f, 7);
	struct heard h;

	assert_string_equal(heard_by(f, r, &h), "");
	edit_link(f, &t, "https://example.org/2", f->day);
	delete_link(f, &t);
	assert_string_equal(heard_by(f, r, &h), "[sale-26][sale-26]");
	redis_free(r);
}

static void an_edit_that_is_refused_is_not_told(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	struct link_answer read = read_link(f, &t);
	struct redis *r;
	int64_t expires;
	struct heard h;

	edit_link(f, &t, "https://example.org/2", NULL);
	r = subscribe_invalidations(f);
	must_fail(
		f,
		try_edit(f, &t, &read, "https://example.org/3", NULL, &expires),
		ERROR_CONFLICT);
	assert_string_equal(heard_by(f, r, &h), "");
	await_release(&read.link);
	redis_free(r);
}

/* On a node of a Redis Cluster a script may publish on a channel of another
 * slot. */
static void a_cluster_tells_too(void **state)
{
	struct fixture *f = *state;
	struct redis *r = subscribe_invalidations(f);
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	char expected[ALIAS_TEXT_MAX + 2];
	struct heard h;

	edit_link(f, &t, "https://example.org/2", NULL);
	snprintf(expected, sizeof(expected), "[%s]", t.code);
	assert_string_equal(heard_by(f, r, &h), expected);
	redis_free(r);
}

/* A full Redis still blocks links and publishes it. */
static void a_full_redis_tells_too(void **state)
{
	struct fixture *f = *state;
	struct redis *r = subscribe_invalidations(f);
	struct link_target t = store_alias(f, 7);
	struct heard h;

	freeReplyObject(redis_server_ask(&f->server, "CONFIG SET maxmemory 1"));
	delete_link(f, &t);
	freeReplyObject(redis_server_ask(&f->server, "CONFIG SET maxmemory 0"));
	assert_string_equal(heard_by(f, r, &h), "[sale-26]");
	redis_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_codes),
		cmocka_unit_test(a_star_is_all),
		cmocka_unit_test(other_messages_are_refused_as_a_whole),
		cmocka_unit_test(codes_have_64_characters_at_the_most),
		cmocka_unit_test(messages_are_bounded),
		TEST(each_change_of_a_link_is_told),
		TEST_ALL(changes_of_links_without_a_block_are_told),
		TEST_ALL(an_edit_that_is_refused_is_not_told),
		TEST_CLUSTER(a_cluster_tells_too),
		TEST_ALL(a_full_redis_tells_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
