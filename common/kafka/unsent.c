#include "common/kafka/unsent.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/drop_const.h"

enum {
	CLOSE_US = 5, /* between two readings of the clock */
	TRIES = 10,
};

static void copy_bytes(char *to, const void *from, size_t len)
{
	if (len)
		memcpy(to, from, len);
}

static int64_t now_us(void)
{
	return clock_monotonic_ns() / 1000;
}

/* Returns when the message was given to librdkafka, which only reports its age.
 * The age is read again if the thread had to wait meanwhile. */
static int64_t given_us(const rd_kafka_message_t *m)
{
	int64_t before, ago, now = now_us();
	int tries = 0;

	do {
		before = now;
		ago = rd_kafka_message_latency(m);
		now = now_us();
	} while (now - before > CLOSE_US && ++tries < TRIES);
	return before - ago;
}

static struct unsent_message *copy_of(const rd_kafka_message_t *m)
{
	struct unsent_message *copy =
		calloc(1, sizeof(*copy) + m->key_len + m->len);
	rd_kafka_headers_t *headers;

	if (!copy)
		return NULL;
	copy->given_us = given_us(m);
	copy->opaque = m->_private;
	copy->has_key = m->key;
	copy->key_len = m->key_len;
	copy->len = m->len;
	copy_bytes(copy->bytes, m->key, m->key_len);
	copy_bytes(copy->bytes + m->key_len, m->payload, m->len);
	if (rd_kafka_message_headers(m, &headers) == 0)
		copy->headers = rd_kafka_headers_copy(headers);
	return copy;
}

static bool has_room(struct unsent *u)
{
	size_t size = u->size ? 2 * u->size : 64;
	struct unsent_message **items;

	if (u->count < u->size)
		return true;
	items = realloc(u->items, size * sizeof(*items));
	if (!items)
		return false;
	u->items = items;
	u->size = size;
	return true;
}

bool unsent_keep(struct unsent *u, const rd_kafka_message_t *m)
{
	struct unsent_message *copy = has_room(u) ? copy_of(m) : NULL;

	if (!copy)
		return false;
	copy->number = u->count;
	u->items[u->count++] = copy;
	return true;
}

static int compare_unsent_messages(const void *a, const void *b)
{
	const struct unsent_message *x = *(struct unsent_message *const *)a;
	const struct unsent_message *y = *(struct unsent_message *const *)b;

	if (x->given_us != y->given_us)
		return x->given_us < y->given_us ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

void unsent_sort(struct unsent *u)
{
	if (u->count)
		qsort(u->items, u->count, sizeof(struct unsent_message *),
		      compare_unsent_messages);
}

static const void *key_of(const struct unsent_message *m)
{
	return m->has_key ? m->bytes : NULL;
}

const void *unsent_payload(const struct unsent_message *m)
{
	return m->bytes + m->key_len;
}

rd_kafka_resp_err_t unsent_produce(const struct unsent_message *m,
				   rd_kafka_t *rk, rd_kafka_topic_t *topic)
{
	rd_kafka_headers_t *headers =
		m->headers ? rd_kafka_headers_copy(m->headers) : NULL;
	rd_kafka_resp_err_t code;

	code = rd_kafka_producev(
		rk, RD_KAFKA_V_RKT(topic),
		RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
		RD_KAFKA_V_KEY(drop_const(key_of(m)), m->key_len),
		RD_KAFKA_V_VALUE(drop_const(unsent_payload(m)), m->len),
		RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(m->opaque),
		RD_KAFKA_V_END);
	/* On success the message owns the headers. */
	if (code && headers)
		rd_kafka_headers_destroy(headers);
	return code;
}

static void message_free(struct unsent_message *m)
{
	if (m->headers)
		rd_kafka_headers_destroy(m->headers);
	free(m);
}

void unsent_clear(struct unsent *u)
{
	for (size_t i = 0; i < u->count; i++)
		message_free(u->items[i]);
	free(u->items);
	*u = (struct unsent){0};
}
