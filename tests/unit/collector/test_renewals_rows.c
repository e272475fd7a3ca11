#include "tests/unit/unit.h"

#include <string.h>

#include "collector/side/renewals_rows.h"
#include "common/clickhouse/rowbinary.h"
#include "schemas/renewal.pb-c.h"

enum {
	PACKED_MAX = 200000
};

static int append_packed(struct buf *rows, size_t *count, const void *record,
			 size_t len, struct error *err)
{
	return renewals_kind.append(rows, count, record, len, err);
}

static int append_renewals(struct buf *rows, size_t *count,
			   const Shortloop__Renewals *m, struct error *err)
{
	static uint8_t packed[PACKED_MAX];

	assert_true(shortloop__renewals__get_packed_size(m) <= sizeof(packed));
	return append_packed(rows, count, packed,
			     shortloop__renewals__pack(m, packed), err);
}

/* A message whose lists are `count` long. */
static Shortloop__Renewals make_renewals(uint64_t *ids, uint32_t *versions,
					 uint64_t *ends, size_t count)
{
	Shortloop__Renewals m;

	shortloop__renewals__init(&m);
	m.n_link_ids = m.n_versions = m.n_ends_ms = count;
	m.link_ids = ids;
	m.versions = versions;
	m.ends_ms = ends;
	return m;
}

static void is_refused(const Shortloop__Renewals *m, const char *text)
{
	struct buf rows = {0};
	struct error err = {0};
	size_t count = 7;

	assert_int_equal(append_renewals(&rows, &count, m, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_string_equal(err.text, text);
	assert_int_equal(rows.len, 0);
	assert_int_equal(count, 7);
	buf_free(&rows);
}

/* Numbers at 2^31, 2^53 and 2^63 stay what they are; a time beyond what the
 * column can have becomes its last one. */
static void each_renewal_becomes_a_row(void **state)
{
	uint64_t ids[] = {1, UINT64_C(1) << 53 | 1, UINT64_MAX};
	uint32_t versions[] = {0, UINT32_C(1) << 31, UINT32_MAX};
	uint64_t ends[] = {1, UINT64_C(1800000000123), INT64_MAX};
	Shortloop__Renewals m = make_renewals(ids, versions, ends, 3);
	struct buf rows = {0}, want = {0};
	struct error err = {0};
	size_t count = 2;

	(void)state;
	assert_int_equal(append_renewals(&rows, &count, &m, &err), 0);
	assert_int_equal(count, 5);
	ends[2] = UINT64_C(10413791999000);
	for (size_t i = 0; i < 3; i++) {
		rowbinary_u64(&want, ids[i]);
		rowbinary_u32(&want, versions[i]);
		rowbinary_u64(&want, ends[i]);
	}
	assert_int_equal(rows.len, want.len);
	assert_int_equal(rows.len, 3 * RENEWALS_ROW_SIZE);
	assert_memory_equal(rows.data, want.data, want.len);
	buf_free(&rows);
	buf_free(&want);
}

/* Field 15 is from a newer redirector than this collector. */
static void what_a_later_redirector_adds_changes_nothing(void **state)
{
	uint64_t ids[] = {5}, ends[] = {9};
	uint32_t versions[] = {3};
	Shortloop__Renewals m = make_renewals(ids, versions, ends, 1);
	struct buf rows = {0};
	struct error err = {0};
	uint8_t packed[64];
	size_t len = shortloop__renewals__pack(&m, packed), count = 0;

	(void)state;
	memcpy(packed + len, "\x78\x07", 2);
	assert_int_equal(append_packed(&rows, &count, packed, len + 2, &err),
			 0);
	assert_int_equal(count, 1);
	assert_int_equal(rows.len, RENEWALS_ROW_SIZE);
	buf_free(&rows);
}

static void what_no_redirector_sends_is_refused(void **state)
{
	uint64_t ids[] = {1, 2}, ends[] = {3, 4};
	uint32_t versions[] = {5, 6};
	Shortloop__Renewals m = make_renewals(ids, versions, ends, 2);

	(void)state;
	m.n_versions = 1;
	is_refused(&m, "not renewals: of 2 links, 1 versions and 2 ends");
	m.n_versions = 2;
	m.n_ends_ms = 0;
	is_refused(&m, "not renewals: of 2 links, 2 versions and 0 ends");
	m.n_ends_ms = 2;
	ends[1] = 0;
	is_refused(&m, "not renewals: link 2 until 0 ms");
	ends[1] = 4;
	ids[0] = 0;
	is_refused(&m, "not renewals: link 0 until 3 ms");
	m = make_renewals(ids, versions, ends, 0);
	is_refused(&m, "not renewals: of 0 links");
}

static void a_record_has_a_bounded_number_of_renewals(void **state)
{
	static uint64_t ids[RENEWALS_ROWS_MAX + 1];
	static uint64_t ends[RENEWALS_ROWS_MAX + 1];
	static uint32_t versions[RENEWALS_ROWS_MAX + 1];
	Shortloop__Renewals m =
		make_renewals(ids, versions, ends, RENEWALS_ROWS_MAX + 1);
	struct buf rows = {0};
	struct error err = {0};
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i <= RENEWALS_ROWS_MAX; i++)
		ids[i] = ends[i] = 1;
	is_refused(&m, "not renewals: of 10001 links");
	m = make_renewals(ids, versions, ends, RENEWALS_ROWS_MAX);
	assert_int_equal(append_renewals(&rows, &count, &m, &err), 0);
	assert_int_equal(count, RENEWALS_ROWS_MAX);
	buf_free(&rows);
}

static void what_is_no_message_is_refused(void **state)
{
	struct buf rows = {0};
	struct error err = {0};
	size_t count = 0;

	(void)state;
	assert_int_equal(append_packed(&rows, &count, "\xff", 1, &err), -1);
	assert_string_equal(err.text, "not a protobuf message");
	assert_int_equal(rows.len, 0);
	buf_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_renewal_becomes_a_row),
		cmocka_unit_test(what_a_later_redirector_adds_changes_nothing),
		cmocka_unit_test(what_no_redirector_sends_is_refused),
		cmocka_unit_test(a_record_has_a_bounded_number_of_renewals),
		cmocka_unit_test(what_is_no_message_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
