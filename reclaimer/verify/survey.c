#include "reclaimer/verify/survey.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/safe_text.h"
#include "linkstore/space/record.h"
#include "reclaimer/verify/recheck.h"

void survey_count(struct survey *s, uint64_t block, enum standing standing)
{
	if (block_map_count(&s->map, block))
		s->census.states[standing]++;
}

/* --- markers -------------------------------------------------------------- */

/* How long to wait so that the rate is kept, in ms. */
static int pace(const struct survey *s)
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

int survey_look(struct survey *s, size_t count, struct error *err)
{
	uint64_t total = s->at_start.cursor - s->at_start.first;
	int wait;

	s->done += count;
	do {
		wait = pace(s);
		if (s->pause(s->arg, s->done, total, wait))
			return error_set_retriable(err, ERROR_BUSY,
						   "interrupted: not all was "
						   "looked at");
	} while (wait == CLOCK_SECOND);
	if (s->lock && reclaim_lock_keep(s->redis, s->lock, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		s->blocks[i] = s->items[i].block;
	return markers_read(s->redis, s->space, s->blocks, count, s->looks,
			    err);
}

int survey_look_from(struct survey *s, uint64_t first, uint64_t last,
		     size_t *ret_count, struct error *err)
{
	size_t n = last - first < SURVEY_BATCH ? (size_t)(last - first + 1)
					       : SURVEY_BATCH;

	for (size_t i = 0; i < n; i++)
		s->items[i].block = first + i;
	*ret_count = n;
	return survey_look(s, n, err);
}

static int judge_item(struct survey *s, size_t i, struct error *err)
{
	const struct survey_item *item = &s->items[i];
	struct judgement j =
		judge_block(&s->terms, &item->claim, &s->looks[i],
			    reclaim_gaps_has(s->gaps, item->block,
					     item->claim.range.generation));

	if (j.trouble)
		return stretches_add(&s->suspects, item->block, item->block, 0,
				     err);
	survey_count(s, item->block, j.standing);
	if (s->wants_lost && !item->claim.score &&
	    item->claim.set == SET_ISSUED)
		return stretches_add(&s->lost, item->block, item->block,
				     item->claim.range.generation, err);
	return 0;
}

static int flush(struct survey *s, struct error *err)
{
	size_t count = s->item_count;

	s->item_count = 0;
	if (!count)
		return 0;
	if (survey_look(s, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (judge_item(s, i, err) < 0)
			return -1;
	return 0;
}

/* --- members -------------------------------------------------------------- */

static int tell_member(struct survey *s, const struct set_member *m,
		       enum trouble trouble, struct error *err)
{
	struct finding finding = {.trouble = trouble};
	char text[100];

	safe_text(text, sizeof(text), m->text, m->len);
	snprintf(finding.detail, sizeof(finding.detail), "'%s' in %s", text,
		 space_set_name(m->set));
	if (m->sound) {
		finding.has_blocks = true;
		finding.first = m->range.first;
		finding.last = m->range.last;
	}
	return findings_add(&s->findings, &finding, err);
}

/* Granted since the survey began, or never? */
static int check_beyond(struct survey *s, const struct set_member *m,
			struct error *err)
{
	if (m->range.last < s->cursor)
		return 0;
	if (space_read_cursor(s->redis, s->space, &s->cursor, err) < 0)
		return -1;
	if (m->range.last < s->cursor)
		return 0;
	return tell_member(s, m, TROUBLE_BEYOND, err);
}

static int take_block(struct survey *s, uint64_t block,
		      const struct set_member *m, struct error *err)
{
	if (!block_map_see(&s->map, block))
		return stretches_add(&s->suspects, block, block, 0, err);
	s->items[s->item_count++] =
		(struct survey_item){block, {m->set, m->range, m->score}};
	return s->item_count == SURVEY_BATCH ? flush(s, err) : 0;
}

static int on_member(void *arg, const struct set_member *m, struct error *err)
{
	struct survey *s = arg;
	uint64_t first, last;

	if (!m->sound || m->range.generation > LINK_GENERATION_MAX)
		return s->first_window
			       ? tell_member(s, m, TROUBLE_MALFORMED, err)
			       : 0;
	if (s->first_window && check_beyond(s, m, err) < 0)
		return -1;
	first = m->range.first > s->map.first ? m->range.first : s->map.first;
	last = m->range.last < s->map.end ? m->range.last : s->map.end - 1;
	for (uint64_t block = first; block <= last && block < s->map.end;
	     block++)
		if (take_block(s, block, m, err) < 0)
			return -1;
	return 0;
}

/* --- windows -------------------------------------------------------------- */

static int gather_unseen(struct survey *s, struct error *err)
{
	uint64_t first, last, at = s->map.first;

	while (block_map_unseen(&s->map, at, &first, &last)) {
		if (stretches_add(&s->suspects, first, last, 0, err) < 0)
			return -1;
		at = last + 1;
	}
	return 0;
}

static int survey_window(struct survey *s, uint64_t first, uint64_t end,
			 struct error *err)
{
	/* The way of a grant is from the pool to issued. */
	static const enum space_set order[] = {SET_POOL, SET_ISSUED, SET_OUT};

	block_map_turn(&s->map, first, end);
	s->suspects.count = 0;
	for (size_t i = 0; i < SET_COUNT_OF; i++)
		if (space_walk(s->redis, s->space, order[i], on_member, s,
			       err) < 0)
			return -1;
	if (flush(s, err) < 0 || gather_unseen(s, err) < 0)
		return -1;
	s->first_window = false;
	return recheck(s, err);
}

/* As many as the record says are out of generations, and no others? */
static int check_retired(struct survey *s, struct error *err)
{
	struct finding finding = {.trouble = TROUBLE_RETIRED};
	uint64_t found = s->census.states[STANDING_RETIRED];

	if (found == s->at_start.retired)
		return 0;
	snprintf(finding.detail, sizeof(finding.detail),
		 "the record says %ju, the markers say %ju",
		 (uintmax_t)s->at_start.retired, (uintmax_t)found);
	return findings_add(&s->findings, &finding, err);
}

/* A block may have run out of generations since the survey began. */
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

	s->proven = s->first_window = true;
	s->started = clock_monotonic_ms();
	if (space_read_movement(s->redis, s->space, &s->at_start, err) < 0 ||
	    reclaim_gaps_read(s->redis, s->space, &s->gaps, err) < 0)
		return -1;
	first = s->at_start.first;
	cursor = s->cursor = s->at_start.cursor;
	s->terms = (struct judge_terms){s->space, s->at_start.now};
	if (first > cursor)
		first = s->at_start.first = cursor;
	if (block_map_init(&s->map,
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
	block_map_free(&s->map);
	stretches_free(&s->suspects);
	stretches_free(&s->lost);
	findings_free(&s->findings);
	reclaim_gaps_free(s->gaps);
	s->gaps = NULL;
}
