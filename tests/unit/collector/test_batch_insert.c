#include "tests/unit/unit.h"

#include "collector/ingest/batch_insert.h"
#include "collector/ingest/partitions.h"
#include "common/clock.h"

/* Nobody listens there: nothing is put, so nothing is waited for. */
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

static struct partition *some_partition(struct partitions *all,
					struct metrics *metrics)
{
	struct error err = {0};
	struct partition *p = partitions_add(all, "clicks", 0, metrics, &err);

	assert_non_null(p);
	return p;
}

/* An insert of one dead letter, which was put when so many were given up. */
static struct batch_insert *some_insert(const struct batch_insert_setup *setup,
					struct partition *p, unsigned given_up)
{
	struct batch batch = {.letters_given_up = given_up}, spare = {0};
	struct batch_insert *d;

	batch_note_dead(&batch, 7, 0);
	d = batch_insert_new(setup, &batch, &spare);
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
	struct batch_insert_setup setup = {.dead_letters = some_letters()};
	struct metrics *metrics = metrics_new();
	struct partitions all = {0};
	struct partition *p = some_partition(&all, metrics);
	struct batch_insert *d = some_insert(&setup, p, 0);

	(void)state;
	atomic_fetch_add(&p->letters_given_up, 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(result_of(d), BATCH_INSERT_DEAD_LETTERS_LOST);
	batch_insert_free(d);
	partitions_release(&all);
	metrics_free(metrics);
	dead_letters_free(setup.dead_letters);
}

/* The partition was given back while a worker has its batch. */
static void nor_if_all_that_is_held_was_dropped_meanwhile(void **state)
{
	struct batch_insert_setup setup = {.dead_letters = some_letters()};
	struct metrics *metrics = metrics_new();
	struct partitions all = {0};
	struct partition *p = some_partition(&all, metrics);
	struct batch_insert *d = some_insert(&setup, p, 0);

	(void)state;
	p->insert.job = d;
	p->insert.step = INSERT_RUNNING;
	atomic_fetch_add(&p->letters_given_up, 1);
	partition_clear(p);
	assert_null(p->insert.job);
	assert_int_equal(result_of(d), BATCH_INSERT_DEAD_LETTERS_LOST);
	batch_insert_free(d);
	partitions_release(&all);
	metrics_free(metrics);
	dead_letters_free(setup.dead_letters);
}

/* Its own letters were taken: it gets as far as ClickHouse, which is away. */
static void one_that_was_read_again_has_lost_no_letter_yet(void **state)
{
	struct batch_insert_setup setup = {.dead_letters = some_letters()};
	struct metrics *metrics = metrics_new();
	struct partitions all = {0};
	struct partition *p = some_partition(&all, metrics);
	struct batch_insert *d = some_insert(&setup, p, 3);

	(void)state;
	atomic_fetch_add(&p->letters_given_up, 3);
	assert_int_equal(result_of(d), BATCH_INSERT_CLICKHOUSE_FAILED);
	batch_insert_free(d);
	partitions_release(&all);
	metrics_free(metrics);
	dead_letters_free(setup.dead_letters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_whose_letter_was_given_up_is_not_stored),
		cmocka_unit_test(nor_if_all_that_is_held_was_dropped_meanwhile),
		cmocka_unit_test(
			one_that_was_read_again_has_lost_no_letter_yet),
	};

	return cmocka_run_group_tests_name("batch_insert", tests, NULL, NULL);
}
