#include "reclaimer/verify/survey.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/safe_text.h"
#include "linkstore/block/unopened.h"
#include "linkstore/space/member_list.h"
#include "linkstore/space/space_record.h"

static void count_block(struct survey *s, uint64_t block,
			enum accounted_state state)
{
	if (block_map_count(&s->window.map, block))
		s->census.states[state]++;
}

/* --- markers -------------------------------------------------------------- */

/* Returns how long to wait to keep the rate, in ms. */
static int rate_delay(const struct survey *s)
{
	int64_t due;

	if (!s->rate)
		return 0;
	due = s->started +
	      (int64_t)((double)s->done * 1000.0 / (double)s->rate);
	due -= clock_monotonic_ms();
	if (due < 0)
		return 0;
	return due < CLOCK_SECOND ? (int)due : (int)CLOCK_SECOND;
}

/* Reads the markers of the first `count` items; keeps the rate and the lock. */
static int read_markers(struct survey *s, size_t count, struct error *err)
{
	uint64_t blocks[SURVEY_BATCH];
	uint64_t total = s->at_start.cursor - s->at_start.first;
	int wait;

	s->done += count;
	do {
		wait = rate_delay(s);
		if (s->pause(s->arg, s->done, total, wait))
			return error_set_retriable(err, ERROR_STOPPED,
						   "interrupted: not all was "
						   "looked at");
	} while (wait == CLOCK_SECOND);
	if (s->lock && reclaim_lock_keep(s->redis, s->lock, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		blocks[i] = s->batch.items[i].block;
	return markers_read(s->redis, s->space, blocks, count, s->batch.markers,
			    err);
}

static size_t batch_size(uint64_t first, uint64_t last)
{
	return last - first < SURVEY_BATCH ? (size_t)(last - first + 1)
					   : SURVEY_BATCH;
}

int survey_read_markers(struct survey *s, uint64_t first, uint64_t last,
			size_t *ret_count, struct error *err)
{
	size_t n = batch_size(first, last);

	for (size_t i = 0; i < n; i++)
		s->batch.items[i].block = first + i;
	*ret_count = n;
	return read_markers(s, n, err);
}

/* --- marks ---------------------------------------------------------------- */

/* Reads which of these items of the batch are marked as not opened. */
static int read_marks(struct survey *s, const size_t *items, size_t count,
		      struct error *err)
{
	struct survey_batch *b = &s->batch;
	uint64_t blocks[SURVEY_BATCH];
	uint32_t generations[SURVEY_BATCH];
	bool unopened[SURVEY_BATCH];

	if (!count)
		return 0;
	for (size_t i = 0; i < count; i++) {
		blocks[i] = b->items[items[i]].block;
		generations[i] = b->items[items[i]].claim.range.generation;
	}
	if (reclaim_unopened(s->redis, s->space, blocks, generations, count,
			     unopened, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		b->unopened[items[i]] = unopened[i];
	return 0;
}

/* Reads the marks of those among the first `count` items that need it, which
 * are few. */
static int read_marks_needed(struct survey *s, size_t count, struct error *err)
{
	struct survey_batch *b = &s->batch;
	size_t items[SURVEY_BATCH], needed = 0;

	for (size_t i = 0; i < count; i++) {
		b->unopened[i] = false;
		if (block_state_needs_mark(&s->terms, &b->items[i].claim,
					   &b->markers[i]))
			items[needed++] = i;
	}
	return read_marks(s, items, needed, err);
}

/* Reads the marks of adjacent blocks in one claim, and then their markers: a
 * block that is opened in between still has a mark, or already has a marker. */
static int read_claimed(struct survey *s, const struct found_member *claim,
			uint64_t first, uint64_t last, size_t *ret_count,
			struct error *err)
{
	size_t items[SURVEY_BATCH], n = batch_size(first, last);

	for (size_t i = 0; i < n; i++) {
		items[i] = i;
		s->batch.items[i] = (struct survey_item){first + i, *claim};
	}
	if (read_marks(s, items, n, err) < 0)
		return -1;
	return survey_read_markers(s, first, last, ret_count, err);
}

/* --- classifying ---------------------------------------------------------- */

/* Classifies a block whose marker and mark are item i of the batch. */
static struct classification classify_block(const struct survey *s, size_t i,
					    uint64_t block,
					    const struct found_member *claim)
{
	const struct block_notes notes = {
		.in_gap =
			space_gaps_has(s->gaps, block, claim->range.generation),
		.unopened = s->batch.unopened[i],
	};

	return block_state_classify(&s->terms, claim, &s->batch.markers[i],
				    notes);
}

static int classify_item(struct survey *s, size_t i, struct error *err)
{
	const struct survey_item *item = &s->batch.items[i];
	struct classification c =
		classify_block(s, i, item->block, &item->claim);

	if (c.trouble)
		return range_list_add(&s->window.suspects, item->block,
				      item->block, 0, err);
	count_block(s, item->block, c.state);
	if (s->wants_lost && !item->claim.score &&
	    item->claim.set == SET_ISSUED)
		return range_list_add(&s->lost, item->block, item->block,
				      item->claim.range.generation, err);
	return 0;
}

static int classify_batch(struct survey *s, struct error *err)
{
	size_t count = s->batch.count;

	s->batch.count = 0;
	if (!count)
		return 0;
	if (read_markers(s, count, err) < 0 ||
	    read_marks_needed(s, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (classify_item(s, i, err) < 0)
			return -1;
	return 0;
}

/* --- members -------------------------------------------------------------- */

static int report_member(struct survey *s, const struct set_member *m,
			 enum trouble trouble, struct error *err)
{
	struct block_finding finding = {.trouble = trouble};
	char text[100];

	safe_text(text, sizeof(text), m->text, m->len);
	snprintf(finding.detail, sizeof(finding.detail), "'%s' in %s", text,
		 space_set_name(m->set));
	if (m->sound) {
		finding.has_blocks = true;
		finding.first = m->range.first;
		finding.last = m->range.last;
	}
	return block_findings_add(&s->findings, &finding, err);
}

/* Checks whether the member was granted since the survey began. */
static int check_beyond(struct survey *s, const struct set_member *m,
			struct error *err)
{
	if (m->range.last < s->cursor)
		return 0;
	if (space_read_cursor(s->redis, s->space, &s->cursor, err) < 0)
		return -1;
	if (m->range.last < s->cursor)
		return 0;
	return report_member(s, m, TROUBLE_BEYOND, err);
}

static int take_block(struct survey *s, uint64_t block,
		      const struct set_member *m, struct error *err)
{
	if (!block_map_see(&s->window.map, block))
		return range_list_add(&s->window.suspects, block, block, 0,
				      err);
	s->batch.items[s->batch.count++] =
		(struct survey_item){block, {m->set, m->range, m->score}};
	return s->batch.count == SURVEY_BATCH ? classify_batch(s, err) : 0;
}

static int on_member(void *arg, const struct set_member *m, struct error *err)
{
	struct survey *s = arg;
	uint64_t first, last;

	if (!m->sound || m->range.generation > LINK_GENERATION_MAX)
		return s->window.first
			       ? report_member(s, m, TROUBLE_MALFORMED, err)
			       : 0;
	if (s->window.first && check_beyond(s, m, err) < 0)
		return -1;
	first = m->range.first > s->window.map.first ? m->range.first
						     : s->window.map.first;
	last = m->range.last < s->window.map.end ? m->range.last
						 : s->window.map.end - 1;
	for (uint64_t block = first; block <= last && block < s->window.map.end;
	     block++)
		if (take_block(s, block, m, err) < 0)
			return -1;
	return 0;
}

/* --- checking again ---------------------------------------------------------
 */

#define RECHECK_TRIES 5
/* More tries while the lock is held: then only grants and returns move blocks,
 * and findings to repair have to be proven. */
#define RECHECK_TRIES_LOCKED 40

/* A check of all suspects. */
struct recheck {
	struct survey *s;
	struct member_list claims;
	struct range_list still;	/* suspicious after this check */
	uint64_t left_out;		/* all blocks that had no room */
	struct block_findings findings; /* how they would be reported */
};

struct gathering {
	const struct range_list *ranges;
	struct member_list *claims;
};

static int on_claim(void *arg, const struct set_member *m, struct error *err)
{
	const struct gathering *g = arg;
	size_t i;

	if (!m->sound || m->range.generation > LINK_GENERATION_MAX)
		return 0;
	i = range_list_find(g->ranges, m->range.first);
	if (i == g->ranges->count || g->ranges->list[i].first > m->range.last)
		return 0;
	return member_list_take(g->claims, m, err);
}

int survey_find_claims(struct survey *s, const struct range_list *ranges,
		       struct member_list *ret_claims, struct error *err)
{
	static const enum space_set order[] = {SET_POOL, SET_ISSUED, SET_OUT};
	struct gathering g = {ranges, ret_claims};

	ret_claims->count = 0;
	ret_claims->first = 0;
	ret_claims->last = UINT64_MAX;
	for (size_t i = 0; i < SET_COUNT_OF; i++)
		if (space_walk(s->redis, s->space, order[i], on_claim, &g,
			       err) < 0)
			return -1;
	member_list_sort(ret_claims);
	return 0;
}

static bool same_place(const struct block_finding *last,
		       const struct block_finding *next)
{
	return last->trouble == next->trouble && last->has_blocks &&
	       last->last + 1 == next->first &&
	       !strcmp(last->detail, next->detail);
}

static int add_suspects(struct recheck *r, enum trouble trouble, uint64_t first,
			uint64_t last, const char *detail, struct error *err)
{
	struct block_finding f = {.trouble = trouble,
				  .has_blocks = true,
				  .first = first,
				  .last = last};
	size_t count = r->findings.count;

	snprintf(f.detail, sizeof(f.detail), "%s", detail);
	if (range_list_add(&r->still, first, last, 0, err) < 0)
		return -1;
	if (count && same_place(&r->findings.list[count - 1], &f)) {
		r->findings.list[count - 1].last = last;
		return 0;
	}
	return block_findings_add(&r->findings, &f, err);
}

static void claim_text(const struct found_member *m, char *to, size_t size)
{
	char member[RANGE_TEXT_MAX];

	snprintf(to, size, "%s %s", space_set_name(m->set),
		 range_format(&m->range, member));
}

/* Classifies blocks of one claim by their marks and markers. */
static int classify_claimed(struct recheck *r, const struct found_member *claim,
			    uint64_t first, uint64_t last, struct error *err)
{
	struct survey *s = r->s;
	char detail[FINDING_DETAIL_MAX];
	size_t n;

	claim_text(claim, detail, sizeof(detail));
	for (uint64_t at = first; at <= last; at += n) {
		if (read_claimed(s, claim, at, last, &n, err) < 0)
			return -1;
		for (size_t i = 0; i < n; i++) {
			struct classification c =
				classify_block(s, i, at + i, claim);

			if (!c.trouble)
				count_block(s, at + i, c.state);
			else if (add_suspects(r, c.trouble, at + i, at + i,
					      detail, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* Classifies blocks without a claim: retired, or missing. */
static int classify_unclaimed(struct recheck *r, uint64_t first, uint64_t last,
			      struct error *err)
{
	struct survey *s = r->s;
	size_t n;

	if (!s->at_start.retired)
		return add_suspects(r, TROUBLE_MISSING, first, last, "", err);
	for (uint64_t at = first; at <= last; at += n) {
		if (survey_read_markers(s, at, last, &n, err) < 0)
			return -1;
		for (size_t i = 0; i < n; i++) {
			if (block_state_is_retired(&s->batch.markers[i]))
				count_block(s, at + i, STATE_RETIRED);
			else if (add_suspects(r, TROUBLE_MISSING, at + i,
					      at + i, "", err) < 0)
				return -1;
		}
	}
	return 0;
}

/* Finds the claims on block `at`; they are the same up to *ret_end.  `from`:
 * the first claim that may reach `at`. */
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

static int classify_twice(struct recheck *r, const struct found_member *both[2],
			  size_t count, uint64_t first, uint64_t last,
			  struct error *err)
{
	char a[80], b[80], detail[FINDING_DETAIL_MAX];

	claim_text(both[0], a, sizeof(a));
	claim_text(both[1], b, sizeof(b));
	snprintf(detail, sizeof(detail), "%s and %s%s", a, b,
		 count > 2 ? " and more" : "");
	return add_suspects(r, TROUBLE_TWICE, first, last, detail, err);
}

static int classify_range(struct recheck *r, size_t *from,
			  const struct block_range *range, struct error *err)
{
	const struct member_list *claims = &r->claims;
	uint64_t end;
	int status = 0;

	while (*from < claims->count &&
	       claims->members[*from].range.last < range->first)
		(*from)++;
	for (uint64_t at = range->first; at <= range->last && status == 0;
	     at = end + 1) {
		const struct found_member *both[2] = {NULL, NULL};
		size_t count;

		end = range->last;
		count = claims_at(claims, *from, at, both, &end);
		if (count == 0)
			status = classify_unclaimed(r, at, end, err);
		else if (count == 1)
			status = classify_claimed(r, both[0], at, end, err);
		else
			status = classify_twice(r, both, count, at, end, err);
	}
	return status;
}

/* *ret_at_rest: nothing moved during the check. */
static int check_suspects(struct recheck *r, bool *ret_at_rest,
			  struct error *err)
{
	struct survey *s = r->s;
	struct space_movement before, after;
	size_t from = 0;

	r->still.count = 0;
	r->still.left_out = 0;
	block_findings_free(&r->findings);
	range_list_sort(&s->window.suspects);
	if (space_read_movement(s->redis, s->space, &before, err) < 0)
		return -1;
	s->terms.now = before.now;
	if (survey_find_claims(s, &s->window.suspects, &r->claims, err) < 0)
		return -1;
	for (size_t i = 0; i < s->window.suspects.count; i++)
		if (classify_range(r, &from, &s->window.suspects.list[i], err) <
		    0)
			return -1;
	if (space_read_movement(s->redis, s->space, &after, err) < 0)
		return -1;
	*ret_at_rest = !strcmp(before.text, after.text);
	return 0;
}

static void count_suspects(struct survey *s, const struct block_finding *f)
{
	for (uint64_t b = f->first; b <= f->last; b++) {
		if (!block_map_count(&s->window.map, b))
			continue;
		if (f->trouble == TROUBLE_MISSING)
			s->census.missing++;
		else
			s->census.unclear++;
	}
}

static int report_suspects(struct recheck *r, struct error *err)
{
	struct survey *s = r->s;

	for (size_t i = 0; i < r->findings.count; i++) {
		count_suspects(s, &r->findings.list[i]);
		if (block_findings_add(&s->findings, &r->findings.list[i],
				       err) < 0)
			return -1;
	}
	/* Findings without room are only counted. */
	s->findings.total += r->findings.total - r->findings.count;
	return 0;
}

/* Reports that there are more suspects than can be checked again. */
static int report_left_out(struct survey *s, uint64_t blocks, struct error *err)
{
	struct block_finding f = {.trouble = TROUBLE_MISSING};

	if (!blocks)
		return 0;
	s->census.unclear += blocks;
	snprintf(f.detail, sizeof(f.detail),
		 "or worse: %" PRIu64 " blocks more than can be looked at "
		 "again",
		 blocks);
	return block_findings_add(&s->findings, &f, err);
}

static int check_until_sure(struct recheck *r, bool *ret_at_rest,
			    struct error *err)
{
	struct survey *s = r->s;
	int tries = s->lock ? RECHECK_TRIES_LOCKED : RECHECK_TRIES;

	*ret_at_rest = !s->window.suspects.count;
	for (int i = 0; i < tries && s->window.suspects.count && !*ret_at_rest;
	     i++) {
		struct range_list checked;

		usleep((useconds_t)(i < 10 ? i : 10) * 20000);
		if (check_suspects(r, ret_at_rest, err) < 0)
			return -1;
		r->left_out += r->still.left_out;
		checked = s->window.suspects;
		s->window.suspects = r->still;
		r->still = checked;
	}
	return 0;
}

static int resolve_suspects(struct survey *s, struct error *err)
{
	struct recheck r = {.s = s, .left_out = s->window.suspects.left_out};
	bool at_rest;
	int status = check_until_sure(&r, &at_rest, err);

	if (status == 0)
		status = report_suspects(&r, err);
	if (status == 0)
		status = report_left_out(s, r.left_out, err);
	s->proven = s->proven && at_rest;
	member_list_free(&r.claims);
	range_list_free(&r.still);
	block_findings_free(&r.findings);
	return status;
}

/* --- windows -------------------------------------------------------------- */

static int gather_unseen(struct survey *s, struct error *err)
{
	uint64_t first, last, at = s->window.map.first;

	while (block_map_unseen(&s->window.map, at, &first, &last)) {
		if (range_list_add(&s->window.suspects, first, last, 0, err) <
		    0)
			return -1;
		at = last + 1;
	}
	return 0;
}

static int survey_window(struct survey *s, uint64_t first, uint64_t end,
			 struct error *err)
{
	/* A grant moves blocks from the pool to issued, so the pool comes
	 * first. */
	static const enum space_set order[] = {SET_POOL, SET_ISSUED, SET_OUT};

	block_map_turn(&s->window.map, first, end);
	s->window.suspects.count = 0;
	s->window.suspects.left_out = 0;
	for (size_t i = 0; i < SET_COUNT_OF; i++)
		if (space_walk(s->redis, s->space, order[i], on_member, s,
			       err) < 0)
			return -1;
	if (classify_batch(s, err) < 0 || gather_unseen(s, err) < 0)
		return -1;
	s->window.first = false;
	return resolve_suspects(s, err);
}

/* Compares the number of blocks without generations left with the space's
 * record. */
static int check_retired(struct survey *s, struct error *err)
{
	struct block_finding finding = {.trouble = TROUBLE_RETIRED};
	uint64_t found = s->census.states[STATE_RETIRED];

	if (found == s->at_start.retired)
		return 0;
	snprintf(finding.detail, sizeof(finding.detail),
		 "the record says %ju, the markers say %ju",
		 (uintmax_t)s->at_start.retired, (uintmax_t)found);
	return block_findings_add(&s->findings, &finding, err);
}

/* A block may have used its last generation since the survey began. */
static int check_retired_again(struct survey *s, struct error *err)
{
	struct space_movement now;

	if (space_read_movement(s->redis, s->space, &now, err) < 0)
		return -1;
	if (now.retired != s->at_start.retired)
		return 0;
	return check_retired(s, err);
}

int survey_run(struct survey *s, struct error *err)
{
	uint64_t first, cursor, end;

	s->proven = s->window.first = true;
	s->started = clock_monotonic_ms();
	if (space_read_movement(s->redis, s->space, &s->at_start, err) < 0 ||
	    space_gaps_read(s->redis, s->space, &s->gaps, err) < 0)
		return -1;
	first = s->at_start.first;
	cursor = s->cursor = s->at_start.cursor;
	s->terms = (struct classify_terms){s->space, s->at_start.now};
	if (first > cursor)
		first = s->at_start.first = cursor;
	if (block_map_init(&s->window.map,
			   cursor - first < BLOCK_MAP_WINDOW ? cursor - first
							     : BLOCK_MAP_WINDOW,
			   err) < 0)
		return -1;
	do {
		end = cursor - first < BLOCK_MAP_WINDOW
			      ? cursor
			      : first + BLOCK_MAP_WINDOW;
		if (survey_window(s, first, end, err) < 0)
			return -1;
		first = end;
	} while (first < cursor);
	return check_retired_again(s, err);
}

void survey_free(struct survey *s)
{
	block_map_free(&s->window.map);
	range_list_free(&s->window.suspects);
	range_list_free(&s->lost);
	block_findings_free(&s->findings);
	space_gaps_free(s->gaps);
	s->gaps = NULL;
}
