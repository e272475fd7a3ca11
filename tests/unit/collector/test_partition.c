#include "tests/unit/unit.h"

#include "collector/ingest/partition.h"

static void a_partition_is_found_by_topic_and_number(void **state)
{
	static const char *const topics[] = {"clicks", "links", "third"};
	struct metrics *metrics = metrics_new();
	struct slots slots = {0};
	struct error err = {0};
	struct slot *made[3][50];

	(void)state;
	/* In an order that is none. */
	for (int i = 0; i < 150; i++) {
		int topic = i % 3, partition = i * 7 % 50;

		made[topic][partition] = slots_add(&slots, topics[topic],
						   partition, metrics, &err);
		assert_non_null(made[topic][partition]);
	}
	assert_int_equal(slots.count, 150);
	for (int topic = 0; topic < 3; topic++)
		for (int32_t p = 0; p < 50; p++) {
			struct slot *slot =
				slots_find(&slots, topics[topic], p);

			assert_ptr_equal(slot, made[topic][p]);
			assert_string_equal(slot->topic, topics[topic]);
			assert_int_equal(slot->partition, p);
			assert_ptr_equal(slots_add(&slots, topics[topic], p,
						   metrics, &err),
					 slot);
		}
	assert_int_equal(slots.count, 150);
	slots_release(&slots);
	metrics_free(metrics);
}

static void what_was_never_held_is_not_found(void **state)
{
	struct metrics *metrics = metrics_new();
	struct slots slots = {0};
	struct error err = {0};

	(void)state;
	assert_null(slots_find(&slots, "clicks", 0));
	assert_non_null(slots_add(&slots, "clicks", 5, metrics, &err));
	assert_null(slots_find(&slots, "clicks", 0));
	assert_null(slots_find(&slots, "clicks", 6));
	assert_null(slots_find(&slots, "clicks", -1));
	assert_null(slots_find(&slots, "links", 5));
	slots_release(&slots);
	metrics_free(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_partition_is_found_by_topic_and_number),
		cmocka_unit_test(what_was_never_held_is_not_found),
	};

	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
