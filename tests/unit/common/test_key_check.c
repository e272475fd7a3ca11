/* The key in a request, and the answers to refused ones. */
#include "tests/unit/http/world.h"

#include "common/keys/key_check.h"
#include "tests/unit/common/keys_world.h"

/* A listener that requires the role named by the path, and answers 200 with the
 * key's name. */
struct asked {
	struct world *w;
	struct api_keyring *ring;
	struct metrics *metrics;
	unsigned cost;
};

static enum api_role role_of(struct http_slice where)
{
	if (http_slice_is(where, "/all"))
		return API_READ_ALL;
	if (http_slice_is(where, "/read"))
		return API_READ;
	return http_slice_is(where, "/create") ? API_CREATE : API_ADMIN;
}

static void reply_key_name(struct http_request *req, void *arg)
{
	struct asked *a = arg;
	struct api_key_info who = {0};

	if (key_check(a->ring, req, role_of(http_path(req)), a->cost, &who))
		http_reply_text(req, 200, who.name);
}

static void start_listener(struct asked *a, const char *file)
{
	struct api_keyring_options options = {
		.path = path,
		.setting = "x.keys_file",
		.limited_metric = "limited_total",
		.limited_help = "x",
	};
	struct error err = {0};

	a->w = calloc(1, sizeof(*a->w));
	a->metrics = options.metrics = metrics_new();
	write_file(file);
	a->ring = api_keyring_new(&options, &err);
	if (!a->ring)
		fail_msg("%s", err.text);
	world_configure(a->w);
	world_open_for(a->w, reply_key_name, a);
	world_run(a->w);
}

static void stop_listener(struct asked *a)
{
	world_stop(a->w);
	world_free(a->w);
	api_keyring_free(a->ring);
	metrics_free(a->metrics);
}

/* Returns the answer to a request with these lines; the caller frees it. */
static char *request_answer(struct asked *a, const char *where,
			    const char *lines)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "GET %s HTTP/1.1\r\nHost: a\r\n%sConnection: close\r\n\r\n",
		 where, lines);
	return client_exchange(a->w, text);
}

static void assert_answered(struct asked *a, const char *where,
			    const char *lines, int status, const char *says)
{
	char *answer = request_answer(a, where, lines);

	if (status_of(answer) != status || !strstr(answer, says))
		fail_msg("%s, %s: %s", where, lines, answer);
	free(answer);
}

#define KEY "Authorization: Bearer open sesame\r\n"

static void a_request_has_the_roles_of_its_key(void **state)
{
	struct asked a = {0};

	(void)state;
	start_listener(&a, "crm read " SESAME "\nboss admin " OTHER "\n");
	assert_answered(&a, "/read", KEY, 200, "crm");
	assert_answered(&a, "/all", KEY, 403, "'read' with accounts=*");
	assert_answered(&a, "/create", KEY, 403, "the role 'create'");
	assert_answered(&a, "/admin", KEY, 403, "the role 'admin'");
	assert_answered(&a, "/admin", KEY, 403,
			"WWW-Authenticate: Bearer realm=\"shortloop\", "
			"error=\"insufficient_scope\"");
	stop_listener(&a);
}

static void a_role_that_lacks_is_named(void **state)
{
	struct asked a = {0};

	(void)state;
	start_listener(&a, "crm create " SESAME "\n");
	assert_answered(&a, "/create", KEY, 200, "crm");
	assert_answered(&a, "/read", KEY, 403, "the role 'read' or 'read-own'");
	assert_answered(&a, "/all", KEY, 403,
			"the role 'read' with accounts=*, or 'admin'");
	stop_listener(&a);
}

static void a_key_is_what_follows_bearer(void **state)
{
	static const char *const none[] = {
		"",
		"Authorization: \r\n",
		"Authorization: Bearer\r\n",
		"Authorization: Bearer \r\n",
		"Authorization: Basic open sesame\r\n",
		"Authorization: Digest open sesame\r\n",
		"Authorization: Bearers open sesame\r\n",
		"Authorization: open sesame\r\n",
		"X-Authorization: Bearer open sesame\r\n",
	};
	static const char *const others[] = {
		"Authorization: Bearer open sesam\r\n",
		"Authorization: Bearer open sesame2\r\n",
		"Authorization: Bearer Open sesame\r\n",
		"Authorization: Bearer x\r\n",
	};
	struct asked a = {0};

	(void)state;
	start_listener(&a, "crm read " SESAME "\n");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_answered(&a, "/read", none[i], 401, "send an API key");
		assert_answered(&a, "/read", none[i], 401,
				"WWW-Authenticate: Bearer realm=");
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_answered(&a, "/read", others[i], 401, "not known here");
	assert_answered(&a, "/read", "authorization: bearer   open sesame\r\n",
			200, "crm");
	stop_listener(&a);
}

static void who_asks_too_often_is_told_when_to_come_again(void **state)
{
	struct asked a = {.cost = 1};

	(void)state;
	start_listener(&a, "crm read " SESAME " rate=1/h burst=2\n");
	assert_answered(&a, "/read", KEY, 200, "crm");
	assert_answered(&a, "/read", KEY, 200, "crm");
	/* A refused request takes no token, and its answer has no rate headers.
	 */
	assert_answered(&a, "/create", KEY, 403, "the role 'create'");
	assert_answered(&a, "/read", KEY, 429, "'crm' sends too many requests");
	assert_answered(&a, "/read", KEY, 429,
			"RateLimit-Policy: \"key\";q=2;w=7200\r\n");
	assert_answered(&a, "/read", KEY, 429, "RateLimit: \"key\";r=0;t=7");
	assert_answered(&a, "/read", KEY, 429, "Retry-After: 3");
	assert_answered(&a, "/read", KEY, 429, "\"type\":\"/problems/rate\"");
	stop_listener(&a);
}

static void refusals_by_rate_are_counted_by_key(void **state)
{
	struct asked a = {.cost = 2};
	struct api_key_info who;

	(void)state;
	start_listener(&a, "crm read " SESAME " rate=2/h\n");
	assert_true(api_keyring_find(a.ring, "open sesame", 11, &who));
	assert_answered(&a, "/read", KEY, 200, "crm");
	assert_int_equal(metric_value(who.limited), 0);
	assert_answered(&a, "/read", KEY, 429, "");
	assert_answered(&a, "/read", KEY, 429, "");
	assert_int_equal(metric_value(who.limited), 2);
	stop_listener(&a);
}

/* A batch takes a token for each line. */
static void what_pays_otherwise_is_asked_for_no_token(void **state)
{
	struct asked a = {.cost = 0};

	(void)state;
	start_listener(&a, "crm read " SESAME " rate=1/h\n");
	for (int i = 0; i < 3; i++)
		assert_answered(&a, "/read", KEY, 200, "crm");
	stop_listener(&a);
}

/* The bucket may have a debt larger than a stricter line allows. */
static void what_pays_otherwise_waits_for_no_other_rate(void **state)
{
	struct asked a = {.cost = 0};
	struct api_key_info who;
	struct error err;
	int64_t wait_ms;

	(void)state;
	start_listener(&a, "crm read " SESAME " rate=9/h\n");
	assert_true(api_keyring_find(a.ring, "open sesame", 11, &who));
	assert_true(rate_limiter_take(who.limiter, 9, clock_monotonic_ns(),
				      &wait_ms));
	write_file("crm read " SESAME " rate=9/h burst=1\n");
	assert_int_equal(api_keyring_reload(a.ring, &err), 0);
	assert_answered(&a, "/read", KEY, 200, "crm");
	stop_listener(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(a_request_has_the_roles_of_its_key),
		WITH_FILE(a_role_that_lacks_is_named),
		WITH_FILE(a_key_is_what_follows_bearer),
		WITH_FILE(who_asks_too_often_is_told_when_to_come_again),
		WITH_FILE(refusals_by_rate_are_counted_by_key),
		WITH_FILE(what_pays_otherwise_is_asked_for_no_token),
		WITH_FILE(what_pays_otherwise_waits_for_no_other_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
