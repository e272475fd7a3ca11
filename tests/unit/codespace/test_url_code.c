/* Codes derived from URLs. */
#include "tests/unit/codespace/keys.h"

#include <string.h>

#include "codespace/url_code.h"

#define URL "https://example.com/"

static struct url_codes *open_method(enum url_code_method method,
				     unsigned length, unsigned base)
{
	struct error err;
	struct url_codes *uc =
		url_codes_new(method, length, base, &keys[0], &err);

	if (!uc)
		fail_msg("%s", err.text);
	return uc;
}

static struct url_codes *open_quarters(unsigned length, unsigned base)
{
	return open_method(URL_CODE_MD5_QUARTERS, length, base);
}

static struct url_codes *open_keyed(unsigned length, unsigned base)
{
	return open_method(URL_CODE_KEYED, length, base);
}

static void candidate_of(const struct url_codes *uc, const char *account,
			 const char *owner, const char *url, unsigned attempt,
			 char code[URL_CODE_TEXT_MAX])
{
	const struct url_code_subject of = {account, owner, url, strlen(url)};
	struct error err;

	if (url_code_candidate(uc, &of, attempt, code, &err))
		fail_msg("%s", err.text);
}

static void candidate_of_owner(const struct url_codes *uc, const char *owner,
			       const char *url, unsigned attempt,
			       char code[URL_CODE_TEXT_MAX])
{
	candidate_of(uc, "", owner, url, attempt, code);
}

/*
 * The codes are from Python, whose hashlib has BLAKE2b (the base of crypto_kdf)
 * and MD5:
 *
 *	domain = f"shortloop urlcode {length} {len(symbols)} {version}"
 *	master = blake2b(domain.encode() + b"\0" + secret, digest_size=32)
 *	salt = blake2b(b"", key=master.digest(), digest_size=32,
 *		       salt=struct.pack("<QQ", 5, 0),
 *		       person=b"shortlp1" + bytes(8))
 *	flag = 1 << 31 if account else 0
 *	account = account + b"\0" if account else b""
 *	sum = md5(salt.digest() + struct.pack("<I", attempt // 4 | flag) +
 *		  account + owner + b"\0" + url)
 *	quarter = struct.unpack("<4I", sum.digest())[attempt % 4]
 *	number = quarter * len(symbols) ** length >> 32
 *
 * The code is number, written in base len(symbols).
 */
static void quarters_are_those_of_another_implementation(void **state)
{
	static const struct {
		unsigned length, base;
		const char *account, *owner, *url;
		unsigned attempt;
		const char *code;
	} known[] = {
		{6, 62, "", "acme", URL, 0, "E3EmNH"},
		{6, 62, "", "acme", URL, 1, "8ZXMmP"},
		{6, 62, "", "acme", URL, 3, "Wjmj0x"},
		{6, 62, "", "acme", URL, 4, "6Plwus"},
		{6, 62, "", "", URL, 0, "RjSSB5"},
		{6, 62, "crm", "acme", URL, 0, "MH6v1g"},
		{6, 62, "crm", "acme", URL, 5, "OdyFzg"},
		{8, 57, "crm", "", URL, 0, "Qst2mHMS"},
		{1, 62, "", "acme", URL, 0, "6"},
		{8, 62, "", "acme", URL, 7, "TaIVCog9"},
		{8, 57, "", "acme", URL, 0, "JWjwoo4W"},
		{5, 57, "", "acme", "", 2, "dcpWe"},
	};
	char code[URL_CODE_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct url_codes *uc =
			open_quarters(known[i].length, known[i].base);

		candidate_of(uc, known[i].account, known[i].owner, known[i].url,
			     known[i].attempt, code);
		url_codes_free(uc);
		assert_string_equal(code, known[i].code);
	}
}

/*
 * Keyed codes are from Python's BLAKE2b:
 *
 *	domain = f"shortloop urlcode keyed {length} {len(symbols)} {version}"
 *	master and key are computed like master and salt above
 *	sum = blake2b(struct.pack("<I", attempt) + account + b"\0" + owner +
 *		      b"\0" + url, key=key.digest(), digest_size=16,
 *		      salt=struct.pack("<I12x", attempt // 4))
 *	number = int.from_bytes(sum.digest(), "little") % codes
 *
 * The code is number, written in base len(symbols).
 */
static void keyed_codes_are_those_of_another_implementation(void **state)
{
	static const struct {
		unsigned length, base;
		const char *account, *owner;
		unsigned attempt;
		const char *code;
	} known[] = {
		{5, 62, "", "acme", 0, "NhqZJ"},
		{5, 62, "crm", "acme", 0, "xrEjN"},
		{5, 62, "crm", "acme", 4, "YUs1w"},
		{5, 57, "crm", "", 5, "47Pg7"},
		{1, 62, "", "", 3, "L"},
	};
	char code[URL_CODE_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct url_codes *uc =
			open_keyed(known[i].length, known[i].base);

		candidate_of(uc, known[i].account, known[i].owner, URL,
			     known[i].attempt, code);
		url_codes_free(uc);
		assert_string_equal(code, known[i].code);
	}
}

static void assert_number(unsigned length, unsigned base, const char *account,
			  const char *owner, unsigned attempt, uint64_t want)
{
	const struct codespace_options options = {length, base, &keys[0], 1,
						  "urlcheck"};
	struct url_codes *uc = open_keyed(length, base);
	struct error err;
	struct codespace *cs = codespace_new(&options, &err);
	char code[URL_CODE_TEXT_MAX];
	uint64_t number;

	assert_non_null(cs);
	candidate_of(uc, account, owner, URL, attempt, code);
	assert_true(codespace_decode(cs, code, length, &number, NULL));
	assert_true(number == want);
	url_codes_free(uc);
	codespace_free(cs);
}

static void a_keyed_code_of_six_is_its_number_permuted_and_checked(void **state)
{
	(void)state;
	assert_number(6, 62, "", "acme", 0, 818688361);
	assert_number(8, 57, "crm", "", 7, 1101171002384);
}

static void
a_keyed_code_made_up_is_refused_fourteen_times_in_fifteen(void **state)
{
	static const char symbols[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd"
				      "efghijklmnopqrstuvwxyz";
	struct url_codes *uc = open_keyed(7, 62);
	char code[URL_CODE_TEXT_MAX], url[32];
	unsigned accepted = 0;

	(void)state;
	/* A stranger who knows which characters are checks invents these codes.
	 */
	for (unsigned i = 0; i < 150000; i++) {
		snprintf(url, sizeof(url), "https://x.example/%u", i);
		candidate_of_owner(uc, "", url, 0, code);
		code[i % 6] = symbols[(unsigned)(strchr(symbols, code[i % 6]) -
						 symbols + 1 + i % 61) %
				      62];
		accepted += url_code_fits(uc, code, 7);
	}
	/* 10,000 expected, standard deviation 97. */
	assert_in_range(accepted, 9500, 10500);
	url_codes_free(uc);
}

static void how_many_there_are_is_said(void **state)
{
	static const struct {
		enum url_code_method method;
		unsigned length;
		uint64_t capacity, guesses;
	} known[] = {
		{URL_CODE_KEYED, 5, 916132832, 916132832},
		{URL_CODE_KEYED, 6, 916132832, 13741992480},
		{URL_CODE_KEYED, 8, 3521614606208, 52824219093120},
		{URL_CODE_MD5_QUARTERS, 5, 916132832, 916132832},
		{URL_CODE_MD5_QUARTERS, 6, 4294967296, 4294967296},
		{URL_CODE_MD5_QUARTERS, 8, 4294967296, 4294967296},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct url_codes *uc =
			open_method(known[i].method, known[i].length, 62);

		assert_true(url_codes_capacity(uc) == known[i].capacity);
		assert_true(url_codes_guesses(uc) == known[i].guesses);
		url_codes_free(uc);
	}
}

static void the_same_url_of_an_owner_gets_the_same_code(void **state)
{
	struct url_codes *a = open_keyed(7, 62), *b = open_keyed(7, 62);
	char x[URL_CODE_TEXT_MAX], y[URL_CODE_TEXT_MAX];

	(void)state;
	for (unsigned attempt = 0; attempt < 20; attempt++) {
		candidate_of_owner(a, "acme", URL, attempt, x);
		candidate_of_owner(b, "acme", URL, attempt, y);
		assert_string_equal(x, y);
	}
	url_codes_free(a);
	url_codes_free(b);
}

static void assert_all_differ(enum url_code_method method)
{
	struct url_codes *uc = open_method(method, 8, 62), *other;
	char codes[12][URL_CODE_TEXT_MAX];
	struct error err;

	candidate_of_owner(uc, "acme", URL, 0, codes[0]);
	candidate_of_owner(uc, "acmf", URL, 0, codes[1]);
	candidate_of_owner(uc, "", "acme" URL, 0, codes[2]);
	candidate_of_owner(uc, "acmeh", "ttps://example.com/", 0, codes[3]);
	candidate_of_owner(uc, "acme", URL "?", 0, codes[4]);
	candidate_of_owner(uc, "acme", URL, 1, codes[5]);
	candidate_of_owner(uc, "acme", URL, 4, codes[6]);
	other = url_codes_new(method, 8, 62, &keys[1], &err);
	candidate_of_owner(other, "acme", URL, 0, codes[7]);
	candidate_of(uc, "acme", "", URL, 0, codes[8]);
	candidate_of(uc, "acme", "acme", URL, 0, codes[9]);
	candidate_of(uc, "acmeacme", "", URL, 0, codes[10]);
	candidate_of(uc, "a", "cme", URL, 0, codes[11]);
	for (int i = 0; i < 12; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(codes[i], codes[j]);
	url_codes_free(uc);
	url_codes_free(other);
}

static void
another_account_owner_url_secret_or_attempt_gets_another(void **state)
{
	(void)state;
	assert_all_differ(URL_CODE_KEYED);
	assert_all_differ(URL_CODE_MD5_QUARTERS);
}

/* Every place of every length must be even: `% base` is, `& 62` would not be.
 */
static void assert_even(enum url_code_method method, unsigned length,
			unsigned base)
{
	struct url_codes *uc = open_method(method, length, base);
	bool checked = method == URL_CODE_KEYED && length >= URL_CODE_CHECKED;
	unsigned count[URL_CODE_LENGTH_MAX][128] = {{0}};
	char code[URL_CODE_TEXT_MAX], url[32];

	for (unsigned i = 0; i < 1000 * base; i++) {
		snprintf(url, sizeof(url), "https://x.example/%u", i / 4);
		candidate_of_owner(uc, "", url, i % 4, code);
		assert_true(url_code_fits(uc, code, strlen(code)));
		for (unsigned place = 0; place < length; place++)
			count[place][(int)code[place]]++;
	}
	/* 1000 are expected, standard deviation 32; a check character, which
	 * other tests cover, has more. */
	for (unsigned place = 0; place < length - checked; place++) {
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
	for (int i = 0; i < URL_CODE_METHODS; i++) {
		assert_even((enum url_code_method)i, 1, 62);
		assert_even((enum url_code_method)i, 5, 62);
		assert_even((enum url_code_method)i, 8, 62);
		assert_even((enum url_code_method)i, 8, 57);
	}
}

static void what_cannot_be_a_code_does_not_fit(void **state)
{
	struct url_codes *uc = open_quarters(5, 57);

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
	assert_null(url_codes_new(URL_CODE_KEYED, 0, 62, &keys[0], &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_null(url_codes_new(URL_CODE_KEYED, 9, 62, &keys[0], &err));
	assert_null(url_codes_new(URL_CODE_KEYED, 6, 64, &keys[0], &err));
	err.code = ERROR_NONE;
	assert_null(url_codes_new(URL_CODE_KEYED, 6, 62, &weak, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
}

static void fingerprints_tell_spaces_apart(void **state)
{
	struct url_codes *a = open_keyed(6, 62), *b = open_keyed(6, 57);
	struct url_codes *c = open_quarters(6, 62);

	(void)state;
	assert_int_equal(strlen(url_codes_fingerprint(a)), 16);
	assert_string_not_equal(url_codes_fingerprint(a),
				url_codes_fingerprint(b));
	assert_string_not_equal(url_codes_fingerprint(a),
				url_codes_fingerprint(c));
	url_codes_free(a);
	url_codes_free(b);
	url_codes_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quarters_are_those_of_another_implementation),
		cmocka_unit_test(
			keyed_codes_are_those_of_another_implementation),
		cmocka_unit_test(
			a_keyed_code_of_six_is_its_number_permuted_and_checked),
		cmocka_unit_test(
			a_keyed_code_made_up_is_refused_fourteen_times_in_fifteen),
		cmocka_unit_test(how_many_there_are_is_said),
		cmocka_unit_test(the_same_url_of_an_owner_gets_the_same_code),
		cmocka_unit_test(
			another_account_owner_url_secret_or_attempt_gets_another),
		cmocka_unit_test(every_symbol_is_as_likely_in_every_place),
		cmocka_unit_test(what_cannot_be_a_code_does_not_fit),
		cmocka_unit_test(wrong_settings_are_refused_with_a_reason),
		cmocka_unit_test(fingerprints_tell_spaces_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
