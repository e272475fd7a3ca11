#include "tests/unit/unit.h"

#include <string.h>

#include "redirector/device.h"

#define IOS	SHORTLOOP__DEVICE__DEVICE_IOS
#define ANDROID SHORTLOOP__DEVICE__DEVICE_ANDROID
#define WECHAT	SHORTLOOP__DEVICE__DEVICE_WECHAT
#define ANY	SHORTLOOP__DEVICE__DEVICE_ANY

static void is(Shortloop__Device want, const char *user_agent)
{
	struct http_slice slice = {user_agent, strlen(user_agent)};

	assert_int_equal(device_of(slice), want);
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

static void wechat_comes_before_what_it_runs_on(void **state)
{
	(void)state;
	is(WECHAT, "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) "
		   "Mobile/15E148 MicroMessenger/8.0.49 NetType/WIFI");
	is(WECHAT, "Mozilla/5.0 (Linux; Android 13; V2148A) Mobile "
		   "Safari/537.36 MicroMessenger/8.0.40.2420");
	is(WECHAT, "Mozilla/5.0 (Windows NT 10.0) MicroMessenger/6.8.0");
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
	assert_int_equal(device_of((struct http_slice){0}), ANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phones_and_tablets_are_told),
		cmocka_unit_test(wechat_comes_before_what_it_runs_on),
		cmocka_unit_test(ios_comes_before_android),
		cmocka_unit_test(others_are_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
