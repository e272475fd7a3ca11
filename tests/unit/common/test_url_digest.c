#include "tests/unit/unit.h"

#include <sodium.h>
#include <string.h>

#include "common/url_digest.h"

/* printf 'https://example.org/' | sha256sum | cut -c 1-32 */
#define EXAMPLE "8198d1bac40a1033653a78e48800cefc"

static void expect_digest(const char *url, const char *digest)
{
	struct buf out = {0};

	url_digest_put(&out, url, strlen(url));
	assert_string_equal(buf_cstr(&out), digest);
	buf_free(&out);
}

static void it_is_the_first_half_of_the_sha_256(void **state)
{
	static const char url[] = "https://example.org/";
	unsigned char digest[URL_DIGEST_SIZE];
	char text[URL_DIGEST_TEXT];

	(void)state;
	url_digest(url, strlen(url), digest);
	sodium_bin2hex(text, sizeof(text), digest, sizeof(digest));
	assert_string_equal(text, EXAMPLE);
	assert_true(url_digest_is(text, strlen(text)));
}

static void forms_of_a_url_have_one_digest(void **state)
{
	(void)state;
	expect_digest("https://example.org/", EXAMPLE);
	expect_digest("HTTPS://Example.ORG./", EXAMPLE);
	expect_digest("https://example.org:/", EXAMPLE);
}

static void digests_are_told_from_urls(void **state)
{
	static const char *const others[] = {
		"",
		"https://example.org/abcdefabcdef",
		"8198D1BAC40A1033653A78E48800CEFC",
		"8198d1bac40a1033653a78e48800cef",
		"8198d1bac40a1033653a78e48800cefc0",
		"8198d1bac40a1033653a78e48800cefg",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (url_digest_is(others[i], strlen(others[i])))
			fail_msg("%s", others[i]);
}

/* A link from elsewhere may have a URL that the allocator refuses. */
static void a_refused_url_is_stored_as_a_uri(void **state)
{
	struct buf out = {0};

	(void)state;
	url_put_stored(&out, "http://a..b/x y", 15);
	assert_string_equal(buf_cstr(&out), "http://a..b/x%20y");
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_first_half_of_the_sha_256),
		cmocka_unit_test(forms_of_a_url_have_one_digest),
		cmocka_unit_test(digests_are_told_from_urls),
		cmocka_unit_test(a_refused_url_is_stored_as_a_uri),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
