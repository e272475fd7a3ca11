#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stack/clickhouse/coding.h"
#include "stack/clickhouse/failure.h"

#define BIG (3 * 1024 * 1024)

static const enum coding all[] = {CODING_GZIP, CODING_DEFLATE, CODING_ZSTD,
				  CODING_LZ4};
#define ALL_COUNT (sizeof(all) / sizeof(all[0]))

/* Returns bytes that compress a little, so that every decoder takes several
 * steps. */
static char *make_bytes(size_t len)
{
	char *bytes = malloc(len);
	uint32_t x = 1;

	assert_non_null(bytes);
	for (size_t i = 0; i < len; i++) {
		x = x * 1664525 + 1013904223;
		bytes[i] = i % 1000 < 500 ? (char)(x >> 24) : 0;
	}
	return bytes;
}

static struct buf encode_body(enum coding coding, const char *data, size_t len)
{
	struct buf out = {0};
	struct error err = {0};

	assert_int_equal(coding_encode(coding, data, len, &out, &err), 0);
	return out;
}

static int decode_body(enum coding coding, const struct buf *in, size_t max,
		       struct buf *out)
{
	struct error err = {0};

	if (coding_decode(coding, in->data, in->len, max, out, &err) == 0)
		return 0;
	return failure_code_of(err.text);
}

static void what_was_encoded_decodes_to_itself(void **state)
{
	char *bytes = make_bytes(BIG);

	(void)state;
	for (size_t i = 0; i < ALL_COUNT; i++) {
		struct buf packed = encode_body(all[i], bytes, BIG),
			   plain = {0};

		assert_true(packed.len < BIG);
		assert_int_equal(decode_body(all[i], &packed, BIG, &plain), 0);
		assert_int_equal(plain.len, BIG);
		assert_memory_equal(plain.data, bytes, BIG);
		buf_free(&packed);
		buf_free(&plain);
	}
	free(bytes);
}

static void frames_in_a_row_are_one_body(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL_COUNT; i++) {
		struct buf a = encode_body(all[i], "ab", 2), plain = {0};
		struct buf b = encode_body(all[i], "cd", 2);

		buf_append(&a, b.data, b.len);
		assert_int_equal(decode_body(all[i], &a, 100, &plain), 0);
		assert_int_equal(plain.len, 4);
		assert_memory_equal(plain.data, "abcd", 4);
		buf_free(&a);
		buf_free(&b);
		buf_free(&plain);
	}
}

static void a_body_cut_short_anywhere_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL_COUNT; i++) {
		struct buf packed =
			encode_body(all[i], "hello, hello, hello", 19);
		size_t whole = packed.len;

		for (packed.len = 1; packed.len < whole; packed.len++) {
			struct buf plain = {0};

			assert_int_equal(
				decode_body(all[i], &packed, 100, &plain),
				FAILURE_CANNOT_DECOMPRESS);
			buf_free(&plain);
		}
		buf_free(&packed);
	}
}

static void a_body_that_grows_beyond_the_bound_is_refused(void **state)
{
	char *zeros = calloc(1, BIG);

	(void)state;
	assert_non_null(zeros);
	for (size_t i = 0; i < ALL_COUNT; i++) {
		struct buf packed = encode_body(all[i], zeros, BIG),
			   plain = {0};

		assert_int_equal(decode_body(all[i], &packed, BIG - 1, &plain),
				 FAILURE_QUERY_IS_TOO_LARGE);
		assert_true(plain.len < 2 * BIG);
		buf_free(&packed);
		buf_free(&plain);
	}
	free(zeros);
}

static void bytes_of_no_encoding_are_refused(void **state)
{
	struct buf junk = {0};

	(void)state;
	buf_puts(&junk, "this is none of them, by any reading of it");
	for (size_t i = 0; i < ALL_COUNT; i++) {
		struct buf plain = {0};

		assert_int_equal(decode_body(all[i], &junk, 1000, &plain),
				 FAILURE_CANNOT_DECOMPRESS);
		buf_free(&plain);
	}
	buf_free(&junk);
}

static enum coding choose_coding(const char *list)
{
	return coding_accepted(list, strlen(list));
}

static void a_client_gets_an_encoding_that_it_takes(void **state)
{
	(void)state;
	assert_int_equal(choose_coding("gzip, deflate"), CODING_GZIP);
	assert_int_equal(choose_coding("br;q=1.0, zstd;q=0.5"), CODING_ZSTD);
	assert_int_equal(choose_coding("lz4"), CODING_LZ4);
	assert_int_equal(choose_coding("gzip;q=0, deflate"), CODING_DEFLATE);
	assert_int_equal(choose_coding("br"), CODING_IDENTITY);
	assert_int_equal(choose_coding(""), CODING_IDENTITY);
	assert_int_equal(coding_accepted(NULL, 0), CODING_IDENTITY);
}

static void an_encoding_is_known_by_its_name(void **state)
{
	(void)state;
	assert_int_equal(coding_named("GZIP", 4), CODING_GZIP);
	assert_int_equal(coding_named(NULL, 0), CODING_IDENTITY);
	assert_int_equal(coding_named("br", 2), CODING_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_encoded_decodes_to_itself),
		cmocka_unit_test(frames_in_a_row_are_one_body),
		cmocka_unit_test(a_body_cut_short_anywhere_is_refused),
		cmocka_unit_test(a_body_that_grows_beyond_the_bound_is_refused),
		cmocka_unit_test(bytes_of_no_encoding_are_refused),
		cmocka_unit_test(a_client_gets_an_encoding_that_it_takes),
		cmocka_unit_test(an_encoding_is_known_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
