#include "tests/unit/unit.h"

#include "collector/ingest/batch_insert.h"
#include "collector/ingest/partitions.h"
#include "common/clock.h"

/* No server listens there: nothing is put, so nothing is waited for. */
static char nowhere[] = "127.0.0.1:1";
static char topic[] = "dlq";

static struct dead_letters *some_letters(void)
{
	char *brokers[] = {nowhere};
	struct kafka_config config = {
		.brokers = {.items = brokers, .count = 1},
		.topic_dlq = topic,
	};
	struct error err = {0};
	struct dead_letters *d =
		dead_letters_new(&config, 1 << 20, NULL, NULL, NULL, &err);

	assert_non_null(d);
	return d;
}

struct world {
	struct batch_insert_setup setup;
	struct metrics *metrics;
	struct partitions all;
	struct partition *partition;
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err = {0};

	w->setup.dead_letters = some_letters();
	w->metrics = metrics_new();
	w->partition = partitions_add(&w->all, "clicks", 0, w->metrics, &err);
	assert_non_null(w->partition);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	partitions_release(&w->all);
	metrics_free(w->metrics);
	dead_letters_free(w->setup.dead_letters);
	free(w);
	return 0;
}

/* Makes an insert of one dead letter, which was put when this many letters had
 * been given up. */
static struct batch_insert *some_insert(const struct world *w,
					unsigned given_up)
{
	struct partition *p = w->partition;
	struct batch batch = {.letters_given_up = given_up}, spare = {0};
	struct batch_insert *d;

	batch_note_dead(&batch, 7, 0);
	d = batch_insert_new(&w->setup, &batch, &spare);
	assert_non_null(d);
	d->letters_given_up = &p->letters_given_up;
	d->origin.topic = p->topic;
	d->origin.collector = "a";
	batch_insert_know(d, false, clock_boottime_ms(), INT64_MAX);
	return d;
}

static enum batch_insert_result result_of(struct batch_insert *d)
{
	char url[] = "http://127.0.0.1:1", database[] = "default";
	const struct clickhouse_config config = {
		.url = url,
		.database = database,
		.connect_timeout = 1000,
		.query_timeout = 1000,
		.response_max = 1024,
	};
	struct error err = {0};
	struct sink *sink = sink_new(&config, &err);

	assert_non_null(sink);
	d->job.run(&d->job, sink);
	sink_free(sink);
	return d->result;
}

static void one_whose_letter_was_given_up_is_not_stored(void **state)
{
	struct world *w = *state;
	struct batch_insert *d = some_insert(w, 0);

	atomic_fetch_add(&w->partition->letters_given_up, 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(result_of(d), BATCH_INSERT_DEAD_LETTERS_LOST);
	batch_insert_free(d);
}

/* The partition was revoked while a worker has its batch. */
static void nor_if_all_that_is_held_was_dropped_meanwhile(void **state)
{
	struct world *w = *state;
	struct batch_insert *d = some_insert(w, 0);

	w->partition->insert.job = d;
	w->partition->insert.step = INSERT_RUNNING;
	atomic_fetch_add(&w->partition->letters_given_up, 1);
	partition_clear(w->partition);
	assert_null(w->partition->insert.job);
	assert_int_equal(result_of(d), BATCH_INSERT_DEAD_LETTERS_LOST);
	batch_insert_free(d);
}

/* The batch's own letters were stored: the insert fails only at ClickHouse,
 * which is down. */
static void one_that_was_read_again_has_lost_no_letter_yet(void **state)
{
	struct world *w = *state;
	struct batch_insert *d = some_insert(w, 3);

	atomic_fetch_add(&w->partition->letters_given_up, 3);
	assert_int_equal(result_of(d), BATCH_INSERT_CLICKHOUSE_FAILED);
	batch_insert_free(d);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		TEST(one_whose_letter_was_given_up_is_not_stored),
		TEST(nor_if_all_that_is_held_was_dropped_meanwhile),
		TEST(one_that_was_read_again_has_lost_no_letter_yet),
	};

	return cmocka_run_group_tests_name("batch_insert", tests, NULL, NULL);
}
