#include "collector/tools/verify/check_reported.h"

#include "collector/tools/verify/reported.h"

/*
 * The batch has `gone` rows fewer than were reported.  They can be named if no
 * other offset lacks both a row and a dead letter.
 */
static int find_gone(struct verify *v, struct span *span,
		     const struct reported_batch *b, uint64_t gone,
		     struct error *err)
{
	struct window *w = &v->window;
	struct event_finding f = {FINDING_ROWS_GONE, span->where.partition,
				  span->where.epoch, b->first,
				  b->last,	     gone};
	uint64_t at = b->first, first, last;

	span->missing += gone;
	if (window_count_in(w, LEFT, b->first, b->last) != gone)
		return event_findings_note(&v->findings, &f, err);
	while (window_next_run(w, LEFT, &at, &first, &last) &&
	       first <= b->last) {
		f.first = first;
		f.last = last < b->last ? last : b->last;
		f.events = f.last - f.first + 1;
		if (event_findings_note(&v->findings, &f, err) < 0)
			return -1;
	}
	return 0;
}

static int compare_whole_batch(struct verify *v, struct span *span,
			       const struct reported_batch *b,
			       struct error *err)
{
	uint64_t rows = window_count_in(&v->window, IN_ROWS, b->first, b->last);
	uint64_t dead =
		window_count_in(&v->window, IN_DEAD_LETTERS, b->first, b->last);

	span->events += b->rows + b->dead;
	span->dead += dead;
	if (dead < b->dead)
		span->dead_gone += b->dead - dead;
	/* The archive keeps only the newest version of a link. */
	if (v->links || rows >= b->rows)
		return 0;
	return find_gone(v, span, b, b->rows - rows, err);
}

/* The batch reaches beyond the window, mostly because Kafka still holds the
 * rest of it.  The number of its rows in the window is known only if the batch
 * has no holes. */
static int compare_part_of_batch(struct verify *v, struct span *span,
				 const struct reported_batch *b,
				 struct error *err)
{
	const struct offset_set *letters =
		dlq_offsets_of(&v->dead_letters, span->where.partition);
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

/* A gap may contain a batch that was stored and not reported. */
static void note_kept(struct span *span, const struct window *w,
		      const struct reported_batch *b)
{
	uint64_t dead = window_count_in(w, IN_DEAD_LETTERS, b->first, b->last);

	span->events += window_count_in(w, IN_ROWS, b->first, b->last) + dead;
	span->dead += dead;
}

static int compare_batch(struct verify *v, struct span *span,
			 const struct reported_batch *b, struct error *err)
{
	struct window *w = &v->window;

	window_add_range(w, b->lost ? IN_GAPS : IN_REPORTS, b->first, b->last);
	if (b->lost) {
		note_kept(span, w, b);
		return 0;
	}
	return (b->first >= w->first && b->last < w->end
			? compare_whole_batch
			: compare_part_of_batch)(v, span, b, err);
}

static int compare_batches(struct verify *v, struct span *span,
			   const struct stretch *part, struct error *err)
{
	const struct reported_batch *batches;
	uint64_t after = 0;
	size_t count;

	window_subtract(&v->window, 1U << IN_ROWS | 1U << IN_DEAD_LETTERS);
	do {
		if (reported_batches(&v->ask, part, after, REPORTED_ALL,
				     &batches, &count, err) < 0)
			return -1;
		for (size_t i = 0; i < count; i++)
			if (compare_batch(v, span, &batches[i], err) < 0)
				return -1;
		if (count)
			after = batches[count - 1].first + 1;
	} while (count >= REPORTED_PAGE);
	return 0;
}

/* Finds offsets that have no row, no dead letter and no report. */
static int find_lost(struct verify *v, struct span *span, struct error *err)
{
	const unsigned kept =
		1U << IN_ROWS | 1U << IN_DEAD_LETTERS | 1U << IN_REPORTS;
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

static int compare_window(struct verify *v, struct span *span,
			  const struct stretch *part, struct error *err)
{
	if (verify_read_window(v, span, part, err) < 0)
		return -1;
	span->rows += window_count(&v->window, IN_ROWS);
	if (compare_batches(v, span, part, err) < 0)
		return -1;
	return find_lost(v, span, err);
}

int check_reported(struct verify *v, struct span *span, struct error *err)
{
	struct stretch part = span->where;

	while (part.first < span->where.end) {
		part.end = span->where.end;
		if (reported_part(&v->ask, &part, err) < 0)
			return -1;
		window_begin(&v->window, part.first, part.end);
		if (compare_window(v, span, &part, err) < 0 ||
		    verify_step(v, part.end - part.first, err) < 0)
			return -1;
		part.first = part.end;
	}
	return 0;
}
