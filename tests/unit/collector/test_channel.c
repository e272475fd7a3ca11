#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collector/enrich/channel.h"
#include "collector/enrich/sites.h"

static void assert_channel(const char *query, const char *by_referrer,
			   const char *expected)
{
	struct utm utm;

	utm_parse(query, strlen(query), &utm);
	assert_string_equal(channel_of_visit(&utm, by_referrer), expected);
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
	const struct site *site = site_of_host(host);

	assert_string_equal(site ? site->channel : "", channel);
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
	assert_site("zzz.zalo.me", "social"); /* the last of the list */
	assert_site("4chan.org", "social");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_campaign_the_referrer_counts),
		cmocka_unit_test(the_medium_counts_first),
		cmocka_unit_test(a_click_that_was_paid_for_is_marked),
		cmocka_unit_test(a_source_that_is_a_site_counts),
		cmocka_unit_test(sites_of_all_kinds_are_known),
	};

	return cmocka_run_group_tests_name("channel", tests, NULL, NULL);
}
