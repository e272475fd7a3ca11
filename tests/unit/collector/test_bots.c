#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/bots/bots.h"
#include "collector/enrich/verdict.h"

static struct bots *load(const char *text, struct error *err)
{
	char path[] = "/tmp/shortloop-bots-XXXXXX";
	int fd = mkstemp(path);
	struct bots *bots;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	bots = bots_load(path, true, err);
	unlink(path);
	return bots;
}

static const char list[] =
	"[{\"pattern\": \"Crawl(er|y)\"},"
	"{\"pattern\": \"Peek\\\\/\","
	" \"tags\": [\"x\", \"social-preview\"]},"
	"{\"pattern\": \"UpYet\", \"tags\": [\"monitoring\"]},"
	"{\"pattern\": \"Probe\", \"tags\": [\"scanner\"]}]";

/* -1: no robot. */
static int kind_of(const char *user_agent)
{
	struct error err = {0};
	struct bots *bots = load(list, &err);
	struct pattern_matcher *m;
	enum bot_kind kind;
	int found = -1;

	assert_non_null(bots);
	m = pattern_matcher_new(bots_patterns(bots), &err);
	if (bots_find(bots, m, user_agent, strlen(user_agent), &kind))
		found = (int)kind;
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
}

static void assert_refused(const char *text, const char *reason)
{
	struct error err = {0};

	assert_null(load(text, &err));
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

static struct verdict judge(const char *prefetch, Shortloop__Outcome outcome,
			    enum verdict_kind by_user_agent)
{
	Shortloop__Click click;
	char copy[64];

	shortloop__click__init(&click);
	snprintf(copy, sizeof(copy), "%s", prefetch);
	click.prefetch = copy;
	click.outcome = outcome;
	return verdict_of_click(&click,
				(struct verdict){by_user_agent, "agent"});
}

static void a_prefetch_is_no_visit(void **state)
{
	struct verdict v =
		judge("prefetch;prerender",
		      SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED, VERDICT_HUMAN);

	(void)state;
	assert_int_equal(v.kind, VERDICT_PREFETCH);
	assert_string_equal(v.reason, "purpose header");
}

static void a_head_request_is_no_visit(void **state)
{
	struct verdict v =
		judge("", SHORTLOOP__OUTCOME__OUTCOME_HEAD, VERDICT_HUMAN);

	(void)state;
	assert_int_equal(v.kind, VERDICT_PREFETCH);
	assert_string_equal(v.reason, "HEAD request");
}

static void a_robot_that_prefetches_is_a_robot(void **state)
{
	struct verdict v = judge("prefetch", SHORTLOOP__OUTCOME__OUTCOME_HEAD,
				 VERDICT_MONITOR);

	(void)state;
	assert_int_equal(v.kind, VERDICT_MONITOR);
	assert_string_equal(v.reason, "agent");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_robot_is_known_by_its_pattern),
		cmocka_unit_test(tags_tell_what_it_is_for),
		cmocka_unit_test(a_list_of_another_form_is_refused),
		cmocka_unit_test(a_prefetch_is_no_visit),
		cmocka_unit_test(a_head_request_is_no_visit),
		cmocka_unit_test(a_robot_that_prefetches_is_a_robot),
	};

	return cmocka_run_group_tests_name("bots", tests, NULL, NULL);
}
