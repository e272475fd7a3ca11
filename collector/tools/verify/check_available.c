#include "collector/tools/verify/check_available.h"

#include <inttypes.h>

#include "collector/enrich/event.h"
#include "collector/tools/verify/reported.h"

/* --- rows of other events ------------------------------------------------- */

/*
 * A log that was cut (an unclean election, a restored disk) and written again
 * gives offsets that have a row to new events.  Such a row hides that its event
 * is not stored.  The time at which Kafka stored an event tells the two apart:
 * the times of 64 offsets are added up on both sides, and compared one by one
 * where the sums differ.  If not all of the 64 have a row (dead letters,
 * missing or waiting events), Kafka's times are added up again for those that
 * have one.
 */

/* Limit of words of 64 offsets that are compared one by one.  Beyond it, all
 * offsets of a word count as other events, unless there are rows that Kafka
 * lacks, which are findings of their own. */
#define NAMED_MAX 1000
/* Number of words that are read again at once. */
#define AGAIN_WORDS 512

/* Only offsets in the window count: Kafka may have dropped those before it. */
static int read_words(struct verify *v, struct span *span, uint64_t first,
		      uint64_t last, struct error *err)
{
	const struct window *w = &v->window;
	uint64_t from = w->base + first * 64;

	return verify_read_again(v, span, from > w->first ? from : w->first,
				 w->base + last * 64 + 63, err);
}

/* The events that have a row, for AGAIN_WORDS words from `first` on. */
struct sums {
	uint64_t first; /* index of a word */
	uint64_t seen[AGAIN_WORDS], ms[AGAIN_WORDS];
};

static void sum_up(struct sums *s, const struct window *w,
		   const struct kafka_record *record)
{
	uint64_t at = (uint64_t)record->offset - w->base,
		 i = at / 64 - s->first;
	uint64_t bit = UINT64_C(1) << at % 64;

	if (!(window_word(w, IN_ROWS, at / 64) & bit))
		return;
	s->seen[i] |= bit;
	if (record->time_ms < 0 || s->ms[i] == WINDOW_TIME_UNKNOWN)
		s->ms[i] = WINDOW_TIME_UNKNOWN;
	else
		s->ms[i] += (uint64_t)record->time_ms;
}

/* A word cannot be compared if Kafka has dropped some of its events
 * meanwhile. */
static void take_sum(const struct sums *s, struct window *w, uint64_t word)
{
	uint64_t both =
		window_word(w, IN_KAFKA, word) & window_word(w, IN_ROWS, word);

	window_set_time(w, TIMES_OF_KAFKA, word,
			s->seen[word - s->first] == both
				? s->ms[word - s->first]
				: WINDOW_TIME_UNKNOWN);
}

/* Reads the words from `first` to `last` again, and adds up the uneven ones. */
static int sum_words(struct verify *v, struct span *span, uint64_t first,
		     uint64_t last, struct error *err)
{
	struct window *w = &v->window;
	struct sums sums = {.first = first};
	struct kafka_record record;
	uint64_t at = first, word;
	int status;

	if (read_words(v, span, first, last, err) < 0)
		return -1;
	while ((status = kafka_reader_next(v->again, &record, err)) > 0) {
		sum_up(&sums, w, &record);
		kafka_record_release(&record);
	}
	if (status < 0)
		return -1;
	while ((word = window_next_uneven(w, &at)) <= last)
		take_sum(&sums, w, word);
	return 0;
}

static int sum_uneven_words(struct verify *v, struct span *span,
			    struct error *err)
{
	struct window *w = &v->window;
	uint64_t at = 0, first, last, next;

	for (first = window_next_uneven(w, &at); first != UINT64_MAX;
	     first = next) {
		last = first;
		while ((next = window_next_uneven(w, &at)) != UINT64_MAX &&
		       next - first < AGAIN_WORDS)
			last = next;
		if (sum_words(v, span, first, last, err) < 0)
			return -1;
	}
	return 0;
}

static int read_times(struct verify *v, struct span *span, uint64_t word,
		      int64_t ret_ms[64], struct error *err)
{
	struct kafka_record record;
	int status;

	for (int i = 0; i < 64; i++)
		ret_ms[i] = -1;
	if (read_words(v, span, word, word, err) < 0)
		return -1;
	while ((status = kafka_reader_next(v->again, &record, err)) > 0) {
		ret_ms[record.offset % 64] = record.time_ms;
		kafka_record_release(&record);
	}
	return status;
}

static int note_other(struct verify *v, struct span *span, uint64_t offset,
		      struct error *err)
{
	struct event_finding f = {FINDING_OTHER,
				  span->where.partition,
				  span->where.epoch,
				  offset,
				  offset,
				  1};

	span->missing++;
	return event_findings_note(&v->findings, &f, err);
}

static int compare_word(struct verify *v, struct span *span,
			const struct stretch *part, uint64_t word,
			struct error *err)
{
	uint64_t first = v->window.base + word * 64;
	int64_t kafka[64], rows[64];

	if (stored_rows_times(&v->ask, part, first, rows, err) < 0 ||
	    read_times(v, span, word, kafka, err) < 0)
		return -1;
	for (unsigned i = 0; i < 64; i++) {
		if (rows[i] < 0 || kafka[i] < 0 || rows[i] == kafka[i])
			continue;
		if (note_other(v, span, first + i, err) < 0)
			return -1;
	}
	return 0;
}

static int find_others(struct verify *v, struct span *span,
		       const struct stretch *part, struct error *err)
{
	struct window *w = &v->window;
	uint64_t at = 0, index, count, named = 0;

	if (sum_uneven_words(v, span, err) < 0)
		return -1;
	while ((index = window_next_other(w, &at)) != UINT64_MAX) {
		if (named++ < NAMED_MAX) {
			if (compare_word(v, span, part, index, err) < 0)
				return -1;
			continue;
		}
		if (window_word(w, IN_ROWS, index) &
		    ~window_word(w, IN_KAFKA, index))
			continue;
		count = (uint64_t)__builtin_popcountll(
			window_word(w, IN_ROWS, index));
		span->missing += count;
		v->findings.events[FINDING_OTHER] += count;
		v->findings.unnamed++;
	}
	return 0;
}

/* --- replaced rows of links ----------------------------------------------- */

#define AT_ONCE 500 /* per query */

struct link_versions {
	struct arena arena;
	struct buf list; /* list of tuples */
	size_t count;
};

/* A record that is no link event stays in LEFT. */
static void add_event(struct link_versions *b, const struct kafka_record *r)
{
	const Shortloop__LinkEvent *e;
	struct error why;

	arena_reset(&b->arena);
	e = event_link(&b->arena, r->payload, r->len, &why);
	if (!e)
		return;
	buf_printf(&b->list, "%s(%" PRId64 ", unhex('", b->count ? ", " : "",
		   r->offset);
	buf_put_hex(&b->list, e->code, strlen(e->code));
	buf_printf(&b->list, "'), %" PRIu64 ", %" PRIu32 ")", e->link->link_id,
		   e->link->version);
	b->count++;
}

static int ask_versions(struct verify *v, struct span *span,
			struct link_versions *b, struct error *err)
{
	struct buf *sql = ask_begin(&v->ask);
	const uint64_t *offsets;
	size_t count;

	if (!b->count)
		return 0;
	if (!buf_cstr(&b->list))
		return error_set_nomem(err);
	buf_puts(sql, "WITH wanted AS (SELECT arrayJoin([");
	buf_append(sql, b->list.data, b->list.len);
	buf_puts(sql, "]) AS t, toUInt64(t.1) AS o, toString(t.2) AS c, "
		      "toUInt64(t.3) AS i, toUInt64(t.4) AS v) "
		      "SELECT DISTINCT o FROM wanted INNER JOIN (SELECT code, "
		      "link_id, max(version) AS newest FROM links WHERE (code, "
		      "link_id) IN (SELECT c, i FROM wanted) GROUP BY code, "
		      "link_id) AS l ON c = l.code AND i = l.link_id "
		      "WHERE newest >= v");
	buf_reset(&b->list);
	b->count = 0;
	if (ask_numbers(&v->ask, 1, &offsets, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		window_clear_range(&v->window, LEFT, offsets[i], offsets[i]);
	span->replaced += count;
	return 0;
}

static bool is_left(const struct window *w, const struct kafka_record *r)
{
	uint64_t offset = (uint64_t)r->offset;

	return window_count_in(w, LEFT, offset, offset) != 0;
}

static int read_run(struct verify *v, struct span *span, uint64_t first,
		    uint64_t last, struct link_versions *b, struct error *err)
{
	struct kafka_record record;
	int status;

	if (verify_read_again(v, span, first, last, err) < 0)
		return -1;
	while ((status = kafka_reader_next(v->again, &record, err)) > 0) {
		if (is_left(&v->window, &record))
			add_event(b, &record);
		kafka_record_release(&record);
		if (b->count >= AT_ONCE && ask_versions(v, span, b, err) < 0)
			return -1;
	}
	return status;
}

/* Removes from LEFT the events of which the archive has a newer version, which
 * replaced them.  They are read from Kafka again. */
static int leave_out_replaced(struct verify *v, struct span *span,
			      struct error *err)
{
	struct link_versions b = {0};
	uint64_t at = v->window.first, first, last, end;
	int status;

	if (!window_next_run(&v->window, LEFT, &at, &first, &last))
		return 0;
	/* All from the first to the last of them are read at once. */
	while (window_next_run(&v->window, LEFT, &at, &end, &last))
		;
	status = read_run(v, span, first, last, &b, err);
	if (status == 0)
		status = ask_versions(v, span, &b, err);
	arena_free(&b.arena);
	buf_free(&b.list);
	return status;
}

/* --- the check ------------------------------------------------------------ */

#define STEP 8192 /* records between two updates of the bar */

/* The last record read, if it lies after the window. */
struct pending_offset {
	bool is;
	uint64_t offset;
	int64_t time_ms;
};

/* A record without a time, which some brokers send, may have any time. */
static void stretch_times(const struct span *span, struct stretch *part,
			  int64_t time_ms)
{
	if (time_ms < 0) {
		part->since_ms = span->where.since_ms;
		part->until_ms = span->where.until_ms;
		return;
	}
	if (time_ms < part->since_ms)
		part->since_ms = time_ms;
	if (time_ms >= part->until_ms)
		part->until_ms = time_ms + 1;
}

static void add_time(struct window *w, const struct pending_offset *record)
{
	window_add_time(w, TIMES_OF_KAFKA, (record->offset - w->base) / 64,
			record->time_ms < 0 ? WINDOW_TIME_UNKNOWN
					    : (uint64_t)record->time_ms);
}

static int add_unreadable(struct verify *v, struct error *err)
{
	for (size_t i = 0; i < v->unreadable.count; i++) {
		const struct range *r = &v->unreadable.items[i];

		window_add_range(&v->window, IN_KAFKA, r->first, r->last);
		window_add_range(&v->window, IN_UNREADABLE, r->first, r->last);
	}
	return v->out_of_memory ? error_set_nomem(err) : 0;
}

/* Fills IN_KAFKA and TIMES_OF_KAFKA from the reader, which is at the window's
 * start, and finds the time range of these records. */
static int read_kafka(struct verify *v, const struct span *span,
		      struct stretch *part, struct pending_offset *next,
		      struct error *err)
{
	struct kafka_record record;
	uint64_t count = 0;
	int status = 1;

	part->since_ms = INT64_MAX;
	part->until_ms = 0;
	for (;;) {
		if (next->is) {
			if (next->offset >= part->end)
				break;
			window_add(&v->window, IN_KAFKA, next->offset);
			add_time(&v->window, next);
			stretch_times(span, part, next->time_ms);
			next->is = false;
		}
		status = kafka_reader_next(v->reader, &record, err);
		if (status <= 0)
			break;
		*next = (struct pending_offset){true, (uint64_t)record.offset,
						record.time_ms};
		kafka_record_release(&record);
		if (++count % STEP == 0 && verify_step(v, STEP, err) < 0)
			return -1;
	}
	if (part->since_ms > part->until_ms) {
		part->since_ms = span->where.since_ms;
		part->until_ms = span->where.until_ms;
	}
	v->done -= count - count % STEP;
	return status < 0 ? -1 : add_unreadable(v, err);
}

/* Dead letters that a batch reports, and that are no longer in their topic,
 * account for the same number of events LEFT there. */
static void account_for_batch(struct verify *v, struct span *span,
			      const struct reported_batch *b)
{
	uint64_t left = window_count_in(&v->window, LEFT, b->first, b->last);
	uint64_t there = offset_set_count(
		dlq_offsets_of(&v->dead_letters, span->where.partition),
		b->first, b->last);

	if (!left || there + left > b->dead)
		return;
	span->dead_gone += left;
	window_clear_range(&v->window, LEFT, b->first, b->last);
}

static int account_for_dead(struct verify *v, struct span *span,
			    const struct stretch *part, struct error *err)
{
	const struct reported_batch *batches;
	uint64_t after = 0;
	size_t count;

	do {
		if (reported_batches(&v->ask, part, after, REPORTED_DEAD,
				     &batches, &count, err) < 0)
			return -1;
		for (size_t i = 0; i < count; i++)
			account_for_batch(v, span, &batches[i]);
		if (count)
			after = batches[count - 1].first + 1;
	} while (count >= REPORTED_PAGE);
	return 0;
}

/* Offsets that a collector reported as lost, since Kafka had dropped them, or
 * they were unreadable, or an operator passed over them, are findings of
 * another kind. */
static int account_for_gaps(struct verify *v, struct span *span,
			    const struct stretch *part, struct error *err)
{
	const struct reported_batch *batches;
	uint64_t after = 0;
	size_t count;

	do {
		if (reported_batches(&v->ask, part, after, REPORTED_LOST,
				     &batches, &count, err) < 0)
			return -1;
		for (size_t i = 0; i < count; i++)
			window_add_range(&v->window, IN_GAPS, batches[i].first,
					 batches[i].last);
		if (count)
			after = batches[count - 1].first + 1;
	} while (count >= REPORTED_PAGE);
	window_keep(&v->window, IN_GAPS, LEFT);
	window_remove(&v->window, LEFT, IN_GAPS);
	return verify_find(v, span, IN_GAPS, FINDING_NOT_READ, &span->missing,
			   err);
}

/* Unreadable events that no collector has reported yet, due or not, will never
 * be read. */
static int account_for_unreadable(struct verify *v, struct span *span,
				  const struct stretch *part, struct error *err)
{
	struct window *w = &v->window;

	if (!window_count(w, IN_UNREADABLE))
		return 0;
	if (account_for_gaps(v, span, part, err) < 0)
		return -1;
	window_keep(w, IN_UNREADABLE, LEFT);
	window_remove(w, LEFT, IN_UNREADABLE);
	return verify_find(v, span, IN_UNREADABLE, FINDING_UNREADABLE,
			   &span->missing, err);
}

/* Removes from IN_KAFKA the events that are accounted for; the rest is
 * missing. */
static int account_for_rest(struct verify *v, struct span *span,
			    const struct stretch *part, struct error *err)
{
	struct window *w = &v->window;
	uint64_t due = span->due > w->first ? span->due : w->first;

	window_subtract_from(w, IN_KAFKA,
			     1U << IN_ROWS | 1U << IN_DEAD_LETTERS);
	if (account_for_unreadable(v, span, part, err) < 0)
		return -1;
	if (due < w->end) {
		span->waiting += window_count_in(w, LEFT, due, w->end - 1);
		window_clear_range(w, LEFT, due, w->end - 1);
	}
	if (!window_count(w, LEFT))
		return 0;
	if (account_for_dead(v, span, part, err) < 0 ||
	    account_for_gaps(v, span, part, err) < 0)
		return -1;
	if (v->links && leave_out_replaced(v, span, err) < 0)
		return -1;
	return verify_find(v, span, LEFT, FINDING_MISSING, &span->missing, err);
}

static int compare_window(struct verify *v, struct span *span,
			  const struct stretch *part, struct error *err)
{
	struct window *w = &v->window;

	if (verify_read_window(v, span, part, err) < 0)
		return -1;
	span->events += window_count(w, IN_KAFKA);
	span->rows += window_count(w, IN_ROWS);
	span->dead += window_count_both(w, IN_KAFKA, IN_DEAD_LETTERS);
	window_subtract_from(w, IN_ROWS, 1U << IN_KAFKA);
	if (verify_find(v, span, LEFT, FINDING_UNKNOWN, &span->unknown, err) <
	    0)
		return -1;
	if (!v->links && find_others(v, span, part, err) < 0)
		return -1;
	return account_for_rest(v, span, part, err);
}

/* Finds rows at offsets after the log's end.  Kafka may assign these
 * meanwhile. */
static int look_beyond(struct verify *v, struct span *span, struct error *err)
{
	struct stretch beyond = span->where;
	struct offset_survey_entry rows;
	struct event_finding f;
	int64_t low, high;

	/* Rows of a log that was cut are compared with reports. */
	if (v->links || !span->newest)
		return 0;
	beyond.first = span->where.end;
	beyond.end = UINT64_MAX;
	if (stored_rows_extent(&v->ask, &beyond, &rows, err) < 0)
		return -1;
	if (!rows.events)
		return 0;
	if (kafka_reader_bounds(v->reader, v->topic, (int32_t)beyond.partition,
				&low, &high, err) < 0)
		return -1;
	if (rows.last < (uint64_t)high)
		return 0;
	/* Only rows seen before the end was queried count: later rows are
	 * correct. */
	beyond.first = (uint64_t)high;
	beyond.end = rows.last + 1;
	if (stored_rows_extent(&v->ask, &beyond, &rows, err) < 0)
		return -1;
	if (!rows.events)
		return 0;
	f = (struct event_finding){FINDING_UNKNOWN, beyond.partition,
				   beyond.epoch,    rows.first,
				   rows.last,	    rows.events};
	span->unknown += rows.events;
	return event_findings_note(&v->findings, &f, err);
}

int check_available(struct verify *v, struct span *span, struct error *err)
{
	struct stretch part = span->where;
	struct pending_offset next = {0};

	if (kafka_reader_open(v->reader, v->topic, (int32_t)part.partition,
			      (int64_t)part.first, (int64_t)part.end, err) < 0)
		return -1;
	while (part.first < span->where.end) {
		part.end = window_reach(part.first, span->where.end);
		window_begin(&v->window, part.first, part.end);
		if (read_kafka(v, span, &part, &next, err) < 0 ||
		    compare_window(v, span, &part, err) < 0 ||
		    verify_step(v, part.end - part.first, err) < 0)
			return -1;
		part.first = part.end;
	}
	return look_beyond(v, span, err);
}
