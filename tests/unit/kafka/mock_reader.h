/*
 * mock_reader.h - a reader of stretches at the mock broker.
 */
#ifndef TESTS_UNIT_KAFKA_MOCK_READER_H
#define TESTS_UNIT_KAFKA_MOCK_READER_H

#include "tests/unit/mock_kafka.h"
#include "tests/unit/unit.h"

#include "common/kafka/reader.h"

static inline struct kafka_reader *
mock_reader_new(rd_kafka_mock_cluster_t *mock)
{
	struct mock_kafka_config made;
	struct error err = {0};
	struct kafka_reader *r;

	mock_kafka_configure(mock, &made);
	r = kafka_reader_new(&made.config, "test", "g", &err);
	if (!r)
		fail_msg("%s", err.text);
	return r;
}

/* Returns what kafka_reader_next does; the record itself is released. */
static inline int mock_reader_next(struct kafka_reader *r, struct error *err)
{
	struct kafka_record record;
	int status = kafka_reader_next(r, &record, err);

	if (status == 1)
		kafka_record_release(&record);
	return status;
}

/* Takes the next record, which must be the one at that offset. */
static inline void mock_reader_take(struct kafka_reader *r, int64_t offset)
{
	struct kafka_record record;
	struct error err = {0};
	int status = kafka_reader_next(r, &record, &err);

	if (status < 0)
		fail_msg("%s", err.text);
	assert_int_equal(status, 1);
	assert_int_equal(record.offset, offset);
	kafka_record_release(&record);
}

#endif
