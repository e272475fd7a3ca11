#include "common/kafka/topic_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NUMBER_MAX = 24,
	ONE_BATCH = 1000, /* the minimum that librdkafka accepts */
};

int kafka_bound_answers(rd_kafka_conf_t *conf,
			const struct kafka_config *config, size_t packed,
			struct error *err)
{
	char answer[NUMBER_MAX], partition[NUMBER_MAX], unpacked[NUMBER_MAX];
	const char *const properties[][2] = {
		/* librdkafka requires at least the size that it assumes for a
		 * message.  A larger message is still delivered, alone. */
		{"message.max.bytes", answer},
		{"fetch.max.bytes", answer},
		{"fetch.message.max.bytes", partition},
		{"receive.message.max.bytes", unpacked},
	};
	size_t count = sizeof(properties) / sizeof(*properties);

	snprintf(answer, sizeof(answer), "%zu", packed ? packed : ONE_BATCH);
	snprintf(partition, sizeof(partition), "%zu", packed ? packed : 1);
	snprintf(unpacked, sizeof(unpacked), "%d", (int)KAFKA_UNPACKED_MAX);
	/* These properties bound each other: if kafka.options sets one of them,
	 * the operator has to set them all. */
	for (size_t i = 0; i < count; i++)
		if (kafka_option_is_given(config, properties[i][0]))
			return 0;
	return kafka_conf_set_all(conf, properties, count, err);
}

/* --- limits of a topic ------------------------------------------------ */

static int take_limits(rd_kafka_event_t *event, struct kafka_topic_limits *ret,
		       struct error *err)
{
	const rd_kafka_DescribeConfigs_result_t *result =
		rd_kafka_event_DescribeConfigs_result(event);
	const rd_kafka_ConfigResource_t **resources;
	const rd_kafka_ConfigEntry_t **entries;
	size_t count = 0;

	resources = rd_kafka_DescribeConfigs_result_resources(result, &count);
	if (count != 1 || rd_kafka_ConfigResource_error(resources[0]))
		return error_set_retriable(
			err, ERROR_REMOTE, "kafka: settings of a topic: %s",
			count == 1 ? rd_kafka_ConfigResource_error_string(
					     resources[0])
				   : "no answer");
	*ret = (struct kafka_topic_limits){0};
	entries = rd_kafka_ConfigResource_configs(resources[0], &count);
	for (size_t i = 0; i < count; i++) {
		const char *name = rd_kafka_ConfigEntry_name(entries[i]);
		const char *value = rd_kafka_ConfigEntry_value(entries[i]);

		if (!value)
			continue;
		if (!strcmp(name, "compression.type"))
			snprintf(ret->compression, sizeof(ret->compression),
				 "%s", value);
		else if (!strcmp(name, "message.timestamp.type"))
			snprintf(ret->timestamp, sizeof(ret->timestamp), "%s",
				 value);
		else if (!strcmp(name, "max.message.bytes"))
			ret->max_message = strtoll(value, NULL, 10);
	}
	return 0;
}

static int await_limits(rd_kafka_queue_t *queue, int timeout_ms,
			struct kafka_topic_limits *ret, struct error *err)
{
	/* An event always arrives in time, if only the timeout itself. */
	rd_kafka_event_t *event = rd_kafka_queue_poll(queue, timeout_ms + 1000);
	int status;

	if (!event)
		return error_set_retriable(err, ERROR_REMOTE,
					   "kafka: settings of a topic: "
					   "no answer");
	if (rd_kafka_event_type(event) !=
		    RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT ||
	    rd_kafka_event_error(event))
		status = error_set_retriable(
			err, ERROR_REMOTE, "kafka: settings of a topic: %s",
			rd_kafka_event_error_string(event));
	else
		status = take_limits(event, ret, err);
	rd_kafka_event_destroy(event);
	return status;
}

int kafka_topic_limits_ask(rd_kafka_t *rk, const char *topic, int timeout_ms,
			   struct kafka_topic_limits *ret, struct error *err)
{
	rd_kafka_ConfigResource_t *resource =
		rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
	rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(
		rk, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	char text[128] = "";
	int status;

	(void)rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms,
							text, sizeof(text));
	rd_kafka_DescribeConfigs(rk, &resource, 1, options, queue);
	status = await_limits(queue, timeout_ms, ret, err);
	rd_kafka_queue_destroy(queue);
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_ConfigResource_destroy(resource);
	return status;
}

size_t kafka_topic_ratio(const struct kafka_topic_limits *limits)
{
	static const struct {
		const char *name;
		size_t ratio;
	} kept[] = {
		{"uncompressed", 1},
		/* A copy of 64 bytes takes three. */
		{"snappy", 22},
		/* A byte of a length stands for 255. */
		{"lz4", 255},
	};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (!strcmp(limits->compression, kept[i].name))
			return kept[i].ratio;
	return 0;
}
