#include "collector/side/side_topics.h"

#include <string.h>

#include "collector/side/counters_row.h"
#include "collector/side/renewals_rows.h"

void side_topics(const struct kafka_config *kafka,
		 struct side_topic ret[SIDE_TOPICS])
{
	const struct side_topic all[SIDE_TOPICS] = {
		{&counters_kind, kafka->topic_counters, "topic_counters"},
		{&renewals_kind, kafka->topic_renewals, "topic_renewals"},
	};

	memcpy(ret, all, sizeof(all));
}

static int check_side_topic(const struct kafka_config *kafka,
			    const struct side_topic *topics, size_t i,
			    struct error *err)
{
	const char *topic = topics[i].topic;
	bool is_taken = !strcmp(topic, kafka->topic_clicks) ||
			!strcmp(topic, kafka->topic_links);

	for (size_t j = 0; *topic && j < i; j++)
		is_taken |= !strcmp(topic, topics[j].topic);
	if (!is_taken)
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "kafka.%s: '%s' is the topic of other events, too",
			 topics[i].setting, topic);
}

int side_topics_check(const struct kafka_config *kafka, struct error *err)
{
	struct side_topic topics[SIDE_TOPICS];

	side_topics(kafka, topics);
	for (size_t i = 0; i < SIDE_TOPICS; i++)
		if (check_side_topic(kafka, topics, i, err) < 0)
			return -1;
	return 0;
}
