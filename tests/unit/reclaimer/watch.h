/* watch.h - a survey of a space whose accounting a test writes directly. */
#ifndef TESTS_UNIT_RECLAIMER_WATCH_H
#define TESTS_UNIT_RECLAIMER_WATCH_H

#include "tests/unit/reclaimer/issued.h"

#include "reclaimer/verify/survey.h"

/* A survey, and the test's actions while it is under way. */
struct watch {
	struct fixture *f;
	struct survey survey;
	int pauses, shortest, longest;
	size_t refusal; /* for refuse_some */
	/* NULL: nothing is done.  If it returns true, the survey ends there. */
	bool (*on_pause)(struct watch *w);
};

static inline bool pause_survey(void *arg, uint64_t done, uint64_t total,
				int timeout_ms)
{
	struct watch *w = arg;

	assert_true(done > 0 && total > 0);
	w->pauses++;
	if (timeout_ms < w->shortest)
		w->shortest = timeout_ms;
	if (timeout_ms > w->longest)
		w->longest = timeout_ms;
	return w->on_pause && w->on_pause(w);
}

/* Returns a survey of a space with `cursor` blocks. */
static inline struct watch watch_of(struct fixture *f, int cursor)
{
	char words[64];

	f->config.hold_max = CLOCK_HOUR;
	snprintf(words, sizeof(words), "SET cursor:{s5} %d", cursor);
	run_command(f, words);
	return (struct watch){
		.f = f,
		.survey = {.redis = f->server.redis, .space = f->space},
		.shortest = 1000000,
	};
}

static inline int survey_space(struct watch *w)
{
	w->survey.pause = pause_survey;
	w->survey.arg = w;
	return survey_run(&w->survey, &w->f->err);
}

static inline uint64_t count_in_state(const struct watch *w,
				      enum accounted_state state)
{
	return w->survey.census.states[state];
}

static inline void expect_findings(const struct watch *w, uint64_t count)
{
	const struct block_findings *f = &w->survey.findings;

	if (f->total == count)
		return;
	for (size_t i = 0; i < f->count; i++)
		print_message("%s: %s\n",
			      block_finding_name(f->list[i].trouble),
			      f->list[i].detail);
	assert_int_equal(f->total, count);
}

/* Finding number i must be of these blocks. */
static inline void is_finding(const struct watch *w, size_t i,
			      enum trouble trouble, uint64_t first,
			      uint64_t last, const char *detail)
{
	const struct block_finding *f = &w->survey.findings.list[i];

	assert_true(i < w->survey.findings.count);
	assert_string_equal(block_finding_name(f->trouble),
			    block_finding_name(trouble));
	assert_true(f->has_blocks);
	assert_int_equal(f->first, first);
	assert_int_equal(f->last, last);
	assert_string_equal(f->detail, detail);
}

#endif
