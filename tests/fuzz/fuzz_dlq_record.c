/*
 * Any headers and bytes as a record of the topic of dead letters: a letter or a
 * mark has a position, and its content is shown as printable ASCII.  Input:
 * each header is two bytes (number, length) and the value; 255 ends the
 * headers; then comes the payload.
 */
#include <librdkafka/rdkafka.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/tools/dlq/dlq_filter.h"
#include "collector/tools/dlq/dlq_record.h"
#include "collector/tools/dlq/positions.h"
#include "common/kafka/record.h"
#include "common/safe_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	PAYLOAD = 255
};

static const char *const names[] = {"topic",	  "partition", "offset",
				    "reason",	  LETTER_KEY,  LETTER_REPLAYS,
				    DLQ_REPLAYED, "other"};
#define NAMES (sizeof(names) / sizeof(names[0]))

/* Replaces librdkafka's function, which needs a message from a broker. */
rd_kafka_resp_err_t rd_kafka_message_headers(const rd_kafka_message_t *message,
					     rd_kafka_headers_t **ret_headers)
{
	*ret_headers = message->_private;
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_headers_t *read_headers(const uint8_t **data, size_t *size)
{
	rd_kafka_headers_t *headers = rd_kafka_headers_new(NAMES);
	const uint8_t *p = *data, *end = p + *size;

	while (end - p >= 2 && *p != PAYLOAD) {
		size_t len = p[1];

		if (len > (size_t)(end - p) - 2)
			len = (size_t)(end - p) - 2;
		rd_kafka_header_add(headers, names[p[0] % NAMES], -1, p + 2,
				    (ssize_t)len);
		p += 2 + len;
	}
	p += p < end;
	*data = p;
	*size = (size_t)(end - p);
	return headers;
}

static void check_shown(const void *bytes, size_t len)
{
	static const size_t sizes[] = {8, 56, 160};
	char text[160];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (safe_text(text, sizes[i], bytes, len) != text ||
		    strlen(text) >= sizes[i])
			abort();
		for (const char *c = text; *c; c++)
			if (*c < ' ' || *c > '~')
				abort();
	}
}

static void check_position(const struct dlq_record *letter)
{
	struct positions seen = {0};
	struct error err;

	if (!letter->topic || !*letter->topic || letter->partition < 0 ||
	    letter->offset > INT64_MAX)
		abort();
	if (positions_add(&seen, letter->topic, letter->partition,
			  letter->offset, &err) != 1 ||
	    !positions_have(&seen, letter->topic, letter->partition,
			    letter->offset))
		abort();
	positions_free(&seen);
	check_shown(letter->topic, strlen(letter->topic));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dlq_filter any = {.from = INT64_MIN, .to = INT64_MAX};
	rd_kafka_headers_t *headers = read_headers(&data, &size);
	rd_kafka_message_t message = {._private = headers};
	struct kafka_record record = {.topic = "dlq",
				      .time_ms = -1,
				      .payload = data,
				      .len = size,
				      .message = &message};
	struct dlq_record letter;

	dlq_record_read(&record, &letter);
	if (dlq_filter_takes(&any, &letter) != (letter.kind == DLQ_LETTER))
		abort();
	if (letter.kind != DLQ_FOREIGN)
		check_position(&letter);
	if (letter.kind == DLQ_LETTER)
		check_shown(letter.reason, strlen(letter.reason));
	check_shown(letter.payload, letter.len);
	rd_kafka_headers_destroy(headers);
	return 0;
}
