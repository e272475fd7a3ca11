#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "redirector/lookup/link_lines.h"

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

/* A record may be from an earlier version, or from another program. */
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

/* Returns a link with targets for these devices; the length of a line gives the
 * device's number. */
static struct cached_link link_with(unsigned devices)
{
	static const char lines[] = "abbcccdddd";
	struct cached_link link = {.lines = {lines, sizeof(lines) - 1}};
	uint32_t end = 0;

	for (unsigned i = 0; i < DEVICES; i++) {
		if (devices & 1U << i)
			end += i + 1;
		link.line_ends[i] = end;
	}
	return link;
}

static void target_is(const struct cached_link *link, Shortloop__Device system,
		      enum in_app in_app, Shortloop__Device want)
{
	const struct device device = {system, in_app};

	assert_int_equal(link_lines_target(link, device), want);
}

#define ANY	SHORTLOOP__DEVICE__DEVICE_ANY
#define IOS	SHORTLOOP__DEVICE__DEVICE_IOS
#define ANDROID SHORTLOOP__DEVICE__DEVICE_ANDROID
#define WECHAT	SHORTLOOP__DEVICE__DEVICE_WECHAT

static void a_device_gets_its_target_or_that_of_all_others(void **state)
{
	const struct cached_link link = link_with(1U << ANY | 1U << IOS);

	(void)state;
	target_is(&link, IOS, IN_APP_NONE, IOS);
	target_is(&link, IOS, IN_APP_QQ, IOS);
	target_is(&link, ANDROID, IN_APP_NONE, ANY);
	target_is(&link, ANY, IN_APP_NONE, ANY);
}

/* WeChat's browser opens no app; a page describes how to leave it. */
static void in_wechat_its_own_target_goes_before_the_systems(void **state)
{
	struct cached_link link =
		link_with(1U << ANY | 1U << IOS | 1U << WECHAT);

	(void)state;
	target_is(&link, IOS, IN_APP_WECHAT, WECHAT);
	target_is(&link, IOS, IN_APP_MINI_PROGRAM, WECHAT);
	target_is(&link, ANDROID, IN_APP_WECHAT, WECHAT);
	target_is(&link, IOS, IN_APP_WEIBO, IOS);
	link = link_with(1U << ANY | 1U << IOS);
	target_is(&link, IOS, IN_APP_WECHAT, ANY);
	target_is(&link, IOS, IN_APP_MINI_PROGRAM, ANY);
	link.landings[IOS] = 1;
	target_is(&link, IOS, IN_APP_WECHAT, IOS);
	target_is(&link, ANDROID, IN_APP_WECHAT, ANY);
}

static void each_target_has_its_own_lines(void **state)
{
	static const char *const want[] = {"a", "bb", "ccc", "dddd"};
	const struct cached_link link = link_with(0xf);

	(void)state;
	for (int i = 0; i < DEVICES; i++) {
		struct http_slice lines =
			link_lines_of(&link, (Shortloop__Device)i);

		assert_int_equal(lines.len, strlen(want[i]));
		assert_memory_equal(lines.data, want[i], lines.len);
	}
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
		cmocka_unit_test(
			a_device_gets_its_target_or_that_of_all_others),
		cmocka_unit_test(
			in_wechat_its_own_target_goes_before_the_systems),
		cmocka_unit_test(each_target_has_its_own_lines),
	};

	return cmocka_run_group_tests_name("responder", tests, NULL, NULL);
}
