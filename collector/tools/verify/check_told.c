/* check_told.c - what Kafka no longer holds, against what was reported of it.
 */
#include "collector/tools/verify/told.h"
#include "collector/tools/verify/verify.h"

/*
 * Of a block that has fewer rows than were reported: which are gone can be said
 * when every offset that is neither stored nor a dead letter is one of them.
 */
static int find_gone(struct verify *v, struct span *span,
		     const struct told_block *b, uint64_t gone,
		     struct error *err)
{
	struct window *w = &v->window;
	struct finding f = {FINDING_ROWS_GONE, span->where.partition,
			    span->where.epoch, b->first,
			    b->last,	       gone};
	uint64_t at = b->first, first, last;

	span->missing += gone;
	if (window_count_in(w, LEFT, b->first, b->last) != gone)
		return findings_note(&v->findings, &f, err);
	while (window_next_run(w, LEFT, &at, &first, &last) &&
	       first <= b->last) {
		f.first = first;
		f.last = last < b->last ? last : b->last;
		f.events = f.last - f.first + 1;
		if (findings_note(&v->findings, &f, err) < 0)
			return -1;
	}
	return 0;
}

static int judge_whole(struct verify *v, struct span *span,
		       const struct told_block *b, struct error *err)
{
	uint64_t rows = window_count_in(&v->window, IN_ROWS, b->first, b->last);
	uint64_t dead =
		window_count_in(&v->window, IN_LETTERS, b->first, b->last);

	span->events += b->rows + b->dead;
	span->dead += dead;
	if (dead < b->dead)
		span->dead_gone += b->dead - dead;
	/* The archive keeps only the newest version of a link. */
	if (v->links || rows >= b->rows)
		return 0;
	return find_gone(v, span, b, b->rows - rows, err);
}

/* A block of which Kafka still holds the rest.  How many of its rows belong
 * here can be said if it has no holes. */
static int judge_part(struct verify *v, struct span *span,
		      const struct told_block *b, struct error *err)
{
	const struct offset_set *letters =
		letters_of(&v->letters, span->where.partition);
	uint64_t left = window_count_in(&v->window, LEFT, b->first, b->last);
	uint64_t dead = offset_set_count(letters, b->first, b->last);
	uint64_t gone = dead < b->dead ? b->dead - dead : 0;

	span->events += window_count_in(&v->window, IN_ROWS, b->first, b->last);
	if (v->links || b->last - b->first + 1 != b->rows + b->dead ||
	    left <= gone)
		return 0;
	span->events += left;
	return find_gone(v, span, b, left - gone, err);
}

/* In a gap may lie a block that was stored and not reported. */
static void note_kept(struct span *span, const struct window *w,
		      const struct told_block *b)
{
	uint64_t dead = window_count_in(w, IN_LETTERS, b->first, b->last);

	span->events += window_count_in(w, IN_ROWS, b->first, b->last) + dead;
	span->dead += dead;
}

static int judge_block(struct verify *v, struct span *span,
		       const struct told_block *b, struct error *err)
{
	struct window *w = &v->window;

	window_add_range(w, b->lost ? IN_GAPS : IN_BLOCKS, b->first, b->last);
	if (b->lost) {
		note_kept(span, w, b);
		return 0;
	}
	return (b->first >= w->first && b->last < w->end
			? judge_whole
			: judge_part)(v, span, b, err);
}

static int judge_blocks(struct verify *v, struct span *span,
			const struct stretch *part, struct error *err)
{
	const struct told_block *blocks;
	uint64_t after = 0;
	size_t count;

	window_subtract(&v->window, 1U << IN_ROWS | 1U << IN_LETTERS);
	do {
		if (told_blocks(&v->ask, part, after, TOLD_ALL, &blocks, &count,
				err) < 0)
			return -1;
		for (size_t i = 0; i < count; i++)
			if (judge_block(v, span, &blocks[i], err) < 0)
				return -1;
		if (count)
			after = blocks[count - 1].first + 1;
	} while (count >= TOLD_PAGE);
	return 0;
}

/* What neither rows nor letters nor blocks know of. */
static int find_lost(struct verify *v, struct span *span, struct error *err)
{
	const unsigned kept =
		1U << IN_ROWS | 1U << IN_LETTERS | 1U << IN_BLOCKS;
	struct window *w = &v->window;

	window_subtract_from(w, IN_GAPS, kept);
	span->events += window_count(w, LEFT);
	if (verify_find(v, span, LEFT, FINDING_NOT_READ, &span->missing, err) <
	    0)
		return -1;
	window_subtract(w, kept | 1U << IN_GAPS);
	span->events += window_count(w, LEFT);
	return verify_find(v, span, LEFT, FINDING_UNREPORTED, &span->missing,
			   err);
}

static int judge(struct verify *v, struct span *span,
		 const struct stretch *part, struct error *err)
{
	if (verify_read_window(v, span, part, err) < 0)
		return -1;
	span->rows += window_count(&v->window, IN_ROWS);
	if (judge_blocks(v, span, part, err) < 0)
		return -1;
	return find_lost(v, span, err);
}

int verify_told(struct verify *v, struct span *span, struct error *err)
{
	struct stretch part = span->where;

	while (part.first < span->where.end) {
		part.end = span->where.end;
		if (told_part(&v->ask, &part, err) < 0)
			return -1;
		window_begin(&v->window, part.first, part.end);
		if (judge(v, span, &part, err) < 0 ||
		    verify_step(v, part.end - part.first, err) < 0)
			return -1;
		part.first = part.end;
	}
	return 0;
}
