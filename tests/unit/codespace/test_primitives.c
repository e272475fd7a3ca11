/* The parts of codes: SipHash, the permutation, alphabets, link ids. */
#include "tests/unit/unit.h"

#include <endian.h>
#include <sodium.h>
#include <string.h>

#include "codespace/alphabet.h"
#include "codespace/digits.h"
#include "codespace/feistel.h"
#include "codespace/link_id.h"
#include "codespace/siphash.h"

static struct siphash key_of(const unsigned char bytes[16])
{
	uint64_t k[2];

	memcpy(k, bytes, sizeof(k));
	return siphash_key(le64toh(k[0]), le64toh(k[1]));
}

static uint64_t hash_by_libsodium(const unsigned char key[16], uint64_t message)
{
	uint64_t le = htole64(message), hash;

	crypto_shorthash((unsigned char *)&hash, (const unsigned char *)&le, 7,
			 key);
	return le64toh(hash);
}

static void siphash_2_4_is_libsodiums(void **state)
{
	unsigned char key[16];
	uint64_t message;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		randombytes_buf(key, sizeof(key));
		randombytes_buf(&message, sizeof(message));
		message &= (UINT64_C(1) << 56) - 1;
		assert_true(siphash_7(key_of(key), message, 2, 4) ==
			    hash_by_libsodium(key, message));
	}
}

static void the_prepared_siphash_is_siphash_1_3(void **state)
{
	uint64_t mask = (UINT64_C(1) << 56) - (UINT64_C(1) << 32);
	unsigned char key[16];
	uint64_t message;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		randombytes_buf(key, sizeof(key));
		randombytes_buf(&message, sizeof(message));
		message &= (UINT64_C(1) << 56) - 1;
		assert_true(siphash_1_3_of_7(siphash_prepare(key_of(key),
							     message & mask),
					     message & mask, message & ~mask) ==
			    siphash_7(key_of(key), message, 1, 3));
	}
}

/* The vectors are from the paper's appendix A and its reference code: key 00 01
 * .. 0f, message 00 01 .. of 7 bytes. */
static void siphash_2_4_meets_the_published_vectors(void **state)
{
	unsigned char key[16];

	(void)state;
	for (unsigned char i = 0; i < 16; i++)
		key[i] = i;
	assert_true(siphash_7(key_of(key), UINT64_C(0x06050403020100), 2, 4) ==
		    UINT64_C(0xab0200f58b01d137));
}

/* The permutation exactly as its header defines it. */
static struct feistel_parts by_definition(const unsigned char key[16],
					  const struct feistel *f,
					  uint64_t number)
{
	struct feistel_parts p = {number / f->right_size,
				  number % f->right_size, 0};
	uint64_t low = 0;

	for (uint64_t i = 0; i < 6; i++) {
		uint64_t *to = i % 2 ? &p.right : &p.left;
		uint64_t size = i % 2 ? f->right_size : f->left_size;
		uint64_t from = i % 2 ? p.left : p.right;
		uint64_t hash = siphash_7(key_of(key), from | i << 32, 1, 3);

		*to = (*to + (uint64_t)((unsigned __int128)hash * size >> 64)) %
		      size;
		if (i == 3 || i == 4)
			low += hash & 0xffff;
	}
	p.tag = low % 65536 * f->tags / 65536;
	return p;
}

static void assert_permutes(uint64_t left, uint64_t right)
{
	static const unsigned char key[16] = "sixteen bytes!!";
	uint64_t number = left * right - 1, back;
	struct feistel f;

	feistel_init(&f, left, right, 15, key);
	for (int i = 0; i < 10000; i++) {
		struct feistel_parts p = feistel_permute(&f, number);
		struct feistel_parts q = by_definition(key, &f, number);

		assert_true(p.left == q.left && p.right == q.right &&
			    p.tag == q.tag);
		assert_true(p.left < left && p.right < right && p.tag < 15);
		assert_true(feistel_invert(&f, p, &back) && back == number);
		p.tag = (p.tag + 1) % 15;
		assert_false(feistel_invert(&f, p, &back));
		number = p.left * right + p.right;
	}
}

static void the_permutation_stays_in_its_domain_and_comes_back(void **state)
{
	static const uint64_t sizes[] = {
		62, 57, 62 * 62, 62 * 62 * 62, 185193, 14776336, 916132832};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_permutes(sizes[i], sizes[i]);
		assert_permutes(62, sizes[i]);
	}
	assert_permutes(UINT64_C(1) << 31, UINT64_C(1) << 32);
}

static void an_alphabet_has_every_symbol_once(void **state)
{
	static const unsigned char seed[ALPHABET_SEED] = {1, 2, 3};
	static const unsigned sizes[] = {62, 57};

	(void)state;
	for (int n = 0; n < 2; n++) {
		unsigned seen[256] = {0}, digits = 0;
		struct alphabet a;

		alphabet_shuffled(&a, sizes[n], seed);
		for (unsigned i = 0; i < sizes[n]; i++) {
			seen[(unsigned char)a.symbols[i]]++;
			assert_int_equal(a.digits[(unsigned char)a.symbols[i]],
					 i);
		}
		for (int c = 0; c < 256; c++) {
			assert_true(seen[c] <= 1);
			digits += a.digits[c] != ALPHABET_NONE;
		}
		assert_int_equal(digits, sizes[n]);
	}
}

static void assert_digits(unsigned base, unsigned count)
{
	uint64_t size = 1, back = 0;
	struct alphabet plain;
	struct digits d;
	char text[6];

	alphabet_plain(&plain, base);
	digits_init(&d, &plain);
	for (unsigned i = 0; i < count; i++)
		size *= base;
	for (uint64_t n = 0; n < size;
	     n += n + 100 < size ? size / 99991 + 1 : 1) {
		uint64_t rest = n;

		digits_put(&d, n, count, text);
		for (unsigned i = count; i-- > 0; rest /= base)
			assert_int_equal(text[i], plain.symbols[rest % base]);
		assert_true(digits_get(&d, text, count, &back) && back == n);
	}
	for (unsigned i = 0; i < count; i++) {
		char was = text[i];

		text[i] = '-';
		assert_false(digits_get(&d, text, count, &back));
		text[i] = was;
	}
}

static void digits_are_written_and_read_in_any_number(void **state)
{
	(void)state;
	for (unsigned count = 1; count <= DIGITS_MAX; count++) {
		assert_digits(62, count);
		assert_digits(57, count);
	}
}

static void the_clear_alphabet_has_no_look_alikes(void **state)
{
	struct alphabet a;

	(void)state;
	alphabet_plain(&a, ALPHABET_CLEAR);
	for (const char *c = "0O1lI"; *c; c++)
		assert_int_equal(a.digits[(unsigned char)*c], ALPHABET_NONE);
}

static void another_seed_shuffles_otherwise(void **state)
{
	unsigned char seed[ALPHABET_SEED] = {1, 2, 3};
	struct alphabet a, b;

	(void)state;
	alphabet_shuffled(&a, ALPHABET_SIZE, seed);
	seed[31] = 1;
	alphabet_shuffled(&b, ALPHABET_SIZE, seed);
	assert_memory_not_equal(a.symbols, b.symbols, ALPHABET_SIZE);
}

static void assert_same(const struct link_id_parts *a,
			const struct link_id_parts *b)
{
	assert_int_equal(a->space, b->space);
	assert_int_equal(a->generation, b->generation);
	assert_int_equal(a->id, b->id);
}

static void a_link_id_unpacks_to_its_parts(void **state)
{
	struct link_id_parts parts = {62, LINK_GENERATION_MAX, LINK_ID_MAX};
	struct link_id_parts back;
	uint64_t link_id;
	struct error err;

	(void)state;
	assert_int_equal(link_id_pack(&parts, &link_id, &err), 0);
	assert_true(link_id < UINT64_C(1) << 63);
	back = link_id_unpack(link_id);
	assert_same(&back, &parts);
	parts = (struct link_id_parts){1, 1, 0};
	assert_int_equal(link_id_pack(&parts, &link_id, &err), 0);
	back = link_id_unpack(link_id);
	assert_same(&back, &parts);
}

static void a_link_id_without_a_block_is_told_from_others(void **state)
{
	struct link_id_parts parts = {62, LINK_GENERATION_MAX, LINK_ID_MAX};
	uint64_t most = (UINT64_C(1) << 57) - 1, with_block;
	struct error err;

	(void)state;
	assert_true(link_id_blockless(most) == INT64_MAX);
	assert_true(link_id_blockless(0) == UINT64_C(63) << 57);
	assert_true(link_id_is_blockless(link_id_blockless(0)));
	assert_int_equal(link_id_pack(&parts, &with_block, &err), 0);
	assert_false(link_id_is_blockless(with_block));
}

static void parts_that_do_not_fit_are_refused(void **state)
{
	static const struct link_id_parts bad[] = {
		{0, 1, 1}, {63, 1, 1},	  {64, 1, 1},
		{1, 0, 1}, {1, 32768, 1}, {1, 1, LINK_ID_MAX + 1},
	};
	uint64_t link_id;
	struct error err;

	(void)state;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(link_id_pack(&bad[i], &link_id, &err), -1);
		assert_int_equal(err.code, ERROR_INPUT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(siphash_2_4_is_libsodiums),
		cmocka_unit_test(siphash_2_4_meets_the_published_vectors),
		cmocka_unit_test(the_prepared_siphash_is_siphash_1_3),
		cmocka_unit_test(
			the_permutation_stays_in_its_domain_and_comes_back),
		cmocka_unit_test(digits_are_written_and_read_in_any_number),
		cmocka_unit_test(an_alphabet_has_every_symbol_once),
		cmocka_unit_test(the_clear_alphabet_has_no_look_alikes),
		cmocka_unit_test(another_seed_shuffles_otherwise),
		cmocka_unit_test(a_link_id_unpacks_to_its_parts),
		cmocka_unit_test(a_link_id_without_a_block_is_told_from_others),
		cmocka_unit_test(parts_that_do_not_fit_are_refused),
	};

	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
