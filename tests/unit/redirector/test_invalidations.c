/* The subscription to changes, with a Redis of the test's own. */
#include "tests/unit/unit.h"

#include <string.h>
#include <time.h>

#include "redirector/lookup/invalidations.h"
#include "tests/unit/redis_server.h"

#define OTHER "0123456789012345678901234567890123456789"

struct world {
	struct redis_server server;
	struct freshness *freshness;
	struct health *health;
	struct metrics *metrics;
	struct log *log;
	struct invalidations *invalidations;
	char run_id[64];
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err = {0};

	redis_server_start(&w->server);
	freeReplyObject(redis_server_ask(&w->server, "PING"));
	snprintf(w->run_id, sizeof(w->run_id), "%s",
		 redis_run_id(w->server.redis));
	assert_int_equal(strlen(w->run_id), strlen(OTHER));
	w->freshness = freshness_new(&err);
	w->health = health_new();
	w->metrics = metrics_new();
	w->log = log_new("test", STDERR_FILENO, LOG_ERROR, LOG_LOGFMT, &err);
	w->invalidations =
		invalidations_new(&w->server.config, w->freshness,
				  health_register(w->health, "link changes"),
				  w->metrics, w->log, &err);
	assert_int_equal(invalidations_start(w->invalidations, &err), 0);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	invalidations_free(w->invalidations);
	log_free(w->log);
	metrics_free(w->metrics);
	health_free(w->health);
	freshness_free(w->freshness);
	redis_server_stop(&w->server);
	free(w);
	return 0;
}

/* Returns a metric by its name, which ends with a space. */
static long read_metric(struct world *w, const char *name)
{
	struct buf text = {0};
	const char *at;
	long value = -1;

	metrics_render(w->metrics, &text);
	at = strstr(buf_cstr(&text), name);
	while (at && at[-1] != '\n')
		at = strstr(at + 1, name);
	if (at)
		value = strtol(at + strlen(name), NULL, 10);
	buf_free(&text);
	return value;
}

static bool health_has_remark(struct world *w, const char *text)
{
	struct buf out = {0};
	bool found;

	health_report(w->health, &out);
	found = buf_cstr(&out) && strstr(out.data, text);
	buf_free(&out);
	return found;
}

#define SUBSCRIBED    "shortloop_redirector_subscribed "
#define SUBSCRIPTIONS "shortloop_redirector_subscriptions_total "

#define HEARTBEATS "shortloop_redirector_heartbeat_seconds_count "

static void await_metric(struct world *w, const char *name, long value)
{
	while (read_metric(w, name) < value)
		usleep(10000);
}

static void it_begins_before_it_is_known_where_links_are(void **state)
{
	await_metric(*state, SUBSCRIBED, 1);
}

static void the_redis_that_links_are_looked_up_in_is_no_news(void **state)
{
	struct world *w = *state;
	long heartbeats;

	await_metric(w, SUBSCRIBED, 1);
	for (int thread = 0; thread < 3; thread++)
		invalidations_follow(w->invalidations, w->run_id);
	/* A new subscription would have begun before the next of these
	 * heartbeats. */
	heartbeats = read_metric(w, HEARTBEATS);
	while (read_metric(w, HEARTBEATS) < heartbeats + 3)
		usleep(10000);
	assert_int_equal(read_metric(w, SUBSCRIPTIONS), 1);
}

static void at_another_redis_there_is_no_subscription(void **state)
{
	struct world *w = *state;

	await_metric(w, SUBSCRIBED, 1);
	invalidations_follow(w->invalidations, OTHER);
	while (!health_has_remark(w, "not the one that links are looked up in"))
		usleep(10000);
	assert_int_equal(read_metric(w, SUBSCRIBED), 0);
	assert_int_equal(read_metric(w, SUBSCRIPTIONS), 1);
	invalidations_follow(w->invalidations, w->run_id);
	await_metric(w, SUBSCRIPTIONS, 2);
	assert_int_equal(read_metric(w, SUBSCRIBED), 1);
}

static void where_nobody_says_which_redis_it_is_it_begins_anew(void **state)
{
	struct world *w = *state;

	await_metric(w, SUBSCRIBED, 1);
	invalidations_follow(w->invalidations, "");
	await_metric(w, SUBSCRIPTIONS, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_begins_before_it_is_known_where_links_are),
		TEST(the_redis_that_links_are_looked_up_in_is_no_news),
		TEST(at_another_redis_there_is_no_subscription),
		TEST(where_nobody_says_which_redis_it_is_it_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
