/*
 * Any text is recognised as the same robot with and without the prefilter, and
 * a verdict has a reason.  The lists are those in .deps if they exist.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/agent/bots.h"
#include "common/agent/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct judge {
	struct bots *bots;
	struct pattern_matcher *matcher;
};

static const char *if_there(const char *path)
{
	return access(path, R_OK) == 0 ? path : NULL;
}

static void load_judge(struct judge *j, bool prefilter)
{
	const struct bots_source source = {
		.list = if_there(".deps/bots/crawler-user-agents.json"),
		.patterns = if_there(".deps/bots/isbot-patterns.json"),
		.jit = true,
	};
	struct error err = {0};

	j->bots = bots_load(&source, prefilter, &err);
	if (!j->bots)
		abort();
	j->matcher = pattern_matcher_new(bots_patterns(j->bots), &err);
	if (!j->matcher)
		abort();
}

static void compare_judges(const struct judge *fast, const struct judge *plain,
			   const char *text, size_t len, bool device)
{
	struct bot a = {0}, b = {0};
	bool found =
		bots_find(fast->bots, fast->matcher, text, len, device, &a);

	assert(found ==
	       bots_find(plain->bots, plain->matcher, text, len, device, &b));
	if (!found)
		return;
	assert(a.kind == b.kind && a.origin == b.origin && a.entry == b.entry);
	assert(!strcmp(a.pattern, b.pattern));
	assert(verdict_of_bot(&a).kind != VERDICT_HUMAN);
	assert(*verdict_of_bot(&a).reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct judge fast, plain;
	char *copy;

	if (!fast.bots) {
		load_judge(&fast, true);
		load_judge(&plain, false);
	}
	/* The copy has exactly this size, so that a read beyond it is noticed.
	 */
	copy = malloc(size + !size);
	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	compare_judges(&fast, &plain, copy, size, false);
	compare_judges(&fast, &plain, copy, size, true);
	free(copy);
	return 0;
}
