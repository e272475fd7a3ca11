#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/enrich/channel.h"
#include "collector/enrich/sources.h"

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

static void assert_channel(const char *query, const char *by_referrer,
			   const char *expected)
{
	struct utm utm;

	utm_parse(query, strlen(query), &utm);
	assert_string_equal(channel_of_visit(&utm, by_referrer, sources),
			    expected);
}

static void without_a_campaign_the_referrer_counts(void **state)
{
	(void)state;
	assert_channel("", "direct", "direct");
	assert_channel("a=b", "search", "search");
	assert_channel("utm_campaign=spring", "referral", "referral");
	assert_channel("utm_source=somebody&utm_medium=whatever", "social",
		       "social");
}

static void the_medium_counts_first(void **state)
{
	(void)state;
	assert_channel("utm_medium=email&utm_source=google", "search", "email");
	assert_channel("utm_medium=E-Mail", "direct", "email");
	assert_channel("utm_medium=cpc&utm_source=google", "search", "paid");
	assert_channel("utm_medium=Paid_Social", "social", "paid");
	assert_channel("utm_medium=display", "referral", "display");
	assert_channel("utm_medium=affiliate", "referral", "affiliate");
	assert_channel("utm_medium=social%20media", "direct", "social");
	assert_channel("utm_medium=sms", "direct", "sms");
	assert_channel("utm_medium=web-push", "direct", "push");
	assert_channel("utm_medium=qr_code", "direct", "offline");
	assert_channel("utm_medium=organic", "direct", "search");
	assert_channel("utm_medium=email&gclid=x", "search", "email");
}

static void a_click_that_was_paid_for_is_marked(void **state)
{
	(void)state;
	assert_channel("gclid=x", "search", "paid");
	assert_channel("ttclid=x", "social", "paid");
	assert_channel("twclid=x", "social", "paid");
	assert_channel("li_fat_id=x", "social", "paid");
	assert_channel("ScCid=x", "direct", "paid");
	assert_channel("rdt_cid=x", "social", "paid");
	assert_channel("msclkid=x&utm_source=bing", "search", "paid");
	assert_channel("fbclid=x", "direct", "social");
	assert_channel("fbclid=x", "unknown", "social");
	assert_channel("fbclid=x", "search", "search");
}

static void a_source_that_is_a_site_counts(void **state)
{
	(void)state;
	assert_channel("utm_source=chatgpt.com", "direct", "ai");
	assert_channel("utm_source=perplexity", "direct", "ai");
	assert_channel("utm_source=Facebook", "direct", "social");
	assert_channel("utm_source=linkedin", "direct", "social");
	assert_channel("utm_source=newsletter", "direct", "email");
	assert_channel("utm_source=google", "direct", "search");
	assert_channel("utm_source=www.google.de", "direct", "search");
	assert_channel("utm_source=com", "direct", "direct");
	assert_channel("utm_source=.", "direct", "direct");
}

static void assert_site(const char *host, const char *channel)
{
	struct source source = {"", "", ""};

	sources_find(sources, host, &source);
	assert_string_equal(source.channel, channel);
}

static void sites_of_all_kinds_are_known(void **state)
{
	(void)state;
	assert_site("www.google.com.br", "search");
	assert_site("mail.google.com", "email");
	assert_site("gemini.google.com", "ai");
	assert_site("yandex.ru", "search");
	assert_site("www.baidu.com", "search");
	assert_site("tieba.baidu.com", "social");
	assert_site("go.mail.ru", "search");
	assert_site("e.mail.ru", "email");
	assert_site("search.yahoo.co.jp", "search");
	assert_site("old.reddit.com", "social");
	assert_site("de.pinterest.com", "social");
	assert_site("wa.me", "social");
	assert_site("lm.facebook.com", "social");
	assert_site("www.perplexity.ai", "ai");
	assert_site("claude.ai", "ai");
	assert_site("copilot.microsoft.com", "ai");
	assert_site("www.microsoft.com", "");
	assert_site("example.com", "");
	assert_site("com", "");
	assert_site("", "");
	assert_site("xt.co", "");
	assert_site("zzz.zalo.me", "social"); /* the last entry of the list */
	assert_site("4chan.org", "social");
}

static struct sources *load_source_list(const char *text, struct error *err)
{
	char path[] = "/tmp/shortloop-sources-XXXXXX";
	int fd = mkstemp(path);
	struct sources *loaded;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	loaded = sources_load(path, err);
	unlink(path);
	return loaded;
}

static const char list[] =
	"{\"seek.example\": {\"medium\": \"search\", \"source\": \"Seek\"},"
	"\"search.big.example\": {\"medium\": \"search\"},"
	"\"crowd.example\": {\"medium\": \"social\"},"
	"\"ads.example\": {\"medium\": \"paid\"},"
	"\"help.seek.example\": {\"medium\": \"unknown\"},"
	"\"big.example/mail\": {\"medium\": \"email\"},"
	"\"github.io\": {\"medium\": \"social\"},"
	"\"chatgpt.com\": {\"medium\": \"search\"},"
	"\"chirp\": {\"medium\": \"social\"}}";

static void assert_listed(const struct sources *s, const char *host,
			  const char *channel, const char *site,
			  const char *origin)
{
	struct source source = {"", "", ""};

	sources_find(s, host, &source);
	assert_string_equal(source.channel, channel);
	assert_string_equal(source.site, site);
	assert_string_equal(source.origin, origin);
}

static void the_list_says_what_a_host_is(void **state)
{
	struct error err = {0};
	struct sources *s = load_source_list(list, &err);
	struct source source;

	(void)state;
	assert_non_null(s);
	assert_listed(s, "seek.example", "search", "seek.example",
		      "source_list");
	assert_listed(s, "www.seek.example", "search", "seek.example",
		      "source_list");
	assert_listed(s, "docs.seek.example", "", "", "");
	assert_listed(s, "help.seek.example", "referral", "help.seek.example",
		      "source_list");
	assert_listed(s, "any.search.big.example", "search",
		      "search.big.example", "source_list");
	assert_listed(s, "big.example", "", "", "");
	assert_listed(s, "old.crowd.example", "social", "crowd.example",
		      "source_list");
	assert_listed(s, "ads.example", "paid", "ads.example", "source_list");
	/* A public suffix matches only itself; our own entries precede the
	 * list's. */
	assert_listed(s, "github.io", "social", "github.io", "source_list");
	assert_listed(s, "someone.github.io", "", "", "");
	assert_listed(s, "chatgpt.com", "ai", "chatgpt.com", "own");
	assert_true(sources_find_name(s, "chirp", &source));
	assert_string_equal(source.channel, "social");
	sources_free(s);
}

static void assert_refused(const char *text, const char *reason)
{
	struct error err = {0};

	assert_null(load_source_list(text, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, reason))
		fail_msg("%s", err.text);
}

static void a_list_of_another_form_is_refused(void **state)
{
	struct error err = {0};

	(void)state;
	assert_refused("", ":1:0: ");
	assert_refused("[]", "expected an object of hosts");
	assert_refused("{}", "expected an object of hosts");
	assert_refused("{\"a.example\": 5}", "a.example: expected a medium");
	assert_refused("{\"a.example\": {\"medium\": \"smoke\"}}",
		       "a.example: expected a medium");
	assert_null(sources_load("/nowhere/referrers.json", &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "/nowhere/referrers.json"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_campaign_the_referrer_counts),
		cmocka_unit_test(the_medium_counts_first),
		cmocka_unit_test(a_click_that_was_paid_for_is_marked),
		cmocka_unit_test(a_source_that_is_a_site_counts),
		cmocka_unit_test(sites_of_all_kinds_are_known),
		cmocka_unit_test(the_list_says_what_a_host_is),
		cmocka_unit_test(a_list_of_another_form_is_refused),
	};

	return cmocka_run_group_tests_name("channel", tests, load_sources,
					   free_sources);
}
