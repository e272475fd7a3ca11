#include "tests/unit/unit.h"

#include "collector/ingest/partitions.h"

static void a_partition_is_found_by_topic_and_number(void **state)
{
	static const char *const topics[] = {"clicks", "links", "third"};
	struct metrics *metrics = metrics_new();
	struct partitions all = {0};
	struct error err = {0};
	struct partition *made[3][50];

	(void)state;
	/* The partitions are added in no order. */
	for (int i = 0; i < 150; i++) {
		int topic = i % 3, partition = i * 7 % 50;

		made[topic][partition] = partitions_add(
			&all, topics[topic], partition, metrics, &err);
		assert_non_null(made[topic][partition]);
	}
	assert_int_equal(all.count, 150);
	for (int topic = 0; topic < 3; topic++)
		for (int32_t p = 0; p < 50; p++) {
			struct partition *found =
				partitions_find(&all, topics[topic], p);

			assert_ptr_equal(found, made[topic][p]);
			assert_string_equal(found->topic, topics[topic]);
			assert_int_equal(found->number, p);
			assert_ptr_equal(partitions_add(&all, topics[topic], p,
							metrics, &err),
					 found);
		}
	assert_int_equal(all.count, 150);
	partitions_release(&all);
	metrics_free(metrics);
}

static void what_was_never_held_is_not_found(void **state)
{
	struct metrics *metrics = metrics_new();
	struct partitions all = {0};
	struct error err = {0};

	(void)state;
	assert_null(partitions_find(&all, "clicks", 0));
	assert_non_null(partitions_add(&all, "clicks", 5, metrics, &err));
	assert_null(partitions_find(&all, "clicks", 0));
	assert_null(partitions_find(&all, "clicks", 6));
	assert_null(partitions_find(&all, "clicks", -1));
	assert_null(partitions_find(&all, "links", 5));
	partitions_release(&all);
	metrics_free(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_partition_is_found_by_topic_and_number),
		cmocka_unit_test(what_was_never_held_is_not_found),
	};

	return cmocka_run_group_tests_name("partitions", tests, NULL, NULL);
}
