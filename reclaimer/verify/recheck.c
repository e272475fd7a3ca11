#include "reclaimer/verify/recheck.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "linkstore/space/member_list.h"

/* One look at all suspects. */
struct look {
	struct survey *s;
	struct member_list claims;
	struct stretches still;	  /* suspicious after this look */
	struct findings findings; /* what they would be told as */
};

/* --- claims --------------------------------------------------------------- */

struct gathering {
	const struct stretches *stretches;
	struct member_list *claims;
};

static int on_member(void *arg, const struct set_member *m, struct error *err)
{
	const struct gathering *g = arg;
	size_t i;

	if (!m->sound || m->range.generation > LINK_GENERATION_MAX)
		return 0;
	i = stretches_find(g->stretches, m->range.first);
	if (i == g->stretches->count ||
	    g->stretches->list[i].first > m->range.last)
		return 0;
	return member_list_take(g->claims, m, err);
}

int recheck_claims(struct survey *s, const struct stretches *stretches,
		   struct member_list *ret_claims, struct error *err)
{
	static const enum space_set order[] = {SET_POOL, SET_ISSUED, SET_OUT};
	struct gathering g = {stretches, ret_claims};

	ret_claims->count = 0;
	ret_claims->first = 0;
	ret_claims->last = UINT64_MAX;
	for (size_t i = 0; i < SET_COUNT_OF; i++)
		if (space_walk(s->redis, s->space, order[i], on_member, &g,
			       err) < 0)
			return -1;
	member_list_sort(ret_claims);
	return 0;
}

/* --- judging -------------------------------------------------------------- */

static bool same_place(const struct finding *last, const struct finding *next)
{
	return last->trouble == next->trouble && last->has_blocks &&
	       last->last + 1 == next->first &&
	       !strcmp(last->detail, next->detail);
}

static int suspect(struct look *l, enum trouble trouble, uint64_t first,
		   uint64_t last, const char *detail, struct error *err)
{
	struct finding f = {.trouble = trouble,
			    .has_blocks = true,
			    .first = first,
			    .last = last};
	size_t count = l->findings.count;

	snprintf(f.detail, sizeof(f.detail), "%s", detail);
	if (stretches_add(&l->still, first, last, 0, err) < 0)
		return -1;
	if (count && same_place(&l->findings.list[count - 1], &f)) {
		l->findings.list[count - 1].last = last;
		return 0;
	}
	return findings_add(&l->findings, &f, err);
}

static void describe(const struct found_member *m, char *to, size_t size)
{
	char member[RANGE_TEXT_MAX];

	snprintf(to, size, "%s %s", space_set_name(m->set),
		 range_format(&m->range, member));
}

/* Blocks of one claim: what do their markers say? */
static int judge_claimed(struct look *l, const struct found_member *claim,
			 uint64_t first, uint64_t last, struct error *err)
{
	struct survey *s = l->s;
	char detail[FINDING_DETAIL_MAX];
	size_t n;

	describe(claim, detail, sizeof(detail));
	for (uint64_t at = first; at <= last; at += n) {
		if (survey_look_from(s, at, last, &n, err) < 0)
			return -1;
		for (size_t i = 0; i < n; i++) {
			struct judgement j = judge_block(
				&s->terms, claim, &s->looks[i],
				reclaim_gaps_has(s->gaps, at + i,
						 claim->range.generation));

			if (!j.trouble)
				survey_count(s, at + i, j.standing);
			else if (suspect(l, j.trouble, at + i, at + i, detail,
					 err) < 0)
				return -1;
		}
	}
	return 0;
}

/* Blocks of no claim: retired, or missing. */
static int judge_unclaimed(struct look *l, uint64_t first, uint64_t last,
			   struct error *err)
{
	struct survey *s = l->s;
	size_t n;

	if (!s->at_start.retired)
		return suspect(l, TROUBLE_MISSING, first, last, "", err);
	for (uint64_t at = first; at <= last; at += n) {
		if (survey_look_from(s, at, last, &n, err) < 0)
			return -1;
		for (size_t i = 0; i < n; i++) {
			if (looks_retired(&s->looks[i]))
				survey_count(s, at + i, STANDING_RETIRED);
			else if (suspect(l, TROUBLE_MISSING, at + i, at + i, "",
					 err) < 0)
				return -1;
		}
	}
	return 0;
}

/* The claims on block `at`, up to *ret_end for which they are the same.
 * `from`: the first claim that may reach so far. */
static size_t claims_at(const struct member_list *claims, size_t from,
			uint64_t at, const struct found_member *ret[2],
			uint64_t *ret_end)
{
	size_t count = 0;

	for (size_t i = from; i < claims->count; i++) {
		const struct found_member *m = &claims->members[i];

		if (m->range.first > at) {
			if (m->range.first - 1 < *ret_end)
				*ret_end = m->range.first - 1;
			break;
		}
		if (m->range.last < at)
			continue;
		if (m->range.last < *ret_end)
			*ret_end = m->range.last;
		if (count < 2)
			ret[count] = m;
		count++;
	}
	return count;
}

static int judge_twice(struct look *l, const struct found_member *both[2],
		       size_t count, uint64_t first, uint64_t last,
		       struct error *err)
{
	char a[80], b[80], detail[FINDING_DETAIL_MAX];

	describe(both[0], a, sizeof(a));
	describe(both[1], b, sizeof(b));
	snprintf(detail, sizeof(detail), "%s and %s%s", a, b,
		 count > 2 ? " and more" : "");
	return suspect(l, TROUBLE_TWICE, first, last, detail, err);
}

static int judge_stretch(struct look *l, size_t *from,
			 const struct stretch *stretch, struct error *err)
{
	const struct member_list *claims = &l->claims;
	uint64_t end;
	int status = 0;

	while (*from < claims->count &&
	       claims->members[*from].range.last < stretch->first)
		(*from)++;
	for (uint64_t at = stretch->first; at <= stretch->last && status == 0;
	     at = end + 1) {
		const struct found_member *both[2] = {NULL, NULL};
		size_t count;

		end = stretch->last;
		count = claims_at(claims, *from, at, both, &end);
		if (count == 0)
			status = judge_unclaimed(l, at, end, err);
		else if (count == 1)
			status = judge_claimed(l, both[0], at, end, err);
		else
			status = judge_twice(l, both, count, at, end, err);
	}
	return status;
}

/* --- looks ---------------------------------------------------------------- */

/* *ret_at_rest: nothing moved while it was taken. */
static int take_look(struct look *l, bool *ret_at_rest, struct error *err)
{
	struct survey *s = l->s;
	struct space_movement before, after;
	size_t from = 0;

	l->still.count = 0;
	l->still.left_out = 0;
	findings_free(&l->findings);
	stretches_sort(&s->suspects);
	if (space_read_movement(s->redis, s->space, &before, err) < 0)
		return -1;
	s->terms.now = before.now;
	if (recheck_claims(s, &s->suspects, &l->claims, err) < 0)
		return -1;
	for (size_t i = 0; i < s->suspects.count; i++)
		if (judge_stretch(l, &from, &s->suspects.list[i], err) < 0)
			return -1;
	if (space_read_movement(s->redis, s->space, &after, err) < 0)
		return -1;
	*ret_at_rest = !strcmp(before.text, after.text);
	return 0;
}

static void count_rest(struct survey *s, const struct finding *f)
{
	for (uint64_t b = f->first; b <= f->last; b++) {
		if (!block_map_count(&s->map, b))
			continue;
		if (f->trouble == TROUBLE_MISSING)
			s->census.missing++;
		else
			s->census.tangled++;
	}
}

static int tell_rest(struct look *l, struct error *err)
{
	struct survey *s = l->s;

	for (size_t i = 0; i < l->findings.count; i++) {
		count_rest(s, &l->findings.list[i]);
		if (findings_add(&s->findings, &l->findings.list[i], err) < 0)
			return -1;
	}
	/* Those there was no room for are told as a number. */
	s->findings.total += l->findings.total - l->findings.count;
	return 0;
}

/* More than can be looked at again: all that is certain is that much is
 * wrong. */
static int tell_left_out(struct survey *s, uint64_t blocks, struct error *err)
{
	struct finding f = {.trouble = TROUBLE_MISSING};

	if (!blocks)
		return 0;
	s->census.tangled += blocks;
	snprintf(f.detail, sizeof(f.detail),
		 "or worse: %" PRIu64 " blocks more than can be looked at "
		 "again",
		 blocks);
	return findings_add(&s->findings, &f, err);
}

static int look_again(struct look *l, bool *ret_at_rest, struct error *err)
{
	struct survey *s = l->s;
	int tries = s->lock ? RECHECK_TRIES_LOCKED : RECHECK_TRIES;

	*ret_at_rest = !s->suspects.count;
	for (int i = 0; i < tries && s->suspects.count && !*ret_at_rest; i++) {
		struct stretches looked_at;

		usleep((useconds_t)(i < 10 ? i : 10) * 20000);
		if (take_look(l, ret_at_rest, err) < 0)
			return -1;
		looked_at = s->suspects;
		s->suspects = l->still;
		l->still = looked_at;
	}
	return 0;
}

int recheck(struct survey *s, struct error *err)
{
	struct look l = {.s = s};
	uint64_t left_out = s->suspects.left_out;
	bool at_rest;
	int status = look_again(&l, &at_rest, err);

	if (status == 0)
		status = tell_rest(&l, err);
	if (status == 0)
		status = tell_left_out(s, left_out + l.still.left_out, err);
	s->proven = s->proven && at_rest;
	member_list_free(&l.claims);
	stretches_free(&l.still);
	findings_free(&l.findings);
	return status;
}
