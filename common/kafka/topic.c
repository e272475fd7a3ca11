/* Making a topic through Kafka's admin interface. */
#include <stdlib.h>
#include <string.h>

#include "common/kafka/topic.h"

static int set_topic_setting(rd_kafka_NewTopic_t *topic, const char *setting,
			     struct error *err)
{
	const char *equals = strchr(setting, '=');
	char *name;
	rd_kafka_resp_err_t code;

	if (!equals || equals == setting)
		return error_set(err, ERROR_INPUT,
				 "topic setting '%s': expected key=value",
				 setting);
	name = strndup(setting, (size_t)(equals - setting));
	if (!name)
		return error_set_nomem(err);
	code = rd_kafka_NewTopic_set_config(topic, name, equals + 1);
	free(name);
	if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
		return error_set(err, ERROR_INPUT, "topic setting '%s': %s",
				 setting, rd_kafka_err2str(code));
	return 0;
}

static rd_kafka_NewTopic_t *new_topic(const char *name, int partitions,
				      int replication,
				      const char *const *settings,
				      struct error *err)
{
	rd_kafka_NewTopic_t *topic;
	char text[256] = "";

	topic = rd_kafka_NewTopic_new(name, partitions, replication, text,
				      sizeof(text));
	if (!topic) {
		error_set(err, ERROR_INPUT, "topic %s: %s", name, text);
		return NULL;
	}
	for (; settings && *settings; settings++) {
		if (set_topic_setting(topic, *settings, err) < 0) {
			rd_kafka_NewTopic_destroy(topic);
			return NULL;
		}
	}
	return topic;
}

static int set_remote(struct error *err, const char *topic, const char *text)
{
	return error_set_retriable(err, ERROR_REMOTE, "create topic %s: %s",
				   topic, text);
}

static int read_result(rd_kafka_event_t *event, const char *name,
		       struct error *err)
{
	const rd_kafka_CreateTopics_result_t *result;
	const rd_kafka_topic_result_t **topics;
	rd_kafka_resp_err_t code;
	const char *text;
	size_t count = 0;

	if (rd_kafka_event_error(event))
		return set_remote(err, name,
				  rd_kafka_event_error_string(event));
	result = rd_kafka_event_CreateTopics_result(event);
	topics = result ? rd_kafka_CreateTopics_result_topics(result, &count)
			: NULL;
	if (count != 1)
		return set_remote(err, name, "no answer for it");
	code = rd_kafka_topic_result_error(topics[0]);
	if (code == RD_KAFKA_RESP_ERR_NO_ERROR ||
	    code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
		return 0;
	text = rd_kafka_topic_result_error_string(topics[0]);
	return set_remote(err, name, text ? text : rd_kafka_err2str(code));
}

static int ask(rd_kafka_t *rk, rd_kafka_NewTopic_t *topic, const char *name,
	       int64_t timeout_ms, struct error *err)
{
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	rd_kafka_AdminOptions_t *options =
		rd_kafka_AdminOptions_new(rk, RD_KAFKA_ADMIN_OP_CREATETOPICS);
	rd_kafka_event_t *event;
	char text[256] = "";
	int result = -1;

	if (rd_kafka_AdminOptions_set_request_timeout(options, (int)timeout_ms,
						      text, sizeof(text))) {
		error_set(err, ERROR_INPUT, "create topic %s: %s", name, text);
		goto out;
	}
	rd_kafka_CreateTopics(rk, &topic, 1, options, queue);
	/* The request has a deadline of its own; the margin is for its answer
	 * to travel through librdkafka's threads. */
	event = rd_kafka_queue_poll(queue, (int)timeout_ms + 1000);
	if (event)
		result = read_result(event, name, err);
	else
		set_remote(err, name, "timed out");
	if (event)
		rd_kafka_event_destroy(event);
out:
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_queue_destroy(queue);
	return result;
}

int kafka_topic_create(const struct kafka_config *config, const char *topic,
		       int partitions, int replication,
		       const char *const *settings, int64_t timeout_ms,
		       struct error *err)
{
	rd_kafka_NewTopic_t *wanted = NULL;
	rd_kafka_conf_t *conf;
	rd_kafka_t *rk = NULL;
	char text[256] = "";
	int result = -1;

	wanted = new_topic(topic, partitions, replication, settings, err);
	if (!wanted)
		return -1;
	conf = kafka_conf_new(config, "shortloop-admin", err);
	if (!conf)
		goto out;
	rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	if (!rk) {
		rd_kafka_conf_destroy(conf);
		error_set(err, ERROR_CONFIG, "kafka: %s", text);
		goto out;
	}
	result = ask(rk, wanted, topic, timeout_ms, err);
out:
	rd_kafka_NewTopic_destroy(wanted);
	if (rk)
		rd_kafka_destroy(rk);
	return result;
}
