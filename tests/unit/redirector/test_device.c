#include "tests/unit/unit.h"

#include <string.h>

#include "redirector/device.h"

#define IOS	SHORTLOOP__DEVICE__DEVICE_IOS
#define ANDROID SHORTLOOP__DEVICE__DEVICE_ANDROID
#define ANY	SHORTLOOP__DEVICE__DEVICE_ANY

static void is(Shortloop__Device want, const char *user_agent)
{
	struct http_slice slice = {user_agent, strlen(user_agent)};

	assert_int_equal(device_of(slice).system, want);
}

static void is_in(enum in_app want, Shortloop__Device system,
		  const char *user_agent)
{
	struct http_slice slice = {user_agent, strlen(user_agent)};

	assert_int_equal(device_of(slice).in_app, want);
	is(system, user_agent);
}

static void phones_and_tablets_are_told(void **state)
{
	(void)state;
	is(IOS, "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) "
		"AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1");
	is(IOS, "Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X)");
	is(IOS, "Mozilla/5.0 (iPod touch; CPU iPhone OS 12_0 like Mac OS X)");
	is(ANDROID, "Mozilla/5.0 (Linux; Android 14; Pixel 8) "
		    "AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36");
}

static void wechat_is_told_and_what_it_runs_on(void **state)
{
	(void)state;
	is_in(IN_APP_WECHAT, IOS,
	      "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) "
	      "Mobile/15E148 MicroMessenger/8.0.49 NetType/WIFI");
	is_in(IN_APP_WECHAT, ANDROID,
	      "Mozilla/5.0 (Linux; Android 13; V2148A) Mobile "
	      "Safari/537.36 XWEB/5317 MicroMessenger/8.0.40.2420");
	is_in(IN_APP_WECHAT, ANY,
	      "Mozilla/5.0 (Windows NT 10.0) MicroMessenger/6.8.0");
	is_in(IN_APP_WECHAT, ANY,
	      "Mozilla/5.0 (Macintosh) MicroMessenger/6.8.0(0x16080000) "
	      "MacWechat/3.8.7");
}

static void a_page_of_a_mini_program_is_told(void **state)
{
	(void)state;
	is_in(IN_APP_MINI_PROGRAM, ANDROID,
	      "Mozilla/5.0 (Linux; Android 14; Pixel 8) MicroMessenger/8.0.49 "
	      "MiniProgramEnv/android miniProgram/wx0123456789abcdef");
	is_in(IN_APP_MINI_PROGRAM, IOS,
	      "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0) "
	      "miniProgram MicroMessenger/8.0.49");
	/* Of another app. */
	is_in(IN_APP_NONE, ANDROID, "Android miniProgram");
}

static void other_apps_with_windows_of_their_own_are_told(void **state)
{
	(void)state;
	is_in(IN_APP_QQ, IOS,
	      "Mozilla/5.0 (iPhone; CPU iPhone OS 16_0 like Mac OS X) "
	      "QQ/8.9.28.635 V1_IPH_SQ_8.9.28_1_APP_A NetType/WIFI");
	is_in(IN_APP_WEIBO, IOS,
	      "Mozilla/5.0 (iPhone; CPU iPhone OS 15_1 like Mac OS X) "
	      "Weibo (iPhone13,2__weibo__12.1.0__iphone__os15.1)");
	is_in(IN_APP_ALIPAY, ANDROID,
	      "Mozilla/5.0 (Linux; U; Android 12) Nebula "
	      "AlipayDefined(nt:WIFI) AliApp(AP/10.3.0) AlipayClient/10.3.0");
	/* A browser that is named after one. */
	is_in(IN_APP_NONE, ANDROID,
	      "Mozilla/5.0 (Linux; Android 12) MQQBrowser/13.6 Mobile");
}

static void each_app_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < IN_APPS; i++)
		assert_true(in_app_name((enum in_app)i)[0]);
	assert_string_equal(in_app_name(IN_APP_MINI_PROGRAM), "mini-program");
}

static void a_word_that_is_cut_off_is_none(void **state)
{
	static const char text[] = "MicroMessenger";
	struct http_slice cut = {text, sizeof(text) - 2};

	(void)state;
	assert_int_equal(device_of(cut).in_app, IN_APP_NONE);
	cut.len++;
	assert_int_equal(device_of(cut).in_app, IN_APP_WECHAT);
}

static void ios_comes_before_android(void **state)
{
	(void)state;
	is(IOS, "Mozilla/5.0 (Mobile; Windows Phone 8.1; Android 4.0; ARM; "
		"like iPhone OS 7_0_3)");
}

static void others_are_any(void **state)
{
	(void)state;
	is(ANY, "");
	is(ANY, "curl/8.5.0");
	is(ANY, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605");
	is(ANY, "iPhon");
	assert_int_equal(device_of((struct http_slice){0}).system, ANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phones_and_tablets_are_told),
		cmocka_unit_test(wechat_is_told_and_what_it_runs_on),
		cmocka_unit_test(a_page_of_a_mini_program_is_told),
		cmocka_unit_test(other_apps_with_windows_of_their_own_are_told),
		cmocka_unit_test(each_app_has_a_name),
		cmocka_unit_test(a_word_that_is_cut_off_is_none),
		cmocka_unit_test(ios_comes_before_android),
		cmocka_unit_test(others_are_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
