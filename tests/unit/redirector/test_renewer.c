/* A link's renewal in Redis, and whether the archive gets it. */
#include "tests/unit/mock_kafka.h"

#include "redirector/renewals/renewals_report.h"
#include "redirector/visit/renew_throttle.h"
#include "redirector/visit/renewer.h"
#include "tests/unit/linkstore/async_fixture.h"

enum {
	PATIENCE_MS = 20000
};

struct world {
	struct async_fixture *a;
	rd_kafka_mock_cluster_t *kafka;
	struct mock_kafka_config config;
	char topic[16];
	struct metrics *registry;
	struct log *log;
	struct redirector redirector;
	struct redirector_counters counters;
	struct renewals_report *report;
	struct renewer renewer;
	struct link_target target;
	Shortloop__Link link;
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err = {0};
	void *inner = NULL;

	setup_async(&inner);
	w->a = inner;
	snprintf(w->topic, sizeof(w->topic), MOCK_KAFKA_TOPIC);
	w->kafka = mock_kafka_start(w->topic);
	mock_kafka_configure(w->kafka, &w->config);
	w->config.config.topic_renewals = w->topic;
	w->config.config.queue_messages = 10;
	w->registry = metrics_new();
	w->log = log_new("test", STDERR_FILENO, LOG_ERROR, LOG_LOGFMT, &err);
	w->report = renewals_report_new(&w->config.config, w->registry, w->log,
					&err);
	w->redirector.store = w->a->f->store;
	w->redirector.renewals = renew_throttle_new(&err);
	w->renewer = (struct renewer){
		.redirector = &w->redirector,
		.loop = w->a->loop,
		.redis = w->a->redis,
		.counters = &w->counters,
		.writer = renewals_writer_new(w->report, w->a->loop, &err),
	};
	if (*err.text)
		fail_msg("%s", err.text);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;
	void *inner = w->a;

	renewals_writer_free(w->renewer.writer);
	renewals_report_free(w->report);
	renew_throttle_free(w->redirector.renewals);
	log_free(w->log);
	metrics_free(w->registry);
	mock_kafka_stop(w->kafka);
	free(w);
	return teardown_async(&inner);
}

/* Stores a link with a day to live. */
static void store_one_link(struct world *w)
{
	struct async_fixture *a = w->a;
	struct link_block block = open_block(a->f, a->f->day);

	w->target = store_link(a->f, &block, 3);
	w->link = empty_link();
	must(a, link_prepare(&block, 3, &w->link, &a->err));
}

static void on_after(void *arg, const struct link_answer *answer,
		     const struct error *err)
{
	(void)answer;
	assert_null(err);
	count_down_waiting(arg);
}

/* Renews the link, and waits until Redis has answered. */
static void renew_link(struct world *w)
{
	struct async_fixture *a = w->a;

	renewer_renew(&w->renewer, &w->target, &w->link);
	a->waiting = 1;
	must(a, link_lookup_async(a->redis, &w->target, on_after, a, &a->err));
	run_loop(a);
	assert_int_equal(atomic_load(&w->counters.n[COUNTER_RENEWALS]), 1);
}

/* Returns the number of renewals that Kafka has in the end. */
static uint64_t count_reported(struct world *w)
{
	renewals_writer_free(w->renewer.writer);
	w->renewer.writer = NULL;
	renewals_report_end(w->report, PATIENCE_MS);
	return metric_value(metrics_counter(
		w->registry, "shortloop_redirector_renewals_reported_total",
		NULL, "Renewals of links that Kafka has"));
}

static void a_link_whose_end_was_raised_is_reported(void **state)
{
	struct world *w = *state;
	char words[128];

	store_one_link(w);
	snprintf(words, sizeof(words), "PEXPIRE l:{s5:0}:%s 5000",
		 w->target.code);
	redis_server_number(&w->a->f->server, words);
	renew_link(w);
	assert_int_equal(count_reported(w), 1);
}

/* Another redirector was faster: Redis has nothing to raise. */
static void a_link_whose_end_was_not_raised_is_not_reported(void **state)
{
	struct world *w = *state;

	store_one_link(w);
	renew_link(w);
	assert_int_equal(count_reported(w), 0);
}

static void a_redirector_may_report_no_renewals(void **state)
{
	struct world *w = *state;

	store_one_link(w);
	renewals_writer_free(w->renewer.writer);
	w->renewer.writer = NULL;
	renew_link(w);
	assert_int_equal(count_reported(w), 0);
}

#define TEST_OF_WORLD(name)                                                    \
	cmocka_unit_test_setup_teardown(name, make_world, drop_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_OF_WORLD(a_link_whose_end_was_raised_is_reported),
		TEST_OF_WORLD(a_link_whose_end_was_not_raised_is_not_reported),
		TEST_OF_WORLD(a_redirector_may_report_no_renewals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
