#include <string.h>

#include "common/kafka/consumer_internal.h"

struct property {
	const char *name;
	const char *value;
	bool tunable; /* by kafka.options */
};

static bool is_given(const struct kafka_config *config, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < config->options.count; i++)
		if (!strncmp(config->options.items[i], name, len) &&
		    config->options.items[i][len] == '=')
			return true;
	return false;
}

int consumer_conf_set(rd_kafka_conf_t *conf, const struct kafka_config *config,
		      const struct kafka_consumer_options *options,
		      struct error *err)
{
	const struct property properties[] = {
		{"group.id", options->group, false},
		{"auto.offset.reset", options->offset_reset, false},
		{"enable.auto.commit", "false", false},
		{"enable.auto.offset.store", "false", false},
		{"enable.partition.eof", "true", false},
		{"partition.assignment.strategy", "cooperative-sticky", false},
		{"queued.max.messages.kbytes", "16384", true},
		/* A topic or partition made later is seen this soon. */
		{"topic.metadata.refresh.interval.ms", "10000", true},
		{"fetch.wait.max.ms", "100", true},
		{"session.timeout.ms", "15000", true},
	};

	for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++) {
		const struct property *p = &properties[i];

		if (p->tunable && is_given(config, p->name))
			continue;
		if (kafka_conf_set(conf, "options", p->name, p->value, err) < 0)
			return -1;
	}
	return 0;
}
