/*
 * side_topics.h - the side topics that the configuration names.
 */
#ifndef COLLECTOR_SIDE_SIDE_TOPICS_H
#define COLLECTOR_SIDE_SIDE_TOPICS_H

#include "collector/side/side_kind.h"
#include "common/kafka/kafka.h"

enum {
	SIDE_TOPICS = 2
};

struct side_topic {
	const struct side_kind *kind;
	const char *topic;   /* "": it is not read */
	const char *setting; /* its name in the section kafka */
};

/* The texts are the configuration's. */
void side_topics(const struct kafka_config *kafka,
		 struct side_topic ret[SIDE_TOPICS]);

/* Checks that no topic of events is a side topic, too, and no side topic is two
 * of them.  ERROR_CONFIG. */
int side_topics_check(const struct kafka_config *kafka, struct error *err);

#endif
