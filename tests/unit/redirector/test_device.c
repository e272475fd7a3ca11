#include "tests/unit/unit.h"

#include <string.h>

#include "linkstore/visit/visit_device.h"

#define IOS	SHORTLOOP__DEVICE__DEVICE_IOS
#define ANDROID SHORTLOOP__DEVICE__DEVICE_ANDROID
#define ANY	SHORTLOOP__DEVICE__DEVICE_ANY

static void expect_system(Shortloop__Device want, const char *user_agent)
{
	struct http_slice slice = {user_agent, strlen(user_agent)};

	assert_int_equal(device_of(slice).system, want);
}

static void is_in(enum in_app want, Shortloop__Device system,
		  const char *user_agent)
{
	struct http_slice slice = {user_agent, strlen(user_agent)};

	assert_int_equal(device_of(slice).in_app, want);
	expect_system(system, user_agent);
}

static void phones_and_tablets_are_told(void **state)
{
	(void)state;
	expect_system(
		IOS,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) "
		"AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1");
	expect_system(IOS, "Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X)");
	expect_system(
		IOS,
		"Mozilla/5.0 (iPod touch; CPU iPhone OS 12_0 like Mac OS X)");
	expect_system(ANDROID,
		      "Mozilla/5.0 (Linux; Android 14; Pixel 8) "
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
	/* The mark belongs to another app. */
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
	/* This browser has the name of an app. */
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

static void a_system_that_names_others_is_none_of_them(void **state)
{
	(void)state;
	expect_system(
		ANY,
		"Mozilla/5.0 (Mobile; Windows Phone 8.1; Android 4.0; ARM; "
		"like iPhone OS 7_0_3)");
	expect_system(ANY, "Mozilla/5.0 (Mobile; LYF/F300B; Android; rv:48.0) "
			   "Gecko/48.0 Firefox/48.0 KAIOS/2.5");
	expect_system(ANY, "AppleCoreMedia/1.0 (Apple Watch; U; CPU OS 5_0 "
			   "like Mac OS X)");
}

/* Names of devices are free text, so they may contain anything. */
static void android_comes_before_ios(void **state)
{
	(void)state;
	expect_system(ANDROID,
		      "Mozilla/5.0 (Linux; U; Android 2.2; OliPad 100) Mobile");
	expect_system(ANDROID,
		      "Mozilla/5.0 (Linux; Android 4.1.5; iPhone5) Mobile");
	expect_system(IOS,
		      "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) "
		      "Mobile/15E148 Outlook-iOS-Android/1.0");
}

/* An iPad that requests desktop sites sends this. */
static void browsers_of_ios_are_told_where_they_say_macintosh(void **state)
{
#define MAC                                                                    \
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) "                     \
	"AppleWebKit/605.1.15 "
	(void)state;
	expect_system(
		IOS,
		MAC "(KHTML, like Gecko) CriOS/120 Version/11.1.1 Safari/605");
	expect_system(
		IOS,
		MAC "(KHTML, like Gecko) EdgiOS/125 Version/13.0.3 Safari/605");
	expect_system(IOS,
		      MAC "(KHTML, like Gecko) FxiOS/130.0 Safari/605.1.15");
	expect_system(IOS,
		      MAC "(KHTML, like Gecko) OPiOS/16.0.15 Safari/9537.53");
	expect_system(IOS, MAC "(KHTML, like Gecko) GSA/330.0 Safari/604.1");
	expect_system(IOS, MAC
		      "(KHTML, like Gecko) Version/17.4 OPT/4.6 Safari/605");
	expect_system(IOS, MAC "(KHTML, like Gecko) Mobile/15E148");
	expect_system(ANY,
		      MAC "(KHTML, like Gecko) Version/17.5 Safari/605.1.15");
	expect_system(
		ANY,
		MAC "(KHTML, like Gecko) Chrome/130.0 Safari/537.36 Edg/130.0");
	/* The app exists for Android, too. */
	expect_system(ANY, "Mozilla/5.0 (X11; Linux x86_64) GSA/330.0");
#undef MAC
}

static void harmonyos_has_no_apps_of_android(void **state)
{
	(void)state;
	expect_system(ANY,
		      "Mozilla/5.0 (Phone; OpenHarmony 5.0) AppleWebKit/537.36 "
		      "Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1 Mobile");
	/* Versions up to 4 have Android apps. */
	expect_system(ANDROID,
		      "Mozilla/5.0 (Linux; Android 12; HarmonyOS; NOH-AN00; "
		      "HMSCore 6.14.0) HuaweiBrowser/15 Mobile Safari/537.36");
}

static void apps_that_fetch_with_apples_library_are_told(void **state)
{
	(void)state;
	expect_system(IOS, "Pinterest/3356 CFNetwork/711.0.6 Darwin/14.0.0");
	expect_system(IOS, "ViaFree-DK/3.8.3 (com.MTGx.ViaFree.dk; build:7383; "
			   "iOS 12.1.0)");
	expect_system(ANY,
		      "Safari/7536 CFNetwork/520.5.1 Darwin/11.4.2 (i386)");
	expect_system(ANY, "App/1 CFNetwork/1474 Darwin/23.0.0 (x86_64)");
	expect_system(ANY, "a robot that reads of iOS apps");
}

static void others_are_any(void **state)
{
	(void)state;
	expect_system(ANY, "");
	expect_system(ANY, "curl/8.5.0");
	expect_system(
		ANY,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605");
	expect_system(ANY, "iPhon");
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
		cmocka_unit_test(a_system_that_names_others_is_none_of_them),
		cmocka_unit_test(android_comes_before_ios),
		cmocka_unit_test(
			browsers_of_ios_are_told_where_they_say_macintosh),
		cmocka_unit_test(harmonyos_has_no_apps_of_android),
		cmocka_unit_test(apps_that_fetch_with_apples_library_are_told),
		cmocka_unit_test(others_are_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
