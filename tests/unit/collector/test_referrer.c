#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/enrich/language.h"
#include "collector/enrich/referrer.h"
#include "collector/enrich/referrer_site.h"

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

static void a_host_ends_where_its_url_goes_on(void **state)
{
	static const char nul[] = "http://example.org\0x";
	struct referrer r;

	(void)state;
	assert_referrer("http://example.org?a", "example.org", "referral");
	assert_referrer("http://example.org#a", "example.org", "referral");
	assert_referrer("http://example.org\\a", "example.org", "referral");
	referrer_parse(nul, sizeof(nul) - 1, "", sources, &r);
	assert_string_equal(r.host, "example.org");
}

/* The bytes after `text` do not belong to it. */
static void assert_cut_referrer(const char *text, const char *behind,
				const char *host)
{
	char both[256];
	struct referrer r;

	snprintf(both, sizeof(both), "%s%s", text, behind);
	referrer_parse(both, strlen(text), "", sources, &r);
	assert_string_equal(r.host, host);
}

static void nothing_behind_a_referrer_is_read(void **state)
{
	(void)state;
	assert_cut_referrer("http://example.org", "x", "example.org");
	assert_cut_referrer("http://example.org", "@other", "example.org");
	assert_cut_referrer("http://[::1", "a]", "");
	assert_cut_referrer("http://[::1", "]", "");
	assert_cut_referrer("http:/", "/example.org", "");
}

static void the_first_mark_that_is_whole_ends_the_scheme(void **state)
{
	(void)state;
	assert_referrer("a:/b://example.org/", "example.org", "referral");
	assert_referrer("a:b/c://example.org/", "example.org", "referral");
}

static void what_was_known_of_a_referrer_before_is_gone(void **state)
{
	struct referrer r;

	(void)state;
	referrer_parse("https://www.google.com/", 23, "", sources, &r);
	assert_non_null(r.source.channel);
	referrer_parse("https://example.org/", 20, "", sources, &r);
	assert_null(r.source.channel);
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

/* A label has no meaning of its own: the holder of the registrable domain
 * assigns it. */
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
	assert_referrer("https://www0.bing.com/", "www0.bing.com", "search");
	assert_referrer("https://www2.bing.com/", "www2.bing.com", "search");
	assert_referrer("https://www9.bing.com/", "www9.bing.com", "search");
	assert_referrer("https://wwwx.bing.com/", "wwwx.bing.com", "referral");
	assert_referrer("https://www-.bing.com/", "www-.bing.com", "referral");
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
	assert_referrer("https://a./", "a", "referral");
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
	/* A package name is not a host. */
	assert_referrer("android-app://com.google/", "com.google", "app");
	assert_referrer("android-app://t.co/", "t.co", "app");
	assert_referrer("Ios-App://544007664/vnd.youtube", "544007664", "app");
	assert_referrer("xandroid-app://t.co/", "t.co", "social");
	assert_referrer("android-apps://t.co/", "t.co", "social");
	assert_referrer("android-web://t.co/", "t.co", "social");
}

/* The list also has a host with capital letters. */
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

/* The second answer comes from the cache. */
static void assert_site(const char *text, const char *site)
{
	struct error err = {0};
	struct site_lookup *sites = site_lookup_new(sources, &err);
	struct referrer r;

	assert_non_null(sites);
	referrer_parse(text, strlen(text), "go.example.com", sources, &r);
	assert_string_equal(site_lookup_find(sites, &r), site);
	assert_string_equal(site_lookup_find(sites, &r), site);
	site_lookup_free(sites);
}

static void a_site_is_the_registrable_domain(void **state)
{
	(void)state;
	assert_site("https://www.google.com/", "google.com");
	assert_site("https://t.co/x", "t.co");
	assert_site("https://a.b.example.co.uk:8443/", "example.co.uk");
	assert_site("https://pages.someone.github.io/", "someone.github.io");
	assert_site("https://xn--bcher-kva.xn--p1ai/",
		    "xn--bcher-kva.xn--p1ai");
	assert_site("https://www.xn--bcher-kva.xn--p1ai/",
		    "xn--bcher-kva.xn--p1ai");
}

static void a_host_without_a_known_suffix_is_its_own_site(void **state)
{
	(void)state;
	assert_site("", "");
	assert_site("about:blank", "");
	assert_site("http://10.2.3.4/", "10.2.3.4");
	assert_site("http://[2001:db8::1]:80/", "[2001:db8::1]");
	assert_site("https://co.uk/", "co.uk");
	assert_site("https://github.io/", "github.io");
	assert_site("https://localhost/", "localhost");
	assert_site("https://wiki.team.internal/", "wiki.team.internal");
	assert_site("https://.example.org/", ".example.org");
	assert_site("https://a../", "a.");
}

static void an_app_is_its_own_site(void **state)
{
	(void)state;
	/* gm is a country's domain. */
	assert_site("android-app://com.google.android.gm/",
		    "com.google.android.gm");
	assert_site("ios-app://www.example.org/", "www.example.org");
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

static void of_languages_of_one_weight_the_first_is_taken(void **state)
{
	(void)state;
	assert_language("fr, en", "fr");
	assert_language("fr, en;q=1.0", "fr");
	assert_language("fr;q=1, en", "fr");
	assert_language("fr;level=1, en", "fr");
	assert_language("fr, en;level=1", "fr");
	assert_language("fr;q=, en;q=0.9", "fr");
}

static void a_weight_is_read_to_its_last_digit(void **state)
{
	(void)state;
	assert_language("en;q=0.1,fr", "fr");
	assert_language("en;q=0.999,fr", "fr");
	assert_language("en;q=0.9,fr;q=1", "fr");
	assert_language("en;Q=0.1,fr;q=0.5", "fr");
	assert_language("en; q=0.1,fr;  q=0.5", "fr");
	assert_language("en;q=0.51,fr;q=0.512", "fr");
	assert_language("en;q=0.5x9,fr;q=0.51", "fr");
	assert_language("en;x=0.1,fr;q=0.5", "en");
	assert_language("en;qs0.1,fr;q=0.5", "en");
}

/* The bytes after `text` do not belong to it. */
static void assert_cut_language(const char *text, const char *behind,
				const char *expected)
{
	char both[64], language[LANGUAGE_MAX + 1];

	snprintf(both, sizeof(both), "%s%s", text, behind);
	language_parse(both, strlen(text), language);
	assert_string_equal(language, expected);
}

static void nothing_behind_the_languages_is_read(void **state)
{
	(void)state;
	assert_cut_language("en", "g", "en");
	assert_cut_language("fr;q=0.5,en;q=", "0.4", "en");
	assert_cut_language("en;q=0.5,fr;q=0.5", "9", "en");
	assert_cut_language("fr;q=0.5,en;", " q=0.4", "en");
}

static void what_is_no_language_is_passed_over(void **state)
{
	(void)state;
	assert_language("*", "");
	assert_language("*, sv;q=0.1", "sv");
	assert_language("english, da", "da");
	assert_language(",,;q=,e,\xff\xfe", "");
	assert_language("en%, de", "de");
	assert_language("tlh, de", "tlh");
	assert_language("tlhx, de", "de");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_referrer_is_direct),
		cmocka_unit_test(a_host_is_lowered_and_loses_port_and_user),
		cmocka_unit_test(a_host_ends_where_its_url_goes_on),
		cmocka_unit_test(nothing_behind_a_referrer_is_read),
		cmocka_unit_test(the_first_mark_that_is_whole_ends_the_scheme),
		cmocka_unit_test(what_was_known_of_a_referrer_before_is_gone),
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
		cmocka_unit_test(a_site_is_the_registrable_domain),
		cmocka_unit_test(a_host_without_a_known_suffix_is_its_own_site),
		cmocka_unit_test(an_app_is_its_own_site),
		cmocka_unit_test(what_is_no_address_is_unknown),
		cmocka_unit_test(a_host_longer_than_a_name_can_be_is_unknown),
		cmocka_unit_test(the_first_language_is_taken),
		cmocka_unit_test(the_heaviest_language_is_taken),
		cmocka_unit_test(of_languages_of_one_weight_the_first_is_taken),
		cmocka_unit_test(a_weight_is_read_to_its_last_digit),
		cmocka_unit_test(nothing_behind_the_languages_is_read),
		cmocka_unit_test(what_is_no_language_is_passed_over),
	};

	return cmocka_run_group_tests_name("referrer", tests, load_sources,
					   free_sources);
}
