#include "collector/ingest/topic_limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/kafka/reader.h"
#include "common/kafka/topic_limits.h"

enum {
	ASK_MS = 3000,
	/* The worst ratio of a format whose ratio the sender chooses: gzip,
	 * which librdkafka does not check. */
	GZIP_RATIO = 1032,
};

static void warn_of_unbounded_topic(struct log *log, const char *topic,
				    const char *remark)
{
	log_warn(log, "a topic does not bound what its events unpack to",
		 log_str("topic", topic), log_str("remark", remark));
}

static void warn_of_timestamp(struct log *log, const char *topic,
			      const struct kafka_topic_limits *limits)
{
	if (strcmp(limits->timestamp, "LogAppendTime") == 0)
		return;
	log_warn(log, "a topic has the timestamps of its producers' clocks",
		 log_str("topic", topic),
		 log_str("message.timestamp.type", limits->timestamp),
		 log_str("remark",
			 "brokers refuse what a host sends whose clock is "
			 "ahead, and delete early what comes from one that is "
			 "behind; LogAppendTime is recommended"));
}

/* Returns the ratio of one topic; 0: not known. */
static size_t query_topic_ratio(struct kafka_reader *reader, const char *topic,
				const struct memory_shares *shares,
				struct log *log)
{
	struct kafka_topic_limits limits;
	struct error err = {0};
	char text[400];
	size_t ratio, worst;

	if (kafka_reader_limits(reader, topic, ASK_MS, &limits, &err) < 0) {
		snprintf(text, sizeof(text),
			 "its settings are not known, so one batch is read at "
			 "a time until the next start: %.200s",
			 err.text);
		warn_of_unbounded_topic(log, topic, text);
		return 0;
	}
	warn_of_timestamp(log, topic, &limits);
	ratio = kafka_topic_ratio(&limits);
	worst = ratio ? ratio : GZIP_RATIO;
	if (!ratio) {
		snprintf(text, sizeof(text),
			 "compression.type is %s, so one batch is read at a "
			 "time; lz4 is recommended, with max.message.bytes of "
			 "%zu at most",
			 limits.compression, shares->fetch_unpacked / 255);
		warn_of_unbounded_topic(log, topic, text);
	} else if ((size_t)limits.max_message >
		   shares->fetch_unpacked / worst) {
		snprintf(text, sizeof(text),
			 "a batch of max.message.bytes (%" PRId64
			 ") can unpack to %" PRId64
			 " MiB, and there is room for %zu: %zu is recommended",
			 limits.max_message,
			 limits.max_message * (int64_t)worst >> 20,
			 shares->fetch_unpacked >> 20,
			 shares->fetch_unpacked / worst);
		warn_of_unbounded_topic(log, topic, text);
	}
	return ratio;
}

size_t topic_limits_choose(const struct collector_config *config,
			   const struct memory_shares *shares, struct log *log)
{
	struct error err = {0};
	struct kafka_reader *reader =
		kafka_reader_new(&config->kafka, "shortloop-collector-limits",
				 config->collector.group, &err);
	size_t clicks, links;

	if (!reader) {
		log_warn(log, "topics are not looked at", log_err(&err));
		return 0;
	}
	clicks = query_topic_ratio(reader, config->kafka.topic_clicks, shares,
				   log);
	links = query_topic_ratio(reader, config->kafka.topic_links, shares,
				  log);
	kafka_reader_free(reader);
	if (!clicks || !links)
		return 0;
	return memory_fetch_answer(shares, clicks > links ? clicks : links);
}
