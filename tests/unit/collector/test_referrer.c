#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/enrich/language.h"
#include "collector/enrich/referrer.h"

static struct sources *sources;

static int load_sources(void **state)
{
	struct error err = {0};

	(void)state;
	sources = sources_load(NULL, &err);
	return sources ? 0 : -1;
}

static int free_sources(void **state)
{
	(void)state;
	sources_free(sources);
	return 0;
}

static void assert_referrer(const char *text, const char *host,
			    const char *channel)
{
	struct referrer r;

	referrer_parse(text, strlen(text), "go.example.com", sources, &r);
	assert_string_equal(r.host, host);
	assert_string_equal(r.channel, channel);
}

static void no_referrer_is_direct(void **state)
{
	(void)state;
	assert_referrer("", "", "direct");
}

static void a_host_is_lowered_and_loses_port_and_user(void **state)
{
	(void)state;
	assert_referrer("https://WWW.Example.org:8443/a?b#c", "www.example.org",
			"referral");
	assert_referrer("http://user:pw@example.org/", "example.org",
			"referral");
}

static void an_address_in_brackets_is_a_host(void **state)
{
	(void)state;
	assert_referrer("http://[2001:DB8::1]/", "[2001:db8::1]", "referral");
	assert_referrer("http://me@[::1]:8080?a", "[::1]", "referral");
	assert_referrer("http://[2001:db8::1", "", "unknown");
	assert_referrer("http://[2001:db8::1]x/", "", "unknown");
	assert_referrer("http://[example]/", "", "unknown");
	assert_referrer("http://[]/", "", "unknown");
	assert_referrer("http://[1111:2222:3333:4444:5555:6666:7777:8888:"
			"9999:aaaa:bbbb]/",
			"", "unknown");
}

static void search_engines_are_known_under_any_domain(void **state)
{
	(void)state;
	assert_referrer("https://www.google.co.uk/", "www.google.co.uk",
			"search");
	assert_referrer("https://duckduckgo.com", "duckduckgo.com", "search");
	assert_referrer("https://notgoogle.com/", "notgoogle.com", "referral");
	assert_referrer("https://google/", "google", "referral");
	assert_referrer("https://m.yandex.com.tr/", "m.yandex.com.tr",
			"search");
	assert_referrer("https://de.search.yahoo.co.jp/",
			"de.search.yahoo.co.jp", "search");
}

static void a_site_is_known_with_its_subdomains_only(void **state)
{
	(void)state;
	assert_referrer("https://t.co/x", "t.co", "social");
	assert_referrer("https://l.facebook.com/", "l.facebook.com", "social");
	assert_referrer("https://bt.co/", "bt.co", "referral");
}

/* A label says nothing: the registrable domain's holder gives it. */
static void a_name_counts_within_its_registrable_domain(void **state)
{
	(void)state;
	assert_referrer("https://google.com.evil.com/", "google.com.evil.com",
			"referral");
	assert_referrer("https://t.co.evil.com/", "t.co.evil.com", "referral");
	assert_referrer("https://google.github.io/", "google.github.io",
			"referral");
	assert_referrer("https://google.evil.com/", "google.evil.com",
			"referral");
	assert_referrer("https://google.co.com/", "google.co.com", "referral");
	assert_referrer("https://google.nowhere/", "google.nowhere",
			"referral");
	assert_referrer("https://facebook.example.co.uk/",
			"facebook.example.co.uk", "referral");
	assert_referrer("https://mail.example.org/", "mail.example.org",
			"referral");
}

static void a_search_engine_has_other_services(void **state)
{
	(void)state;
	assert_referrer("https://docs.google.com/document/d/1",
			"docs.google.com", "referral");
	assert_referrer("https://cloud.yandex.ru/", "cloud.yandex.ru",
			"referral");
	assert_referrer("https://www.google.com/", "www.google.com", "search");
	assert_referrer("https://cn.bing.com/", "cn.bing.com", "search");
	assert_referrer("https://www2.bing.com/", "www2.bing.com", "search");
}

static void the_dot_of_a_full_name_is_no_part_of_it(void **state)
{
	(void)state;
	assert_referrer("https://t.co./x", "t.co", "social");
	assert_referrer("https://WWW.Google.com.:443/", "www.google.com",
			"search");
	assert_referrer("https://go.example.com./", "go.example.com",
			"internal");
	assert_referrer("https://./", ".", "referral");
	assert_referrer("https://a../", "a.", "referral");
}

static void empty_labels_in_a_host_are_passed_over(void **state)
{
	(void)state;
	assert_referrer("https://.example.org/", ".example.org", "referral");
	assert_referrer("https://..google.com/", "..google.com", "referral");
}

static void mail_is_told_from_search(void **state)
{
	(void)state;
	assert_referrer("https://mail.google.com/", "mail.google.com", "email");
	assert_referrer("https://e.mail.ru/", "e.mail.ru", "email");
}

static void the_own_domain_is_internal(void **state)
{
	(void)state;
	assert_referrer("https://go.example.com/x", "go.example.com",
			"internal");
}

static void an_app_is_an_app(void **state)
{
	(void)state;
	assert_referrer("android-app://com.google.android.gm/",
			"com.google.android.gm", "app");
	assert_referrer("android-app://org.example.my_app",
			"org.example.my_app", "app");
	/* A package is no host. */
	assert_referrer("android-app://com.google/", "com.google", "app");
	assert_referrer("android-app://t.co/", "t.co", "app");
	assert_referrer("Ios-App://544007664/vnd.youtube", "544007664", "app");
	assert_referrer("xandroid-app://t.co/", "t.co", "social");
}

/* Of the list, which also has a host with capitals. */
static void an_app_that_the_list_has_is_what_it_says(void **state)
{
	static const char list[] =
		"{\"com.google.android.gm\": {\"medium\": \"email\"},"
		"\"com.Example.App\": {\"medium\": \"social\"},"
		"\"Sozluk.com\": {\"medium\": \"social\"}}";
	struct sources *before = sources;
	char path[] = "/tmp/shortloop-sources-XXXXXX";
	struct error err = {0};
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, list, strlen(list)), strlen(list));
	close(fd);
	sources = sources_load(path, &err);
	unlink(path);
	assert_non_null(sources);
	assert_referrer("android-app://com.google.android.gm/",
			"com.google.android.gm", "email");
	assert_referrer("android-app://com.google.android.gm.lite/",
			"com.google.android.gm.lite", "app");
	assert_referrer("android-app://x.com.google.android.gm/",
			"x.com.google.android.gm", "app");
	assert_referrer("android-app://com.example.app", "com.example.app",
			"social");
	assert_referrer("https://www.sozluk.com/a", "www.sozluk.com", "social");
	sources_free(sources);
	sources = before;
}

static void what_is_no_address_is_unknown(void **state)
{
	(void)state;
	assert_referrer("about:blank", "", "unknown");
	assert_referrer("https://", "", "unknown");
	assert_referrer("https://a b/", "", "unknown");
	assert_referrer("https://[::1/", "", "unknown");
}

static void a_host_longer_than_a_name_can_be_is_unknown(void **state)
{
	char text[600] = "https://";
	struct referrer r;

	(void)state;
	memset(text + 8, 'a', 500);
	referrer_parse(text, strlen(text), "", sources, &r);
	assert_string_equal(r.host, "");
	assert_string_equal(r.channel, "unknown");
}

static void assert_language(const char *text, const char *expected)
{
	char language[LANGUAGE_MAX + 1];

	language_parse(text, strlen(text), language);
	assert_string_equal(language, expected);
}

static void the_first_language_is_taken(void **state)
{
	(void)state;
	assert_language("en-US,en;q=0.9,de;q=0.8", "en");
	assert_language("DE", "de");
	assert_language("", "");
}

static void the_heaviest_language_is_taken(void **state)
{
	(void)state;
	assert_language("en;q=0.2, fr;q=0.95, de;q=0.9", "fr");
	assert_language("en;q=0, it;q=0.001", "it");
	assert_language("en;q=0.5, fr", "fr");
}

static void what_is_no_language_is_passed_over(void **state)
{
	(void)state;
	assert_language("*", "");
	assert_language("*, sv;q=0.1", "sv");
	assert_language("english, da", "da");
	assert_language(",,;q=,e,\xff\xfe", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_referrer_is_direct),
		cmocka_unit_test(a_host_is_lowered_and_loses_port_and_user),
		cmocka_unit_test(an_address_in_brackets_is_a_host),
		cmocka_unit_test(search_engines_are_known_under_any_domain),
		cmocka_unit_test(a_site_is_known_with_its_subdomains_only),
		cmocka_unit_test(a_name_counts_within_its_registrable_domain),
		cmocka_unit_test(a_search_engine_has_other_services),
		cmocka_unit_test(the_dot_of_a_full_name_is_no_part_of_it),
		cmocka_unit_test(empty_labels_in_a_host_are_passed_over),
		cmocka_unit_test(mail_is_told_from_search),
		cmocka_unit_test(the_own_domain_is_internal),
		cmocka_unit_test(an_app_is_an_app),
		cmocka_unit_test(an_app_that_the_list_has_is_what_it_says),
		cmocka_unit_test(what_is_no_address_is_unknown),
		cmocka_unit_test(a_host_longer_than_a_name_can_be_is_unknown),
		cmocka_unit_test(the_first_language_is_taken),
		cmocka_unit_test(the_heaviest_language_is_taken),
		cmocka_unit_test(what_is_no_language_is_passed_over),
	};

	return cmocka_run_group_tests_name("referrer", tests, load_sources,
					   free_sources);
}
