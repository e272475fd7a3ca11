#include "tests/unit/unit.h"

#include <string.h>

#include "collector/side/counters_row.h"
#include "common/clickhouse/rowbinary.h"
#include "schemas/counters.pb-c.h"

#define HOUR_AT UINT64_C(1800000000000) /* a whole hour, ms since 1970 */

static char instance[] = "here:8080", edge[] = "edge-1";

static Shortloop__RedirectorCounters make_valid_counters(void)
{
	Shortloop__RedirectorCounters m;

	shortloop__redirector_counters__init(&m);
	m.boot = 7;
	m.instance = instance;
	m.edge = edge;
	m.started_ms = HOUR_AT - 1;
	m.sequence = 3;
	m.hour_ms = HOUR_AT;
	m.until_ms = HOUR_AT + 60000;
	/* Each counter has the number of its column as its value. */
	m.redirected = 1;
	m.not_found = 2;
	m.expired = 3;
	m.blocked = 4;
	m.head = 5;
	m.silent = 6;
	m.produced = 7;
	m.refused = 8;
	m.acknowledged = 9;
	m.undelivered = 10;
	m.spooled = 11;
	m.replayed = 12;
	m.withheld = 13;
	return m;
}

static int append_record(struct buf *rows, const void *record, size_t len,
			 struct error *err)
{
	size_t count = 0;
	int status = counters_kind.append(rows, &count, record, len, err);

	assert_int_equal(count, status == 0);
	return status;
}

static int append_counters(struct buf *rows,
			   const Shortloop__RedirectorCounters *m,
			   struct error *err)
{
	uint8_t packed[2048];
	size_t len = shortloop__redirector_counters__get_packed_size(m);

	assert_true(len <= sizeof(packed));
	shortloop__redirector_counters__pack(m, packed);
	return append_record(rows, packed, len, err);
}

static void is_refused(const Shortloop__RedirectorCounters *m, const char *text)
{
	struct buf rows = {0};
	struct error err = {0};

	assert_int_equal(append_counters(&rows, m, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_string_equal(err.text, text);
	assert_int_equal(rows.len, 0);
	buf_free(&rows);
}

static void a_record_becomes_a_row_in_the_order_of_columns(void **state)
{
	Shortloop__RedirectorCounters m = make_valid_counters();
	struct buf rows = {0}, want = {0};
	struct error err = {0};

	(void)state;
	m.ended = 1;
	assert_int_equal(append_counters(&rows, &m, &err), 0);
	rowbinary_u32(&want, (uint32_t)(HOUR_AT / 1000));
	rowbinary_u64(&want, 7);
	rowbinary_u64(&want, 3);
	rowbinary_string(&want, instance, strlen(instance));
	rowbinary_string(&want, edge, strlen(edge));
	rowbinary_u64(&want, HOUR_AT - 1);
	rowbinary_u64(&want, HOUR_AT + 60000);
	rowbinary_u8(&want, 1);
	rowbinary_u8(&want, 0);
	for (uint64_t i = 1; i <= 13; i++)
		rowbinary_u64(&want, i);
	assert_int_equal(rows.len, want.len);
	assert_memory_equal(rows.data, want.data, want.len);
	buf_free(&rows);
	buf_free(&want);
}

/* Field 99 is from a newer redirector than this collector. */
static void what_a_later_redirector_adds_changes_nothing(void **state)
{
	Shortloop__RedirectorCounters m = make_valid_counters();
	struct buf rows = {0}, with = {0};
	struct error err = {0};
	uint8_t packed[2048];
	size_t len = shortloop__redirector_counters__pack(&m, packed);

	(void)state;
	assert_int_equal(append_counters(&rows, &m, &err), 0);
	memcpy(packed + len, "\x98\x06\x07", 3);
	assert_int_equal(append_record(&with, packed, len + 3, &err), 0);
	assert_int_equal(with.len, rows.len);
	assert_memory_equal(with.data, rows.data, rows.len);
	buf_free(&rows);
	buf_free(&with);
}

static void what_no_redirector_sends_is_refused(void **state)
{
	Shortloop__RedirectorCounters m = make_valid_counters();
	static char empty[] = "";

	(void)state;
	m.boot = 0;
	is_refused(&m, "not counters: without boot or sequence");
	m = make_valid_counters();
	m.hour_ms++;
	is_refused(&m, "not counters: hour 1800000000001 ms");
	m = make_valid_counters();
	m.until_ms = UINT64_MAX;
	is_refused(&m, "not counters: from 1799999999999 ms until "
		       "18446744073709551615 ms");
	m = make_valid_counters();
	m.instance = empty;
	is_refused(&m, "not counters: whose they are");
	m = make_valid_counters();
	m.head = UINT64_MAX;
	is_refused(&m, "not counters: 18446744073709551615 of one hour");
}

static void any_other_bytes_are_refused(void **state)
{
	struct buf rows = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(append_record(&rows, "\xff", 1, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_int_equal(append_record(&rows, "", 0, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_int_equal(rows.len, 0);
	buf_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_record_becomes_a_row_in_the_order_of_columns),
		cmocka_unit_test(what_a_later_redirector_adds_changes_nothing),
		cmocka_unit_test(what_no_redirector_sends_is_refused),
		cmocka_unit_test(any_other_bytes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
