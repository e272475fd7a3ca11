/*
 * kafka.h - settings shared by producers and consumers, and one-off questions.
 */
#ifndef COMMON_KAFKA_KAFKA_H
#define COMMON_KAFKA_KAFKA_H

#include <librdkafka/rdkafka.h>
#include <stdint.h>

#include "common/config/setting.h"
#include "common/error.h"

struct kafka_config {
	struct setting_strings brokers; /* host:port */
	char *security_protocol; /* plaintext | ssl | sasl_plaintext | sasl_ssl
				  */
	char *sasl_mechanism;
	char *sasl_username;
	char *sasl_password; /* secret */
	char *ssl_ca_file;
	struct setting_strings options; /* "name=value" passed to librdkafka */
};
extern const struct setting_section kafka_section; /* "kafka" */

/* A librdkafka configuration with the settings above.  The caller owns it until
 * it is given to rd_kafka_new. */
rd_kafka_conf_t *kafka_conf_new(const struct kafka_config *config,
				const char *client_id, struct error *err);

/* Makes a topic unless it is there.  `settings`: "key=value" strings, ended by
 * NULL.  Waits up to timeout_ms. */
int kafka_topic_create(const struct kafka_config *config, const char *topic,
		       int partitions, int replication,
		       const char *const *settings, int64_t timeout_ms,
		       struct error *err);

#endif
