#include "common/kafka/record.h"

void kafka_record_fill(struct kafka_record *record, rd_kafka_message_t *m)
{
	rd_kafka_timestamp_type_t type;

	*record = (struct kafka_record){
		.topic = rd_kafka_topic_name(m->rkt),
		.partition = m->partition,
		.offset = m->offset,
		.time_ms = rd_kafka_message_timestamp(m, &type),
		.key = m->key,
		.key_len = m->key_len,
		.payload = m->payload,
		.len = m->len,
		.message = m,
	};
}

void kafka_record_release(struct kafka_record *record)
{
	rd_kafka_message_destroy(record->message);
	record->message = NULL;
}

const char *kafka_record_header(const struct kafka_record *record,
				const char *name)
{
	rd_kafka_headers_t *headers;
	const void *value;
	size_t size;

	if (!record->message ||
	    rd_kafka_message_headers(record->message, &headers) ||
	    rd_kafka_header_get_last(headers, name, &value, &size))
		return NULL;
	return value;
}
