/* Codes derived from URLs. */
#include "tests/unit/codespace/keys.h"

#include <string.h>

#include "codespace/url_code.h"

#define URL "https://example.com/"

static struct url_codes *open_codes(unsigned length, unsigned base)
{
	struct error err;
	struct url_codes *uc = url_codes_new(length, base, &keys[0], &err);

	if (!uc)
		fail_msg("%s", err.text);
	return uc;
}

static void candidate(const struct url_codes *uc, const char *owner,
		      const char *url, unsigned attempt,
		      char code[URL_CODE_TEXT_MAX])
{
	struct error err;

	if (url_code_candidate(uc, owner, url, strlen(url), attempt, code,
			       &err))
		fail_msg("%s", err.text);
}

/*
 * Computed with Python, whose hashlib has BLAKE2b (that crypto_kdf is made of)
 * and MD5:
 *
 *	domain = f"shortloop urlcode {length} {len(symbols)} {version}"
 *	master = blake2b(domain.encode() + b"\0" + secret, digest_size=32)
 *	salt = blake2b(b"", key=master.digest(), digest_size=32,
 *		       salt=struct.pack("<QQ", 5, 0),
 *		       person=b"shortlp1" + bytes(8))
 *	sum = md5(salt.digest() + struct.pack("<I", attempt // 4) +
 *		  owner + b"\0" + url)
 *	quarter = struct.unpack("<4I", sum.digest())[attempt % 4]
 *	number = quarter * len(symbols) ** length >> 32
 *
 * and number written in base len(symbols).
 */
static void codes_are_those_of_another_implementation(void **state)
{
	static const struct {
		unsigned length, base;
		const char *owner, *url;
		unsigned attempt;
		const char *code;
	} known[] = {
		{6, 62, "acme", URL, 0, "E3EmNH"},
		{6, 62, "acme", URL, 1, "8ZXMmP"},
		{6, 62, "acme", URL, 3, "Wjmj0x"},
		{6, 62, "acme", URL, 4, "6Plwus"},
		{6, 62, "", URL, 0, "RjSSB5"},
		{1, 62, "acme", URL, 0, "6"},
		{8, 62, "acme", URL, 7, "TaIVCog9"},
		{8, 57, "acme", URL, 0, "JWjwoo4W"},
		{5, 57, "acme", "", 2, "dcpWe"},
	};
	char code[URL_CODE_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct url_codes *uc =
			open_codes(known[i].length, known[i].base);

		candidate(uc, known[i].owner, known[i].url, known[i].attempt,
			  code);
		url_codes_free(uc);
		assert_string_equal(code, known[i].code);
	}
}

static void the_same_url_of_an_owner_gets_the_same_code(void **state)
{
	struct url_codes *a = open_codes(7, 62), *b = open_codes(7, 62);
	char x[URL_CODE_TEXT_MAX], y[URL_CODE_TEXT_MAX];

	(void)state;
	for (unsigned attempt = 0; attempt < 20; attempt++) {
		candidate(a, "acme", URL, attempt, x);
		candidate(b, "acme", URL, attempt, y);
		assert_string_equal(x, y);
	}
	url_codes_free(a);
	url_codes_free(b);
}

static void another_owner_url_secret_or_attempt_gets_another(void **state)
{
	struct url_codes *uc = open_codes(8, 62), *other;
	char codes[8][URL_CODE_TEXT_MAX];
	struct error err;

	(void)state;
	candidate(uc, "acme", URL, 0, codes[0]);
	candidate(uc, "acmf", URL, 0, codes[1]);
	candidate(uc, "", "acme" URL, 0, codes[2]);
	candidate(uc, "acmeh", "ttps://example.com/", 0, codes[3]);
	candidate(uc, "acme", URL "?", 0, codes[4]);
	candidate(uc, "acme", URL, 1, codes[5]);
	candidate(uc, "acme", URL, 4, codes[6]);
	other = url_codes_new(8, 62, &keys[1], &err);
	candidate(other, "acme", URL, 0, codes[7]);
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(codes[i], codes[j]);
	url_codes_free(uc);
	url_codes_free(other);
}

/* Every place of every length: `% base` favours nobody, `& 62` would. */
static void assert_even(unsigned length, unsigned base)
{
	struct url_codes *uc = open_codes(length, base);
	unsigned count[URL_CODE_LENGTH_MAX][128] = {{0}};
	char code[URL_CODE_TEXT_MAX], url[32];

	for (unsigned i = 0; i < 1000 * base; i++) {
		snprintf(url, sizeof(url), "https://x.example/%u", i / 4);
		candidate(uc, "", url, i % 4, code);
		assert_true(url_code_fits(uc, code, strlen(code)));
		for (unsigned place = 0; place < length; place++)
			count[place][(int)code[place]]++;
	}
	/* 1000 expected, standard deviation 32. */
	for (unsigned place = 0; place < length; place++) {
		unsigned symbols = 0;

		for (int c = 0; c < 128; c++) {
			if (!count[place][c])
				continue;
			assert_in_range(count[place][c], 800, 1200);
			symbols++;
		}
		assert_int_equal(symbols, base);
	}
	url_codes_free(uc);
}

static void every_symbol_is_as_likely_in_every_place(void **state)
{
	(void)state;
	assert_even(1, 62);
	assert_even(5, 62);
	assert_even(8, 62);
	assert_even(8, 57);
}

static void what_cannot_be_a_code_does_not_fit(void **state)
{
	struct url_codes *uc = open_codes(5, 57);

	(void)state;
	assert_true(url_code_fits(uc, "abcde", 5));
	assert_false(url_code_fits(uc, "abcd", 4));
	assert_false(url_code_fits(uc, "abcdef", 6));
	assert_false(url_code_fits(uc, "abcd0", 5));
	assert_false(url_code_fits(uc, "ab-de", 5));
	assert_false(url_code_fits(uc, "abcd\xff", 5));
	url_codes_free(uc);
}

static void wrong_settings_are_refused_with_a_reason(void **state)
{
	struct codespace_key weak = {0, "fifteen bytes..", 15};
	struct error err = {0};

	(void)state;
	assert_null(url_codes_new(0, 62, &keys[0], &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_null(url_codes_new(9, 62, &keys[0], &err));
	assert_null(url_codes_new(6, 64, &keys[0], &err));
	err.code = ERROR_NONE;
	assert_null(url_codes_new(6, 62, &weak, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
}

static void fingerprints_tell_spaces_apart(void **state)
{
	struct url_codes *a = open_codes(6, 62), *b = open_codes(6, 57);

	(void)state;
	assert_int_equal(strlen(url_codes_fingerprint(a)), 16);
	assert_string_not_equal(url_codes_fingerprint(a),
				url_codes_fingerprint(b));
	url_codes_free(a);
	url_codes_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_are_those_of_another_implementation),
		cmocka_unit_test(the_same_url_of_an_owner_gets_the_same_code),
		cmocka_unit_test(
			another_owner_url_secret_or_attempt_gets_another),
		cmocka_unit_test(every_symbol_is_as_likely_in_every_place),
		cmocka_unit_test(what_cannot_be_a_code_does_not_fit),
		cmocka_unit_test(wrong_settings_are_refused_with_a_reason),
		cmocka_unit_test(fingerprints_tell_spaces_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
