#include "common/kafka/consumer_conf.h"

#include "common/kafka/topic_limits.h"
#include <stdio.h>

struct property {
	const char *name;
	const char *value; /* NULL: librdkafka's default */
	bool tunable;	   /* kafka.options may set it */
};

enum {
	NUMBER_MAX = 24
};

static int set_properties(rd_kafka_conf_t *conf,
			  const struct kafka_config *config,
			  const struct property *properties, size_t count,
			  struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct property *p = &properties[i];

		if (p->tunable && kafka_option_is_given(config, p->name))
			continue;
		if (kafka_conf_set(conf, "options", p->name, p->value, err) < 0)
			return -1;
	}
	return 0;
}

static const char *format_property_number(size_t value, char text[NUMBER_MAX])
{
	if (!value)
		return NULL;
	snprintf(text, NUMBER_MAX, "%zu", value);
	return text;
}

/* True if the installed librdkafka knows the property. */
static bool is_known(const rd_kafka_conf_t *conf, const char *name)
{
	size_t size = 0;

	return rd_kafka_conf_get(conf, name, NULL, &size) == RD_KAFKA_CONF_OK;
}

static int set_bounds(rd_kafka_conf_t *conf, const struct kafka_config *config,
		      const struct kafka_consumer_options *options,
		      struct error *err)
{
	char kbytes[NUMBER_MAX], events[NUMBER_MAX];
	const struct property properties[] = {
		{"queued.max.messages.kbytes",
		 format_property_number(options->fetch_bytes / 1024, kbytes),
		 true},
		/* Despite "min" in its name, no more is fetched at this
		 * number. */
		{"queued.min.messages",
		 format_property_number(options->fetch_events, events), true},
	};
	const struct property wake = {"fetch.queue.backoff.ms", "10", true};

	if (set_properties(conf, config, properties,
			   sizeof(properties) / sizeof(*properties), err) < 0 ||
	    kafka_bound_answers(conf, config, options->fetch_answer, err) < 0)
		return -1;
	return is_known(conf, wake.name)
		       ? set_properties(conf, config, &wake, 1, err)
		       : 0;
}

int consumer_conf_set(rd_kafka_conf_t *conf, const struct kafka_config *config,
		      const struct kafka_consumer_options *options,
		      struct error *err)
{
	const struct property properties[] = {
		{"group.id", options->group, false},
		{"auto.offset.reset", "earliest", false}, /* see consumer.h */
		{"enable.auto.commit", "false", false},
		{"enable.auto.offset.store", "false", false},
		{"enable.partition.eof", "true", false},
		/* Records changed in transit or on a disk are rejected. */
		{"check.crcs", "true", true},
		{"partition.assignment.strategy", "cooperative-sticky", false},
		/* The delay until a new topic or partition is seen. */
		{"topic.metadata.refresh.interval.ms", "10000", true},
		{"fetch.wait.max.ms", "100", true},
		{"session.timeout.ms", "15000", true},
	};

	if (set_properties(conf, config, properties,
			   sizeof(properties) / sizeof(*properties), err) < 0)
		return -1;
	return set_bounds(conf, config, options, err);
}
