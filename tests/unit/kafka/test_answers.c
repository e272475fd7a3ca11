#include "tests/unit/unit.h"

#include "common/kafka/topic_limits.h"

static void only_formats_that_bound_it_have_a_ratio(void **state)
{
	static const struct {
		struct kafka_topic_limits limits;
		size_t ratio;
	} cases[] = {
		{{"lz4", 262144, ""}, 255},
		{{"snappy", 1, ""}, 22},
		{{"uncompressed", 1, ""}, 1},
		{{"producer", 1048588, ""}, 0},
		{{"zstd", 1, ""}, 0},
		{{"gzip", 1, ""}, 0},
		{{"", 0, ""}, 0},
		{{"of days to come", 1, ""}, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(kafka_topic_ratio(&cases[i].limits),
				 cases[i].ratio);
}

static void expect_setting(rd_kafka_conf_t *conf, const char *name,
			   const char *value)
{
	char text[64];
	size_t size = sizeof(text);

	assert_int_equal(rd_kafka_conf_get(conf, name, text, &size),
			 RD_KAFKA_CONF_OK);
	assert_string_equal(text, value);
}

static void
one_batch_is_asked_for_unless_the_options_say_otherwise(void **state)
{
	struct kafka_config config = {0};
	char option[] = "fetch.max.bytes=5000000", *own[] = {option};
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	struct error err;

	(void)state;
	assert_int_equal(kafka_bound_answers(conf, &config, 0, &err), 0);
	expect_setting(conf, "fetch.message.max.bytes", "1");
	expect_setting(conf, "receive.message.max.bytes", "16777216");
	assert_int_equal(kafka_bound_answers(conf, &config, 65536, &err), 0);
	expect_setting(conf, "fetch.message.max.bytes", "65536");
	rd_kafka_conf_destroy(conf);

	config.options.items = own;
	config.options.count = 1;
	conf = rd_kafka_conf_new();
	assert_int_equal(kafka_bound_answers(conf, &config, 0, &err), 0);
	expect_setting(conf, "fetch.message.max.bytes", "1048576");
	expect_setting(conf, "receive.message.max.bytes", "100000000");
	rd_kafka_conf_destroy(conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_formats_that_bound_it_have_a_ratio),
		cmocka_unit_test(
			one_batch_is_asked_for_unless_the_options_say_otherwise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
