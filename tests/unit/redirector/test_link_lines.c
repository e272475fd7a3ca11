#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "redirector/link_lines.h"

static void are_formed(const struct redirect_form *form, const char *url,
		       const char *want)
{
	struct buf out = {0};
	struct error err;

	assert_int_equal(link_lines_put(&out, form, url, &err), 0);
	assert_int_equal(out.len, strlen(want));
	assert_memory_equal(out.data, want, out.len);
	buf_free(&out);
}

static void are_lines(int status, const char *url, const char *want)
{
	const struct redirect_form form = {.status = status};

	are_formed(&form, url, want);
}

static void is_refused(const char *url)
{
	const struct redirect_form form = {.status = 302};
	struct buf out = {0};
	struct error err;

	assert_int_equal(link_lines_put(&out, &form, url, &err), -1);
	assert_int_equal(err.code, ERROR_PROTOCOL);
	assert_int_equal(out.len, 0);
	buf_free(&out);
}

static void a_passing_redirect_is_asked_for_every_time(void **state)
{
	(void)state;
	are_lines(302, "https://a.example/",
		  "Location: https://a.example/\r\n"
		  "Cache-Control: private, max-age=0\r\n");
	are_lines(307, "https://a.example/",
		  "Location: https://a.example/\r\n"
		  "Cache-Control: private, max-age=0\r\n");
}

static void a_permanent_one_gets_its_caching_later(void **state)
{
	(void)state;
	are_lines(301, "https://a.example/",
		  "Location: https://a.example/\r\n");
	are_lines(308, "https://a.example/",
		  "Location: https://a.example/\r\n");
}

static void a_redirect_by_device_says_so(void **state)
{
	const struct redirect_form form = {.status = 302, .varies = true},
				   permanent = {.status = 301, .varies = true};

	(void)state;
	are_formed(&form, "https://a.example/",
		   "Location: https://a.example/\r\n"
		   "Vary: User-Agent\r\n"
		   "Cache-Control: private, max-age=0\r\n");
	are_formed(&permanent, "https://a.example/",
		   "Location: https://a.example/\r\n"
		   "Vary: User-Agent\r\n");
}

static void a_counted_redirect_is_never_kept(void **state)
{
	static const int statuses[] = {302, 301, 307, 308};

	(void)state;
	for (int i = 0; i < 4; i++) {
		const struct redirect_form form = {.status = statuses[i],
						   .counted = true};

		are_formed(&form, "https://a.example/",
			   "Location: https://a.example/\r\n"
			   "Cache-Control: no-store\r\n");
	}
}

static void a_url_cannot_end_its_line(void **state)
{
	(void)state;
	is_refused("");
	is_refused("https://a.example/\r\nSet-Cookie: a=b");
	is_refused("https://a.example/\n");
	is_refused("https://a.example/\x7f");
}

/* A record may be from before, or from elsewhere. */
static void a_url_goes_out_as_a_uri(void **state)
{
	(void)state;
	are_lines(301, "http://x.example/\xe8\xb7\xaf\xe5\xbe\x84 {1}?a=|%",
		  "Location: http://x.example/%E8%B7%AF%E5%BE%84%20%7B1%7D"
		  "?a=%7C%25\r\n");
	are_lines(301, "http://M\xc3\xbcnchen.example/",
		  "Location: http://xn--mnchen-3ya.example/\r\n");
	are_lines(301, "http://x.example/%e8?a=%25#b",
		  "Location: http://x.example/%e8?a=%25#b\r\n");
}

static void are_no_landing(const char *open, const char *fallback)
{
	struct buf out = {0};
	struct error err;

	assert_int_equal(link_lines_put_landing(&out, open, fallback, &err),
			 -1);
	assert_int_equal(err.code, ERROR_PROTOCOL);
	assert_int_equal(out.len, 0);
	buf_free(&out);
}

static void a_page_has_what_it_opens_and_its_fallback(void **state)
{
	static const char want[] =
		"myapp://x/%7B7%7D\0https://s.example/%C3%A4";
	struct buf out = {0};
	struct error err;

	(void)state;
	assert_int_equal(link_lines_put_landing(&out, "myapp://x/{7}",
						"https://s.example/\xc3\xa4",
						&err),
			 0);
	assert_int_equal(out.len, sizeof(want));
	assert_memory_equal(out.data, want, sizeof(want));
	buf_free(&out);
}

static void no_page_opens_what_is_dangerous(void **state)
{
	static const char *const urls[] = {
		"javascript:alert(1)",
		"JavaScript:alert(1)",
		"data:text/html,x",
		"vbscript:x",
		"file:///etc/passwd",
		"blob:x",
		"about:blank",
		"intent://x#Intent;end",
		"nothing",
		"",
		" javascript:x",
		"myapp://x\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
		are_no_landing(urls[i], "https://s.example/");
	are_no_landing("myapp://x", "http://s.example/");
	are_no_landing("myapp://x", "javascript:alert(1)");
	are_no_landing("myapp://x", "https://s.example/\r\n");
	are_no_landing("myapp://x", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_passing_redirect_is_asked_for_every_time),
		cmocka_unit_test(a_permanent_one_gets_its_caching_later),
		cmocka_unit_test(a_redirect_by_device_says_so),
		cmocka_unit_test(a_counted_redirect_is_never_kept),
		cmocka_unit_test(a_url_cannot_end_its_line),
		cmocka_unit_test(a_url_goes_out_as_a_uri),
		cmocka_unit_test(a_page_has_what_it_opens_and_its_fallback),
		cmocka_unit_test(no_page_opens_what_is_dangerous),
	};

	return cmocka_run_group_tests_name("responder", tests, NULL, NULL);
}
