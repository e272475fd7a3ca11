/* The cache runs a repeated query once. The engine is a real one whose answer
 * differs with each query. */
#include "tests/unit/clickhouse_server.h"

#include <pthread.h>
#include <stdatomic.h>

#include "aggregator/api/answer_cache.h"
#include "common/clock.h"
#include "common/metrics/metrics.h"

#define BYTES 100000
#define UUID  "SELECT generateUUIDv4(), "

struct scene {
	struct clickhouse_server server;
	struct metrics *metrics;
	struct answer_cache *cache;
};

/* One query; its answer is a text and a number. */
struct asked {
	struct scene *s;
	struct clickhouse *ch;
	const char *sql;
	struct clickhouse_param params[4];
	int64_t patience; /* ms; 0: a minute */
	int status;
	struct error err;
	char text[40];
	size_t rows;
};

static int open_server(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	clickhouse_server_start(&s->server);
	*state = s;
	return 0;
}

static int close_server(void **state)
{
	struct scene *s = *state;

	clickhouse_server_stop(&s->server);
	free(s);
	return 0;
}

static void open_cache(struct scene *s, int64_t bytes)
{
	struct error err = {0};

	answer_cache_free(s->cache);
	metrics_free(s->metrics);
	s->metrics = metrics_new();
	s->cache = answer_cache_new(bytes, s->metrics, &err);
	assert_non_null(s->cache);
}

static int set_up_scene(void **state)
{
	struct scene *s = *state;

	s->cache = NULL;
	s->metrics = NULL;
	open_cache(s, BYTES);
	return 0;
}

static int tear_down_scene(void **state)
{
	struct scene *s = *state;

	answer_cache_free(s->cache);
	metrics_free(s->metrics);
	return 0;
}

static int take_row(void *arg, char **f, struct error *err)
{
	struct asked *a = arg;

	(void)err;
	snprintf(a->text, sizeof(a->text), "%s", f[0]);
	a->rows++;
	return 0;
}

static void request_answer(struct asked *a)
{
	const struct answer_of what = {
		.sql = a->sql,
		.params = a->params,
		.columns = "sn",
		.deadline = clock_monotonic_ms() +
			    (a->patience ? a->patience : CLOCK_MINUTE),
	};

	a->rows = 0;
	a->status =
		answer_cache_rows(a->s->cache, a->ch ? a->ch : a->s->server.ch,
				  &what, take_row, a, &a->err);
}

static void answer_to(struct scene *s, const char *sql, const char *name,
		      const char *value, char text[40])
{
	struct asked a = {.s = s, .sql = sql, .params = {{name, value}}};

	request_answer(&a);
	if (a.status)
		fail_msg("%s: %s", sql, a.err.text);
	assert_int_equal(a.rows, 1);
	strcpy(text, a.text);
}

/* Returns whether the second query gets the answer of the first. */
static bool is_the_same(struct scene *s, const char *sql, const char *name,
			const char *value, const char *other)
{
	char first[40], second[40];

	answer_to(s, sql, name, value, first);
	answer_to(s, sql, name, other, second);
	return !strcmp(first, second);
}

static uint64_t read_answer_count(struct scene *s, const char *what)
{
	char name[80];

	snprintf(name, sizeof(name), "shortloop_aggregator_answers_%s_total",
		 what);
	return metric_value(metrics_counter(s->metrics, name, NULL, ""));
}

static void what_is_asked_twice_is_asked_once(void **state)
{
	struct scene *s = *state;

	assert_true(is_the_same(s, UUID "1", NULL, NULL, NULL));
	assert_int_equal(read_answer_count(s, "asked"), 1);
	assert_int_equal(read_answer_count(s, "remembered"), 1);
}

static void an_answer_is_of_its_statement(void **state)
{
	struct scene *s = *state;
	char first[40], second[40];

	answer_to(s, UUID "1", NULL, NULL, first);
	answer_to(s, UUID "2", NULL, NULL, second);
	assert_string_not_equal(first, second);
}

static void an_answer_is_of_the_parameters_that_are_named(void **state)
{
	struct scene *s = *state;
	static const char named[] = UUID "{owner:UInt64}";

	assert_false(is_the_same(s, named, "param_owner", "1", "2"));
	assert_true(is_the_same(s, named, "param_owner", "1", "1"));
	assert_true(is_the_same(s, UUID "7", "param_owner", "1", "2"));
	/* A parameter whose name begins with the name of another is another
	 * parameter. */
	assert_true(is_the_same(s, UUID "1 AS n_owner", "param_own", "1", "2"));
}

/* A limit such as max_rows_to_read belongs to the query, too: with a higher
 * limit there would be an answer. */
static void an_answer_is_of_its_settings(void **state)
{
	struct scene *s = *state;

	assert_false(is_the_same(s, UUID "1", "max_threads", "1", "2"));
}

/* No name and value are mistaken for another name and value. */
static void texts_end_where_they_end(void **state)
{
	struct scene *s = *state;
	static const char sql[] = UUID "length(concat({a:String}, {b:String}))";
	struct asked one = {
		.s = s,
		.sql = sql,
		.params = {{"param_a", "x"}, {"param_b", "yparam_bz"}}};
	struct asked other = {
		.s = s,
		.sql = sql,
		.params = {{"param_a", "xparam_by"}, {"param_b", "z"}}};

	request_answer(&one);
	request_answer(&other);
	assert_int_equal(one.status, 0);
	assert_int_equal(other.status, 0);
	assert_string_not_equal(one.text, other.text);
}

static void a_failure_is_not_remembered(void **state)
{
	struct scene *s = *state;
	struct asked a = {.s = s, .sql = UUID "throwIf(1)"};

	for (int i = 0; i < 2; i++) {
		request_answer(&a);
		assert_int_equal(a.status, -1);
	}
	assert_int_equal(read_answer_count(s, "asked"), 2);
	assert_int_equal(read_answer_count(s, "remembered"), 0);
}

static void without_bytes_nothing_is_remembered(void **state)
{
	struct scene *s = *state;

	open_cache(s, 0);
	assert_false(is_the_same(s, UUID "1", NULL, NULL, NULL));
	assert_int_equal(read_answer_count(s, "asked"), 2);
}

/* A row of the answer to this query has 36 + 1 + 1 + 1 = 39 bytes. */
static void an_answer_of_an_eighth_at_most_is_remembered(void **state)
{
	struct scene *s = *state;

	open_cache(s, 39 * 8);
	assert_true(is_the_same(s, UUID "1", NULL, NULL, NULL));
	open_cache(s, 39 * 8 - 1);
	assert_false(is_the_same(s, UUID "1", NULL, NULL, NULL));
}

/* Sends the n-th of many queries; returns whether the answer came from the
 * cache. */
static bool is_remembered(struct scene *s, int n)
{
	char sql[64], text[40];
	uint64_t before = read_answer_count(s, "asked");

	snprintf(sql, sizeof(sql), UUID "%d", n);
	answer_to(s, sql, NULL, NULL, text);
	return read_answer_count(s, "asked") == before;
}

/* The cache has times in ms, so two answers need different ones. */
static void await_next_ms(void)
{
	int64_t now = clock_monotonic_ms();

	while (clock_monotonic_ms() == now)
		usleep(100);
}

static void what_is_kept_least_goes_first(void **state)
{
	struct scene *s = *state;

	/* The cache has room for eight answers of 39 bytes. */
	open_cache(s, 39 * 8);
	for (int n = 0; n < 8; n++) {
		assert_false(is_remembered(s, n));
		await_next_ms();
	}
	for (int n = 0; n < 8; n++)
		assert_true(is_remembered(s, n));
	assert_false(is_remembered(s, 8));
	for (int n = 1; n < 9; n++)
		assert_true(is_remembered(s, n));
	assert_false(is_remembered(s, 0));
}

static void *ask_beside(void *arg)
{
	request_answer(arg);
	return NULL;
}

/* Returns the thread that sends the query, once it has begun. */
static pthread_t begin_beside(struct asked *asked)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, ask_beside, asked), 0);
	while (!read_answer_count(asked->s, "asked"))
		usleep(1000);
	return thread;
}

static struct clickhouse *connect_beside(struct scene *s)
{
	struct error err = {0};
	struct clickhouse *ch = clickhouse_new(&s->server.config, &err);

	assert_non_null(ch);
	return ch;
}

static void who_asks_the_same_meanwhile_waits_for_that_answer(void **state)
{
	struct scene *s = *state;
	struct asked first = {.s = s,
			      .ch = connect_beside(s),
			      .sql = UUID "sleepEachRow(0.5)"},
		     second = {.s = s, .sql = first.sql};
	pthread_t thread = begin_beside(&first);

	request_answer(&second);
	pthread_join(thread, NULL);
	assert_int_equal(second.status, 0);
	assert_string_equal(first.text, second.text);
	assert_int_equal(read_answer_count(s, "asked"), 1);
	clickhouse_free(first.ch);
}

static void no_longer_than_its_deadline(void **state)
{
	struct scene *s = *state;
	struct asked first = {.s = s,
			      .ch = connect_beside(s),
			      .sql = UUID "sleepEachRow(1) FROM numbers(60)",
			      .params = {{"max_block_size", "1"}}},
		     second = first;
	pthread_t thread;

	second.ch = NULL;
	second.patience = 1;
	thread = begin_beside(&first);
	request_answer(&second);
	assert_int_equal(second.status, -1);
	assert_true(second.err.retriable);
	assert_non_null(strstr(second.err.text, "does not answer in time"));
	/* A kill can come before the query has begun, so it is retried. */
	do {
		clickhouse_server_do(
			&s->server,
			"KILL QUERY WHERE query LIKE '%%numbers(60)%%' "
			"AND query NOT LIKE 'KILL%%'");
		usleep(10000);
	} while (pthread_tryjoin_np(thread, NULL) != 0);
	clickhouse_free(first.ch);
}

static void who_waited_for_one_that_failed_asks_itself(void **state)
{
	struct scene *s = *state;
	struct asked first = {.s = s,
			      .ch = connect_beside(s),
			      .sql = UUID "throwIf(sleepEachRow(0.5) = 0)"},
		     second = {.s = s, .sql = first.sql};
	pthread_t thread = begin_beside(&first);

	request_answer(&second);
	pthread_join(thread, NULL);
	assert_int_equal(first.status, -1);
	assert_int_equal(second.status, -1);
	assert_int_equal(read_answer_count(s, "asked"), 2);
	assert_int_equal(read_answer_count(s, "remembered"), 0);
	clickhouse_free(first.ch);
}

#define SCENE(f)                                                               \
	cmocka_unit_test_setup_teardown(f, set_up_scene, tear_down_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(what_is_asked_twice_is_asked_once),
		SCENE(an_answer_is_of_its_statement),
		SCENE(an_answer_is_of_the_parameters_that_are_named),
		SCENE(an_answer_is_of_its_settings),
		SCENE(texts_end_where_they_end),
		SCENE(a_failure_is_not_remembered),
		SCENE(without_bytes_nothing_is_remembered),
		SCENE(an_answer_of_an_eighth_at_most_is_remembered),
		SCENE(what_is_kept_least_goes_first),
		SCENE(who_asks_the_same_meanwhile_waits_for_that_answer),
		SCENE(no_longer_than_its_deadline),
		SCENE(who_waited_for_one_that_failed_asks_itself),
	};

	return cmocka_run_group_tests(tests, open_server, close_server);
}
