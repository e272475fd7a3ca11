#include "common/kafka/kafka.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/buf.h"

/* librdkafka's default of 10 s would keep a recovered broker out for that
 * long. */
#define RECONNECT_MAX_MS "1000"

static const char *const protocols[] = {"plaintext", "ssl", "sasl_plaintext",
					"sasl_ssl", NULL};

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), size = strlen(end);

	return len >= size && !strcmp(text + len - size, end);
}

/* Decides by words in the name, so that properties of later versions are
 * covered too; librdkafka does not export its own flag, and that misses
 * some. */
bool kafka_property_is_secret(const char *name)
{
	static const char *const ends[] = {
		"password",
		"passphrase",
		"secret",
		"token",
		"key.pem",
		".key",
		"oauthbearer.config",
		"oauthbearer.extensions",
		"jaas.config",
		"user.info",
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (ends_with(name, ends[i]))
			return true;
	return false;
}

static int check_kafka_config(const void *section, struct error *err);

#define SETTING_STRUCT struct kafka_config
static const struct setting settings[] = {
	SETTING_STRINGS(brokers, "localhost:9092", AT_START,
			"Brokers to start from, as host:port."),
	SETTING_STRING(topic_clicks, "clicks", AT_START,
		       "Topic of the click events."),
	SETTING_STRING(topic_links, "links", AT_START,
		       "Topic of the link events."),
	SETTING_STRING(topic_dlq, "clicks.dlq", AT_START,
		       "Topic of the events that could not be stored."),
	SETTING_STRING(topic_live, OPTIONAL_LIKE("clicks-live"), AT_START,
		       "Topic of clicks for GET /v1/live: collectors write it, "
		       "aggregators read it, nothing is counted from it.  "
		       "Without it there is no live stream."),
	SETTING_STRING(topic_counters, "redirector.counters", AT_START,
		       "Topic of what redirectors count, which is held against "
		       "what is stored; empty: none."),
	SETTING_STRING(topic_renewals, "link.renewals", AT_START,
		       "Topic of the ends of links that visits have renewed, "
		       "which the archive gets; empty: none."),
	SETTING_INT(
		queue_messages, "100000", 1, 10000000, AT_START,
		"Messages a producer holds at most before it refuses more."),
	SETTING_SIZE(queue_bytes, "128MiB", 1 << 20, INT64_C(1) << 40, AT_START,
		     "Bytes a producer holds at most before it refuses more."),
	SETTING_ENUM(security_protocol, "plaintext", protocols, AT_START,
		     "How to speak to the brokers."),
	SETTING_STRING(
		sasl_mechanism, OPTIONAL, AT_START,
		"PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, GSSAPI or OAUTHBEARER."),
	SETTING_STRING(sasl_username, OPTIONAL, AT_START,
		       "User name for PLAIN and SCRAM."),
	SETTING_SECRET(sasl_password, OPTIONAL, AT_START,
		       "Password for PLAIN and SCRAM."),
	SETTING_PATH(ssl_ca_file, OPTIONAL, AT_START,
		     "CA certificates (PEM); the system's when not set."),
	SETTING_OPTIONS(options, OPTIONAL, kafka_property_is_secret, AT_START,
			"Further librdkafka properties, as name=value."),
	{0},
};

const struct setting_section kafka_section = {
	.name = "kafka",
	.help = "Apache Kafka, which carries the events.",
	.settings = settings,
	.check = check_kafka_config,
};

int kafka_check_live(const struct kafka_config *config, struct error *err)
{
	const struct {
		const char *name, *topic;
	} others[] = {
		{"topic_clicks", config->topic_clicks},
		{"topic_links", config->topic_links},
		{"topic_dlq", config->topic_dlq},
	};

	for (size_t i = 0; config->topic_live && i < 3; i++)
		if (!strcmp(config->topic_live, others[i].topic))
			return error_set(err, ERROR_CONFIG,
					 "kafka.topic_live: %s is '%s', too",
					 others[i].name, config->topic_live);
	return 0;
}

bool kafka_option_is_given(const struct kafka_config *config, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < config->options.count; i++)
		if (!strncmp(config->options.items[i], name, len) &&
		    config->options.items[i][len] == '=')
			return true;
	return false;
}

int kafka_conf_set(rd_kafka_conf_t *conf, const char *setting, const char *name,
		   const char *value, struct error *err)
{
	char text[256] = "";

	if (!value || rd_kafka_conf_set(conf, name, value, text,
					sizeof(text)) == RD_KAFKA_CONF_OK)
		return 0;
	/* librdkafka's message may contain the value. */
	if (kafka_property_is_secret(name) && strstr(text, value))
		return error_set(err, ERROR_CONFIG,
				 "kafka.%s: %s: librdkafka does not take it",
				 setting, name);
	return error_set(err, ERROR_CONFIG, "kafka.%s: %s", setting, text);
}

int kafka_conf_set_all(rd_kafka_conf_t *conf, const char *const properties[][2],
		       size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (kafka_conf_set(conf, "options", properties[i][0],
				   properties[i][1], err) < 0)
			return -1;
	return 0;
}

static int set_brokers(rd_kafka_conf_t *conf,
		       const struct setting_strings *brokers, struct error *err)
{
	struct buf list = {0};
	const char *text;
	int result = -1;

	if (brokers->count == 0)
		return error_set(err, ERROR_CONFIG,
				 "kafka.brokers: expected at least one "
				 "host:port");
	for (size_t i = 0; i < brokers->count; i++) {
		if (strchr(brokers->items[i], '@')) {
			buf_free(&list);
			return error_set(err, ERROR_CONFIG,
					 "kafka.brokers: expected host:port; a "
					 "user and a password are "
					 "kafka.sasl_username and "
					 "kafka.sasl_password");
		}
		if (i)
			buf_putc(&list, ',');
		buf_puts(&list, brokers->items[i]);
	}
	text = buf_cstr(&list);
	if (text)
		result = kafka_conf_set(conf, "brokers", "bootstrap.servers",
					text, err);
	else
		error_set_nomem(err);
	buf_free(&list);
	return result;
}

static int set_option(rd_kafka_conf_t *conf, const char *option,
		      struct error *err)
{
	const char *equals = strchr(option, '=');
	char *name;
	int result;

	if (!equals || equals == option)
		return error_set(err, ERROR_CONFIG,
				 "kafka.options: expected name=value");
	name = strndup(option, (size_t)(equals - option));
	if (!name)
		return error_set_nomem(err);
	result = kafka_conf_set(conf, "options", name, equals + 1, err);
	free(name);
	return result;
}

static int set_security(rd_kafka_conf_t *conf,
			const struct kafka_config *config, struct error *err)
{
	if (kafka_conf_set(conf, "security_protocol", "security.protocol",
			   config->security_protocol, err) < 0 ||
	    kafka_conf_set(conf, "sasl_mechanism", "sasl.mechanism",
			   config->sasl_mechanism, err) < 0 ||
	    kafka_conf_set(conf, "sasl_username", "sasl.username",
			   config->sasl_username, err) < 0 ||
	    kafka_conf_set(conf, "sasl_password", "sasl.password",
			   config->sasl_password, err) < 0)
		return -1;
	return kafka_conf_set(conf, "ssl_ca_file", "ssl.ca.location",
			      config->ssl_ca_file, err);
}

rd_kafka_conf_t *kafka_conf_new(const struct kafka_config *config,
				const char *client_id, struct error *err)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();

	if (set_brokers(conf, &config->brokers, err) < 0 ||
	    kafka_conf_set(conf, "client_id", "client.id", client_id, err) <
		    0 ||
	    set_security(conf, config, err) < 0 ||
	    kafka_conf_set(conf, "options", "reconnect.backoff.max.ms",
			   RECONNECT_MAX_MS, err) < 0)
		goto fail;
	for (size_t i = 0; i < config->options.count; i++)
		if (set_option(conf, config->options.items[i], err) < 0)
			goto fail;
	rd_kafka_conf_set_log_cb(conf, NULL);
	return conf;
fail:
	rd_kafka_conf_destroy(conf);
	return NULL;
}

/* Checks a file that librdkafka opens itself: it would block on one that is not
 * a regular file. */
static int check_ca_file(const char *path, struct error *err)
{
	struct stat st;

	if (!path || stat(path, &st) < 0 || S_ISREG(st.st_mode) ||
	    S_ISDIR(st.st_mode))
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "kafka.ssl_ca_file: %s: neither a file nor a folder",
			 path);
}

/* Reports whatever librdkafka rejects already at --check, and before anything
 * is printed. */
static int check_kafka_config(const void *section, struct error *err)
{
	const struct kafka_config *config = section;
	rd_kafka_conf_t *conf;

	if (check_ca_file(config->ssl_ca_file, err) < 0)
		return -1;
	conf = kafka_conf_new(config, "check", err);
	if (!conf)
		return -1;
	rd_kafka_conf_destroy(conf);
	return 0;
}

rd_kafka_topic_partition_list_t *
kafka_one_partition(const char *topic, int32_t partition, int64_t offset)
{
	rd_kafka_topic_partition_list_t *list =
		rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(list, topic, partition)->offset =
		offset;
	return list;
}

int kafka_set_topic_error(const char *topic, rd_kafka_resp_err_t code,
			  struct error *err)
{
	return error_set_retriable(err, ERROR_REMOTE, "kafka: topic %s: %s",
				   topic, rd_kafka_err2str(code));
}

int kafka_count_partitions(rd_kafka_t *rk, const char *topic, int timeout_ms,
			   uint32_t *ret_count, struct error *err)
{
	const struct rd_kafka_metadata *metadata = NULL;
	rd_kafka_topic_t *handle = rd_kafka_topic_new(rk, topic, NULL);
	rd_kafka_resp_err_t code;

	if (!handle)
		return kafka_set_topic_error(topic, rd_kafka_last_error(), err);
	code = rd_kafka_metadata(rk, 0, handle, &metadata, timeout_ms);
	if (!code && metadata->topic_cnt != 1)
		code = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
	else if (!code)
		code = metadata->topics[0].err;
	if (!code)
		*ret_count = (uint32_t)metadata->topics[0].partition_cnt;
	if (metadata)
		rd_kafka_metadata_destroy(metadata);
	rd_kafka_topic_destroy(handle);
	return code ? kafka_set_topic_error(topic, code, err) : 0;
}
