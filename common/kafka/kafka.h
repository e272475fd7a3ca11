/*
 * kafka.h - settings shared by producers and consumers, and one-off queries.
 *
 * For librdkafka 2.0 and later.  Its own log lines are switched off: failures
 * arrive as errors and states.
 */
#ifndef COMMON_KAFKA_KAFKA_H
#define COMMON_KAFKA_KAFKA_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/config/setting.h"
#include "common/error.h"

struct kafka_config {
	struct setting_strings brokers; /* host:port */
	char *topic_clicks;
	char *topic_links;
	char *topic_dlq;
	char *topic_live;	/* NULL: clicks are not shown live */
	char *topic_counters;	/* "": no counters */
	char *topic_renewals;	/* "": renewals are not reported */
	int64_t queue_messages; /* of one producer; when full, it refuses */
	int64_t queue_bytes;
	/* plaintext | ssl | sasl_plaintext | sasl_ssl */
	char *security_protocol;
	char *sasl_mechanism;
	char *sasl_username;
	char *sasl_password; /* secret */
	char *ssl_ca_file;
	/* "name=value" passed to librdkafka; the value of a secret property is
	 * secret */
	struct setting_strings options;
};
extern const struct setting_section kafka_section; /* "kafka" */

/* Returns true if the value of the librdkafka property is a secret. */
bool kafka_property_is_secret(const char *name);

/*
 * Returns a librdkafka configuration with the settings above.  The caller owns
 * it until it is given to rd_kafka_new.  An option that librdkafka does not
 * know, or a value that it rejects, is ERROR_CONFIG naming the setting.
 */
rd_kafka_conf_t *kafka_conf_new(const struct kafka_config *config,
				const char *client_id, struct error *err);

/* Checks, for a program's validate, that the topic of live events is none of
 * the others, whose readers would take live events for theirs.
 * ERROR_CONFIG. */
int kafka_check_live(const struct kafka_config *config, struct error *err);

/* Sets one librdkafka property; `setting` names the setting in the error. */
int kafka_conf_set(rd_kafka_conf_t *conf, const char *setting, const char *name,
		   const char *value, struct error *err);

/* Sets `count` properties, each a name and a value, whatever kafka.options
 * say. */
int kafka_conf_set_all(rd_kafka_conf_t *conf, const char *const properties[][2],
		       size_t count, struct error *err);

/* Returns true if kafka.options name that property. */
bool kafka_option_is_given(const struct kafka_config *config, const char *name);

/* Returns a list of one partition; the caller destroys it. */
rd_kafka_topic_partition_list_t *
kafka_one_partition(const char *topic, int32_t partition, int64_t offset);

/* Sets the retriable error "kafka: topic <topic>: <reason>"; returns -1. */
int kafka_set_topic_error(const char *topic, rd_kafka_resp_err_t code,
			  struct error *err);

/* Asks the brokers how many partitions the topic has. */
int kafka_count_partitions(rd_kafka_t *rk, const char *topic, int timeout_ms,
			   uint32_t *ret_count, struct error *err);

/*
 * Called when the brokers go away or come back, and when the reason changes.
 * The state starts as down and is first reported within a few seconds.
 * `reason` is NULL when up.  Runs on the producer's own threads, one call at a
 * time.
 */
typedef void kafka_state_fn(void *arg, bool up, const char *reason);

#endif
