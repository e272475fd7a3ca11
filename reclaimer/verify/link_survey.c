#include "reclaimer/verify/link_survey.h"

#include <stdio.h>

#include "common/clock.h"
#include "common/safe_text.h"
#include "linkstore/block/link_check.h"

struct walk {
	struct survey *s;
	int64_t started;
	bool stopped;
	bool failed;
	struct error err;
};

static void on_found(void *arg, const struct link_finding *found)
{
	struct walk *w = arg;
	struct finding f = {.trouble = TROUBLE_LINK};
	char key[120];

	safe_text(key, sizeof(key), found->key, found->key_len);
	snprintf(f.detail, sizeof(f.detail), "%s: %s", key,
		 link_trouble_text(found->trouble));
	if (found->trouble != LINK_KEY_DAMAGED) {
		f.has_blocks = true;
		f.first = f.last = found->block;
	}
	if (!w->failed && findings_add(&w->s->findings, &f, &w->err) < 0)
		w->failed = true;
}

static bool on_pause(void *arg, uint64_t links, uint64_t keys, uint64_t total)
{
	struct walk *w = arg;
	struct survey *s = w->s;
	int64_t due = w->started, left;

	(void)links;
	if (w->failed)
		return true;
	if (s->rate)
		due += (int64_t)((double)keys * 1000.0 / (double)s->rate);
	do {
		left = due - clock_monotonic_ms();
		if (left < 0)
			left = 0;
		w->stopped = s->pause(
			s->arg, keys < total ? keys : total, total,
			left < CLOCK_SECOND ? (int)left : (int)CLOCK_SECOND);
		if (s->lock && !w->stopped &&
		    reclaim_lock_keep(s->redis, s->lock, &w->err) < 0)
			w->failed = true;
	} while (left > CLOCK_SECOND && !w->stopped && !w->failed);
	return w->stopped || w->failed;
}

int link_survey(struct survey *s, uint64_t *ret_links, struct error *err)
{
	struct walk walk = {.s = s, .started = clock_monotonic_ms()};
	struct link_check check = {
		.redis = s->redis,
		.space = s->space,
		.found = on_found,
		.pause = on_pause,
		.arg = &walk,
	};
	int status = link_check_run(&check, err);

	*ret_links = check.links;
	if (status == 0 && walk.failed) {
		*err = walk.err;
		return -1;
	}
	if (status == 0 && walk.stopped)
		return error_set_retriable(err, ERROR_BUSY,
					   "interrupted: not all links were "
					   "looked at");
	return status;
}
