#include "tests/unit/unit.h"

#include <string.h>

#include "common/spool/spool_record.h"

static const struct spool_record one = {7, 1800000000123, true, "first", 5};
static const struct spool_record two = {8, -1, false, "the second", 10};

static void put_both(struct buf *out)
{
	spool_record_put(out, &one);
	spool_record_put(out, &two);
	assert_false(out->failed);
	assert_int_equal(out->len, 2 * SPOOL_HEADER_SIZE + 15);
}

static void is_record(const struct spool_record *found,
		      const struct spool_record *want)
{
	assert_int_equal(found->number, want->number);
	assert_int_equal(found->time_ms, want->time_ms);
	assert_int_equal(found->maybe_sent, want->maybe_sent);
	assert_int_equal(found->len, want->len);
	assert_memory_equal(found->data, want->data, want->len);
}

static void records_are_found_one_behind_the_other(void **state)
{
	struct buf bytes = {0};
	struct spool_record found;
	size_t used, more;

	(void)state;
	put_both(&bytes);
	assert_true(
		spool_record_find(bytes.data, bytes.len, false, &found, &used));
	is_record(&found, &one);
	assert_true(spool_record_find(bytes.data + used, bytes.len - used,
				      false, &found, &more));
	is_record(&found, &two);
	assert_int_equal(used + more, bytes.len);
	buf_free(&bytes);
}

/* More bytes are requested while more may come; half a record at the end is no
 * record. */
static void a_record_that_is_cut_at_any_byte_is_none(void **state)
{
	struct buf bytes = {0};
	struct spool_record found;
	size_t used, size = SPOOL_HEADER_SIZE + 5;

	(void)state;
	put_both(&bytes);
	for (size_t len = 1; len < size; len++) {
		assert_false(spool_record_find(bytes.data, len, false, &found,
					       &used));
		/* No byte of it is skipped. */
		assert_int_equal(used, 0);
		assert_false(spool_record_find(bytes.data, len, true, &found,
					       &used));
		assert_int_equal(used, len);
	}
	buf_free(&bytes);
}

static void a_flipped_bit_costs_its_record_alone(void **state)
{
	struct buf bytes = {0};
	struct spool_record found;
	size_t used, size = SPOOL_HEADER_SIZE + 5;

	(void)state;
	put_both(&bytes);
	for (size_t bit = 0; bit < 8 * size; bit++) {
		char *byte = &bytes.data[bit / 8];
		const char flip = (char)(1 << bit % 8);

		*byte = (char)(*byte ^ flip);
		assert_true(spool_record_find(bytes.data, bytes.len, false,
					      &found, &used));
		is_record(&found, &two);
		assert_int_equal(used, bytes.len);
		*byte = (char)(*byte ^ flip);
	}
	buf_free(&bytes);
}

/* Strangers write the payloads: bytes in them that look like a record are not
 * one, even if the record around them is damaged. */
static void nothing_within_a_payload_is_a_record(void **state)
{
	struct buf inner = {0}, bytes = {0};
	struct spool_record outer = {1, 2, false, NULL, 0}, found;
	size_t used;

	(void)state;
	spool_record_put(&inner, &one);
	outer.data = inner.data;
	outer.len = inner.len;
	spool_record_put(&bytes, &outer);
	bytes.data[bytes.len - 1] ^= 1;
	assert_false(
		spool_record_find(bytes.data, bytes.len, true, &found, &used));
	buf_free(&inner);
	buf_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_found_one_behind_the_other),
		cmocka_unit_test(a_record_that_is_cut_at_any_byte_is_none),
		cmocka_unit_test(a_flipped_bit_costs_its_record_alone),
		cmocka_unit_test(nothing_within_a_payload_is_a_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
