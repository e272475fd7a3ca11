#include "tests/unit/unit.h"

#include "collector/ingest/batch_insert.h"
#include "collector/ingest/partition.h"

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
	struct delivery_setup setup = {.dead_letters = some_letters()};
	struct batch batch = {0}, spare = {0};
	atomic_bool failed = true;
	struct delivery *d;

	(void)state;
	batch_note_dead(&batch, 7, 0);
	d = delivery_new(&setup, &batch, &spare);
	assert_non_null(d);
	d->dead_letter_failed = &failed;
	for (int i = 0; i < 2; i++) {
		d->job.run(&d->job, NULL);
		assert_int_equal(d->result, DELIVERY_DEAD_LETTERS_LOST);
	}
	assert_true(atomic_load(&failed));
	delivery_free(d);
	dead_letters_free(setup.dead_letters);
}

static void what_is_read_again_has_lost_no_letter_yet(void **state)
{
	struct metrics *metrics = metrics_new();
	struct slots slots = {0};
	struct error err = {0};
	struct slot *slot = slots_add(&slots, "clicks", 0, metrics, &err);

	(void)state;
	assert_non_null(slot);
	atomic_store(&slot->dead_letter_failed, true);
	slot_clear(slot);
	assert_false(atomic_load(&slot->dead_letter_failed));
	slots_release(&slots);
	metrics_free(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			one_that_was_given_up_hides_no_letter_of_another),
		cmocka_unit_test(what_is_read_again_has_lost_no_letter_yet),
	};

	return cmocka_run_group_tests_name("delivery", tests, NULL, NULL);
}
