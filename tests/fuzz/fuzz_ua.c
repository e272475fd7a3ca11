/*
 * Two properties of user-agent rules.  Any text is parsed the same with the
 * prefilter and without.  Any expression that PCRE2 accepts matches the same
 * texts with and without it: an input "expression NUL text" tests that.
 *
 * The rules are those in .deps/uap if they exist.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/enrich/ua/ua.h"
#include "common/agent/pattern/pattern_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ua_parser *some_parser(bool prefilter)
{
	struct error err = {0};
	struct ua_rules *rules =
		ua_rules_load(".deps/uap/regexes.yaml", prefilter, &err);

	return rules ? ua_parser_new(rules, &err) : NULL;
}

static void compare_rules(const char *text, size_t len)
{
	static struct ua_parser *fast, *plain;
	static struct ua_result a, b;
	struct error err = {0};

	if (!fast) {
		fast = some_parser(true);
		plain = some_parser(false);
	}
	if (!fast || !plain)
		return;
	if (ua_parse(fast, text, len, &a, &err) < 0 ||
	    ua_parse(plain, text, len, &b, &err) < 0)
		abort();
	for (int f = 0; f < UA_FIELD_COUNT; f++) {
		struct ua_text x = ua_get(&a, (enum ua_field)f);
		struct ua_text y = ua_get(&b, (enum ua_field)f);

		assert(x.len == y.len && !memcmp(x.data, y.data, x.len));
	}
}

static int first_match(const char *regex, bool caseless, bool prefilter,
		       const char *text, size_t len)
{
	struct error err = {0};
	struct pattern_set *set = pattern_set_new(true, &err);
	struct pattern_matcher *m = NULL;
	int found = -2; /* PCRE2 refuses the expression */

	if (pattern_set_add(set, regex, caseless, &err) == 0 &&
	    pattern_set_compile(set, prefilter, &err) == 0)
		m = pattern_matcher_new(set, &err);
	if (m) {
		pattern_scan(m, text, len);
		found = pattern_first(m, 0, 1);
	}
	pattern_matcher_free(m);
	pattern_set_free(set);
	return found;
}

static void compare_expression(const uint8_t *data, size_t regex_len,
			       size_t size)
{
	const char *text = (const char *)data + regex_len + 1;
	char *regex = strndup((const char *)data, regex_len);

	if (!regex)
		abort();
	for (int caseless = 0; caseless < 2; caseless++)
		assert(first_match(regex, caseless, true, text,
				   size - regex_len - 1) ==
		       first_match(regex, caseless, false, text,
				   size - regex_len - 1));
	free(regex);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;

	if (nul && nul - data < 200)
		compare_expression(data, (size_t)(nul - data), size);
	else
		compare_rules((const char *)data, size);
	return 0;
}
