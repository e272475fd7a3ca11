#include "tests/unit/unit.h"

#include "collector/ingest/batch_insert.h"
#include "collector/ingest/partitions.h"

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

/* Of a partition that went and came back: the flag is the new block's. */
static void one_that_was_given_up_hides_no_letter_of_another(void **state)
{
	struct batch_insert_setup setup = {.dead_letters = some_letters()};
	struct batch batch = {0}, spare = {0};
	atomic_bool failed = true;
	struct batch_insert *d;

	(void)state;
	batch_note_dead(&batch, 7, 0);
	d = batch_insert_new(&setup, &batch, &spare);
	assert_non_null(d);
	d->dead_letter_failed = &failed;
	for (int i = 0; i < 2; i++) {
		d->job.run(&d->job, NULL);
		assert_int_equal(d->result, BATCH_INSERT_DEAD_LETTERS_LOST);
	}
	assert_true(atomic_load(&failed));
	batch_insert_free(d);
	dead_letters_free(setup.dead_letters);
}

static void what_is_read_again_has_lost_no_letter_yet(void **state)
{
	struct metrics *metrics = metrics_new();
	struct partitions all = {0};
	struct error err = {0};
	struct partition *p = partitions_add(&all, "clicks", 0, metrics, &err);

	(void)state;
	assert_non_null(p);
	atomic_store(&p->dead_letter_failed, true);
	partition_clear(p);
	assert_false(atomic_load(&p->dead_letter_failed));
	partitions_release(&all);
	metrics_free(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			one_that_was_given_up_hides_no_letter_of_another),
		cmocka_unit_test(what_is_read_again_has_lost_no_letter_yet),
	};

	return cmocka_run_group_tests_name("batch_insert", tests, NULL, NULL);
}
