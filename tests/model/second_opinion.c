#include "tests/model/second_opinion.h"

#include <inttypes.h>

#include "reclaimer/verify/survey.h"

static bool never_stop(void *arg, uint64_t done, uint64_t total, int timeout_ms)
{
	(void)arg;
	(void)done;
	(void)total;
	usleep((useconds_t)timeout_ms * 1000);
	return false;
}

static bool is_accounted_for(const struct lives *l, enum trouble trouble)
{
	switch (trouble) {
	case TROUBLE_LOST_MARKED: /* its holder came late */
	case TROUBLE_STUCK: /* closed, and its holder died before it handed it
			       back */
		return true;
	case TROUBLE_POOL_OPEN:
	case TROUBLE_POOL_UNMARKED:
	case TROUBLE_UNMARKED: /* opened, and a node with blocks forgot that */
	case TROUBLE_UNOPENED:
		return l->closes_forgotten;
	default:
		return false;
	}
}

static void verify_space(struct world *w, const struct lives *l, size_t space)
{
	struct survey *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->redis = w->redis;
	s->space = world_space(w, space);
	s->pause = never_stop;
	if (survey_run(s, &w->err))
		world_broken(w, "%s verify: %s", s->space->name, w->err.text);
	for (size_t i = 0; i < s->findings.count; i++) {
		const struct block_finding *f = &s->findings.list[i];

		if (!is_accounted_for(l, f->trouble))
			world_broken(w, "%s:%" PRIu64 " verify: %s: %s",
				     s->space->name, f->first,
				     block_finding_name(f->trouble), f->detail);
	}
	survey_free(s);
	free(s);
}

void second_opinion(struct world *w, const struct lives *l)
{
	for (size_t i = 0; i < WORLD_SPACES; i++)
		verify_space(w, l, i);
}
