#include "collector/dead_letters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kafka/producer.h"
#include "common/kafka/reader.h"
#include "common/kafka/record.h"

#define KEY_SIZE 256

struct dead_letters {
	struct kafka_producer *producer;
	size_t letter_max; /* largest event of a letter, in bytes */
	struct metric *lost;
	struct log *log;
};

/* A letter on its way to Kafka. */
struct letter {
	atomic_uint *given_up;
	int32_t partition;
	int64_t offset;
	char topic[];
};

static struct letter *letter_new(const struct kafka_record *record,
				 atomic_uint *given_up)
{
	size_t len = strlen(record->topic) + 1;
	struct letter *l = malloc(sizeof(*l) + len);

	if (!l)
		return NULL;
	l->given_up = given_up;
	l->partition = record->partition;
	l->offset = record->offset;
	memcpy(l->topic, record->topic, len);
	return l;
}

/* Keys are codes of links; a key that cannot be a code is not kept. */
static bool key_text(const struct kafka_record *record, char key[KEY_SIZE])
{
	if (!record->key || record->key_len >= KEY_SIZE ||
	    memchr(record->key, '\0', record->key_len))
		return false;
	memcpy(key, record->key, record->key_len);
	key[record->key_len] = '\0';
	return true;
}

/* A retry is useless: the event would be too large again. */
static void drop_oversized_event(struct dead_letters *d, const char *topic,
				 int32_t partition, int64_t offset)
{
	metric_add(d->lost, 1);
	log_error(d->log, "event is too large for the dead letters",
		  log_str("topic", topic), log_int("partition", partition),
		  log_int("offset", offset));
}

static void on_delivery(void *arg, void *opaque, const struct error *err)
{
	struct letter *l = opaque;

	if (err && err->code == ERROR_INPUT)
		drop_oversized_event(arg, l->topic, l->partition, l->offset);
	else if (err)
		atomic_fetch_add(l->given_up, 1);
	free(l);
}

struct dead_letters *dead_letters_new(const struct kafka_config *config,
				      size_t queue_bytes,
				      struct metrics *metrics,
				      struct metric *lost, struct log *log,
				      struct error *err)
{
	struct dead_letters *d = calloc(1, sizeof(*d));
	struct kafka_producer_options options = {
		.client_id = "shortloop-collector-dlq",
		.topic = config->topic_dlq,
		.compression = "lz4",
		.linger = 5,
		/* No timeout: the brokers will come back. */
		.delivery_timeout = 0,
		.any_size = true,
		.queue_bytes = (int64_t)queue_bytes,
		.on_delivery = on_delivery,
		.arg = d,
	};

	if (!d) {
		error_set_nomem(err);
		return NULL;
	}
	/* A letter that fills the queue alone may never find room there. */
	d->letter_max = queue_bytes / 4;
	d->lost = lost;
	d->log = log;
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
		     const char *reason, atomic_uint *given_up,
		     struct error *err)
{
	char partition[16], offset[24], key[KEY_SIZE];
	struct kafka_header headers[6] = {
		{"topic", record->topic},
		{"partition", partition},
		{"offset", offset},
		{"reason", reason},
	};
	size_t count = 4;
	const char *replays = kafka_record_header(record, LETTER_REPLAYS);
	struct letter *l;

	if (record->len > d->letter_max) {
		drop_oversized_event(d, record->topic, record->partition,
				     record->offset);
		return 0;
	}
	l = letter_new(record, given_up);
	if (!l)
		return error_set_nomem(err);
	snprintf(partition, sizeof(partition), "%d", (int)record->partition);
	snprintf(offset, sizeof(offset), "%lld", (long long)record->offset);
	if (replays)
		headers[count++] =
			(struct kafka_header){LETTER_REPLAYS, replays};
	if (key_text(record, key))
		headers[count++] = (struct kafka_header){LETTER_KEY, key};
	if (kafka_produce_headers(d->producer, record->payload, record->len,
				  headers, count, l, err) == 0)
		return 0;
	free(l);
	return -1;
}

int dead_letters_flush(struct dead_letters *d, int64_t timeout_ms,
		       struct error *err)
{
	if (kafka_producer_flush(d->producer, timeout_ms, err) < 0)
		return error_wrap(err, "dead letters");
	return 0;
}
