#include "collector/dead_letters.h"

#include <stdio.h>
#include <stdlib.h>

struct dead_letters {
	struct kafka_producer *producer;
};

static void on_delivery(void *arg, void *opaque, const struct error *err)
{
	atomic_bool *failed = opaque;

	(void)arg;
	if (err)
		atomic_store(failed, true);
}

struct dead_letters *dead_letters_new(const struct kafka_config *config,
				      struct metrics *metrics,
				      struct error *err)
{
	struct kafka_producer_options options = {
		.client_id = "shortloop-collector-dlq",
		.topic = config->topic_dlq,
		.compression = "lz4",
		.linger = 5,
		.delivery_timeout = 0, /* never: the brokers will be back */
		.on_delivery = on_delivery,
	};
	struct dead_letters *d = calloc(1, sizeof(*d));

	if (!d) {
		error_set_nomem(err);
		return NULL;
	}
	d->producer = kafka_producer_new(config, &options, metrics, err);
	if (d->producer)
		return d;
	free(d);
	return NULL;
}

void dead_letters_free(struct dead_letters *d)
{
	if (!d)
		return;
	kafka_producer_free(d->producer);
	free(d);
}

int dead_letters_put(struct dead_letters *d, const struct kafka_record *record,
		     const char *reason, atomic_bool *failed, struct error *err)
{
	char partition[16], offset[24];
	const struct kafka_header headers[] = {
		{"topic", record->topic},
		{"partition", partition},
		{"offset", offset},
		{"reason", reason},
	};

	snprintf(partition, sizeof(partition), "%d", (int)record->partition);
	snprintf(offset, sizeof(offset), "%lld", (long long)record->offset);
	return kafka_produce_headers(
		d->producer, record->payload, record->len, headers,
		sizeof(headers) / sizeof(*headers), failed, err);
}

int dead_letters_flush(struct dead_letters *d, int64_t timeout_ms,
		       struct error *err)
{
	if (kafka_producer_flush(d->producer, timeout_ms, err) < 0)
		return error_wrap(err, "dead letters");
	return 0;
}
