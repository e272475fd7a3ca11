#include "aggregator/reconcile/reconcile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/progress.h"
#include "aggregator/reconcile/reconciled_hours.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "schemas/ingest_progress.h"

/* A redirector that was silent for this long counts as gone: later hours do not
 * count it as unknown. */
#define SILENT_MAX CLOCK_DAY

#define HOUR INT64_C(3600) /* seconds */
#define DAY  (24 * HOUR)

const char *const reconciled_answer_names[RECONCILED_ANSWERS] = {
	"redirected", "not_found", "expired", "blocked", "head", "silent"};

const char *const reconciled_step_names[LOST_STEPS] = {
	"answered_produced", "produced_acknowledged", "acknowledged_stored",
	"stored_settled"};

/* --- figures ------------------------------------------------------------- */

uint64_t reconciled_due(const struct reconciled_hour *h)
{
	uint64_t due = 0;

	for (size_t i = 0; i < RECONCILED_SILENT; i++)
		due += h->answered[i];
	return due - h->withheld;
}

int64_t reconciled_lost(const struct reconciled_hour *h,
			enum reconciled_step step)
{
	switch (step) {
	case LOST_BEFORE_PRODUCED:
		return (int64_t)(reconciled_due(h) - h->produced);
	case LOST_BEFORE_ACKNOWLEDGED:
		return (int64_t)(h->produced - h->acknowledged);
	case LOST_BEFORE_STORED:
		return (int64_t)(h->acknowledged - h->stored);
	default:
		return h->waits ? 0
				: (int64_t)(h->stored + h->imported -
					    h->settled);
	}
}

uint64_t reconciled_waiting(const struct reconciled_hour *h)
{
	uint64_t rows = h->stored + h->imported;

	return h->waits && rows > h->settled ? rows - h->settled : 0;
}

bool reconciled_is_reported(const struct reconciled_hour *h)
{
	return !h->unknown && !h->unreported && !h->inexact &&
	       (!h->gone || h->kept_at);
}

bool reconciled_is_passed(const struct reconciled_hour *h)
{
	return reconciled_is_reported(h) && !h->settling;
}

bool reconciled_is_complete(const struct reconciled_hour *h)
{
	return reconciled_is_passed(h) && !h->waits;
}

void reconciliation_sum(const struct reconciliation *r,
			struct reconciled_sum *ret)
{
	*ret = (struct reconciled_sum){0};
	for (size_t i = 0; i < r->count; i++) {
		const struct reconciled_hour *h = &r->hours[i];

		ret->late += h->late;
		ret->waiting += reconciled_waiting(h);
		if (!reconciled_is_passed(h)) {
			ret->unknown_hours++;
			continue;
		}
		ret->hours++;
		for (enum reconciled_step step = 0; step < LOST_STEPS; step++) {
			int64_t n = reconciled_lost(h, step);

			ret->lost[step] += n > 0 ? n : 0;
			ret->surplus[step] -= n < 0 ? n : 0;
		}
	}
}

int64_t redirector_life_unknown_to(const struct redirector_life *lives,
				   size_t count, size_t i)
{
	const struct redirector_life *life = &lives[i];
	int64_t to = life->until + SILENT_MAX;

	if (life->ended)
		return life->until;
	/* A process that began earlier ran beside it, and does not replace
	 * it. */
	for (size_t k = 0; k < count; k++)
		if (k != i && !strcmp(lives[k].instance, life->instance) &&
		    lives[k].started > life->until && lives[k].started < to)
			to = lives[k].started;
	return to;
}

/* --- queries ------------------------------------------------------------- */

struct asking {
	struct clickhouse *ch;
	const struct clicks_config *clicks;
	int64_t from, to;
	struct reconciliation *r;
	struct redirector_life *lives;
	size_t life_count;
	uint64_t maybe_sent; /* rows */
};

static struct reconciled_hour *hour_of(struct asking *a, const char *start)
{
	int64_t at = (tsv_i64(start) - a->from) / HOUR;

	return at >= 0 && (size_t)at < a->r->count ? &a->r->hours[at] : NULL;
}

static int query_reconciled_range(struct asking *a, const char *sql,
				  const char *columns, clickhouse_row_fn *fn,
				  struct error *err)
{
	char from[24], to[24], before[24], after[24], delay[24];
	const struct clickhouse_param params[] = {
		{"param_from", from},	  {"param_to", to},
		{"param_before", before}, {"param_after", after},
		{"param_delay", delay},	  {NULL, NULL}};
	const int64_t reach = SILENT_MAX / 1000 + HOUR;

	snprintf(from, sizeof(from), "%" PRId64, a->from);
	snprintf(to, sizeof(to), "%" PRId64, a->to);
	snprintf(before, sizeof(before), "%" PRId64,
		 a->from > reach ? a->from - reach : 0);
	snprintf(after, sizeof(after), "%" PRId64, a->to + reach);
	snprintf(delay, sizeof(delay), "%" PRId64, a->clicks->edge_delay);
	return clickhouse_rows(a->ch, sql, params, columns, fn, a, err);
}

static int take_sealed(void *arg, char **f, struct error *err)
{
	struct asking *a = arg;

	(void)err;
	for (size_t i = 0; i < a->r->count; i++) {
		struct reconciled_hour *h = &a->r->hours[i];

		if (h->start / DAY * DAY == tsv_i64(f[0]))
			h->sealed_by = tsv_u64(f[1]);
	}
	return 0;
}

static int ask_sealed(struct asking *a, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/reconcile_sealed.sql.inc"
		;

	return query_reconciled_range(a, sql, "nn", take_sealed, err);
}

static int take_attempt(void *arg, char **f, struct error *err)
{
	struct reconciled_hour *h = hour_of(arg, f[0]);

	(void)err;
	if (h)
		h->attempt = tsv_u64(f[1]);
	return 0;
}

/* An hour that was published since its attempt was read. */
static int take_later_attempt(void *arg, char **f, struct error *err)
{
	struct reconciled_hour *h = hour_of(arg, f[0]);

	(void)err;
	if (h && h->attempt != tsv_u64(f[1]))
		h->waits = true;
	return 0;
}

static int ask_attempts(struct asking *a, clickhouse_row_fn *fn,
			struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/reconcile_attempts.sql.inc"
		;

	return query_reconciled_range(a, sql, "nn", fn, err);
}

static int take_settled(void *arg, char **f, struct error *err)
{
	struct reconciled_hour *h = hour_of(arg, f[0]);

	(void)err;
	if (h)
		h->settled = tsv_u64(f[1]);
	return 0;
}

static int ask_settled(struct asking *a, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/reconcile_settled.sql.inc"
		;

	return query_reconciled_range(a, sql, "nn", take_settled, err);
}

static int take_rows(void *arg, char **f, struct error *err)
{
	struct asking *a = arg;
	struct reconciled_hour *h = hour_of(a, f[0]);

	(void)err;
	if (!h)
		return 0;
	h->stored = tsv_u64(f[1]);
	h->imported = tsv_u64(f[2]);
	h->unreported = tsv_u64(f[3]);
	a->maybe_sent += tsv_u64(f[4]);
	h->late = tsv_u64(f[5]);
	h->removed = tsv_u64(f[6]);
	return 0;
}

/* Rows are late as click_is_late says, if a redirector sent them. */
static int ask_rows(struct asking *a, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/reconcile_rows.sql.inc"
		;

	return query_reconciled_range(a, sql, "nnnnnnn", take_rows, err);
}

static int take_repeats(void *arg, char **f, struct error *err)
{
	struct reconciled_hour *h = hour_of(arg, f[0]);

	(void)err;
	if (h)
		h->repeats = tsv_u64(f[1]);
	return 0;
}

/* Runs only if a row is marked as maybe sent before: an event that is sent
 * again keeps its time and id. */
static int ask_repeats(struct asking *a, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/reconcile_repeats.sql.inc"
		;

	return a->maybe_sent
		       ? query_reconciled_range(a, sql, "nn", take_repeats, err)
		       : 0;
}

/* --- rows that wait ------------------------------------------------------ */

/* A batch of an import is stored before it is reported.  One that was announced
 * longer ago than this belongs to an import that was killed. */
#define BATCH_MAX (10 * CLOCK_MINUTE)
#define ANY_TIME  "9999999999999" /* ms since 1970 */

static int note_stale(struct asking *a, struct error *err)
{
	struct stale_list stale;

	if (progress_waiting_hours(a->ch, 0, a->from, a->to, &stale, err) < 0)
		return -1;
	for (size_t i = 0; i < stale.count; i++)
		a->r->hours[(stale.items[i].start - a->from) / HOUR].waits =
			true;
	stale_list_release(&stale);
	return 0;
}

static bool has_unsettled_import(const struct reconciled_hour *h)
{
	return h->imported && h->stored + h->imported > h->settled;
}

static int count_batches(struct asking *a, uint64_t *ret, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/unreported_batches.sql.inc"
		;
	char longest[24];
	const struct clickhouse_param params[] = {{"param_listed", ANY_TIME},
						  {"param_longest", longest},
						  {"join_use_nulls", "0"},
						  {NULL, NULL}};

	snprintf(longest, sizeof(longest), "%" PRId64, (int64_t)BATCH_MAX);
	if (clickhouse_numbers(a->ch, sql, params, ret, 1, err) < 0)
		return error_wrap(err, "import_journal");
	return 0;
}

static int note_batches(struct asking *a, struct error *err)
{
	uint64_t batches = 0;
	bool any = false;

	for (size_t i = 0; i < a->r->count; i++)
		any |= has_unsettled_import(&a->r->hours[i]);
	if (any && count_batches(a, &batches, err) < 0)
		return -1;
	for (size_t i = 0; batches && i < a->r->count; i++)
		a->r->hours[i].waits |= has_unsettled_import(&a->r->hours[i]);
	return 0;
}

/*
 * Finds the hours whose rows wait to be settled.  It comes after rows and
 * counts were read: rows that were stored before are reported by now, announced
 * as a batch, or settled under another attempt than the one that was read.
 */
static int ask_waiting(struct asking *a, struct error *err)
{
	if (note_batches(a, err) < 0 || note_stale(a, err) < 0)
		return -1;
	return ask_attempts(a, take_later_attempt, err);
}

static int take_counters(void *arg, char **f, struct error *err)
{
	struct reconciled_hour *h = hour_of(arg, f[0]);

	(void)err;
	if (!h)
		return 0;
	for (size_t i = 0; i < RECONCILED_ANSWERS; i++)
		h->answered[i] = tsv_u64(f[1 + i]);
	f += 1 + RECONCILED_ANSWERS;
	h->produced = tsv_u64(f[0]);
	h->acknowledged = tsv_u64(f[1]);
	h->dropped = tsv_u64(f[2]);
	h->spooled = tsv_u64(f[3]);
	h->replayed = tsv_u64(f[4]);
	h->withheld = tsv_u64(f[5]);
	h->inexact = tsv_u64(f[6]) > 0;
	return 0;
}

static int ask_counters(struct asking *a, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/reconcile_counters.sql.inc"
		;

	return query_reconciled_range(a, sql, "nnnnnnnnnnnnnn", take_counters,
				      err);
}

static int take_life(void *arg, char **f, struct error *err)
{
	struct asking *a = arg;
	struct redirector_life *more =
		realloc(a->lives, (a->life_count + 1) * sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	a->lives = more;
	more[a->life_count] = (struct redirector_life){
		.instance = strdup(f[0]),
		.boot = tsv_u64(f[1]),
		.started = tsv_i64(f[2]),
		.until = tsv_i64(f[3]),
		.ended = tsv_u64(f[4]) > 0,
	};
	return more[a->life_count++].instance ? 0 : error_set_nomem(err);
}

/* This also reads a day before and after: redirectors that fell silent before,
 * and those that replaced them. */
static int ask_lives(struct asking *a, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/reconcile_lives.sql.inc"
		;

	return query_reconciled_range(a, sql, "snnnn", take_life, err);
}

/* --- gaps ---------------------------------------------------------------- */

static void note_hours(struct reconciliation *r, int64_t from, int64_t to)
{
	for (size_t i = 0; i < r->count; i++) {
		struct reconciled_hour *h = &r->hours[i];
		int64_t begin = clock_later(from, h->start * 1000);
		int64_t end = clock_earlier(to, (h->start + HOUR) * 1000);

		if (begin >= end)
			continue;
		h->unknown++;
		h->unknown_ms += end - begin;
	}
}

static int note_gap(struct asking *a, size_t i, struct error *err)
{
	const struct redirector_life *life = &a->lives[i];
	struct reconciliation *r = a->r;
	struct reconciled_gap *more;
	/* Counts of later hours are not complete either. */
	int64_t to = clock_earlier(
		redirector_life_unknown_to(a->lives, a->life_count, i),
		r->complete_until);

	if (life->until >= to || to <= a->from * 1000 ||
	    life->until >= a->to * 1000)
		return 0;
	note_hours(r, life->until, to);
	more = realloc(r->gaps, (r->gap_count + 1) * sizeof(*more));
	if (!more)
		return error_set_nomem(err);
	r->gaps = more;
	more[r->gap_count] = (struct reconciled_gap){
		.instance = strdup(life->instance),
		.boot = life->boot,
		.from = life->until,
		.to = to,
	};
	return more[r->gap_count++].instance ? 0 : error_set_nomem(err);
}

/* --- reconciling --------------------------------------------------------- */

static int make_hours(struct asking *a, struct error *err)
{
	struct reconciliation *r = a->r;

	r->count = (size_t)((a->to - a->from) / HOUR);
	r->hours = calloc(r->count, sizeof(*r->hours));
	if (!r->hours)
		return error_set_nomem(err);
	for (size_t i = 0; i < r->count; i++) {
		r->hours[i].start = a->from + (int64_t)i * HOUR;
		r->hours[i].settling =
			(r->hours[i].start + HOUR) * 1000 > r->complete_until;
	}
	return 0;
}

/* Queries from the last step to the first: events that arrive meanwhile then
 * appear at a later step only if they appear at the earlier ones. */
static int ask_all(struct asking *a, struct error *err)
{
	if (ask_sealed(a, err) < 0 || ask_attempts(a, take_attempt, err) < 0 ||
	    ask_settled(a, err) < 0 || ask_rows(a, err) < 0 ||
	    ask_waiting(a, err) < 0 || ask_repeats(a, err) < 0 ||
	    ask_counters(a, err) < 0 || ask_lives(a, err) < 0)
		return -1;
	for (size_t i = 0; i < a->life_count; i++)
		if (note_gap(a, i, err) < 0)
			return -1;
	return reconciled_hours_recall(a->ch, a->r, err);
}

int reconcile(struct clickhouse *ch, const struct clicks_config *clicks,
	      int64_t from, int64_t to, struct reconciliation *ret,
	      struct error *err)
{
	struct asking a = {
		.ch = ch, .clicks = clicks, .from = from, .to = to, .r = ret};
	struct progress last;
	int status = -1;

	*ret = (struct reconciliation){0};
	if (progress_read_last(ch, &last, err) < 0)
		return -1;
	ret->complete_until = last.complete_until;
	if (make_hours(&a, err) == 0)
		status = ask_all(&a, err);
	for (size_t i = 0; i < a.life_count; i++)
		free(a.lives[i].instance);
	free(a.lives);
	return status < 0 ? error_wrap(err, "reconciliation") : 0;
}

void reconciliation_release(struct reconciliation *r)
{
	for (size_t i = 0; i < r->gap_count; i++)
		free(r->gaps[i].instance);
	free(r->gaps);
	free(r->hours);
	*r = (struct reconciliation){0};
}
