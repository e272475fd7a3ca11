#include "aggregator/api/statistics/group_visitors.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/answer_cache.h"
#include "aggregator/api/statistics/clicks_sql.h"
#include "aggregator/settle/copied_days.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"

/* About how many sampled clicks one question reads: of more clicks, those of
 * rarer visitors only.  As few clicks of all links are counted themselves. */
#define SAMPLED_CLICKS 50000
/* Most bytes of the values that a statement lists: they are sent in its URL,
 * which ClickHouse takes up to a megabyte.  More values are not listed, and the
 * server returns those of the whole sample. */
#define LISTED_BYTES_MAX 65536
/* The rarest visitors in the table: one in 8 * 2^9. */
#define RARITY_MAX 9

/* One visitor in as many is in the sample. */
static uint64_t scale_of(unsigned rarity)
{
	return UINT64_C(8) << rarity;
}

static unsigned rarity_for(uint64_t clicks)
{
	unsigned rarity = 1;

	while (rarity < RARITY_MAX &&
	       clicks / scale_of(rarity) > SAMPLED_CLICKS)
		rarity++;
	return rarity;
}

/* --- the groups -------------------------------------------------------------
 */

struct place {
	size_t at; /* index of the dimension in question_singles */
	const char *value;
	struct counts *counts;
};

struct places {
	struct place *items; /* owned; sorted */
	size_t count;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return strcmp(x->value, y->value);
}

static int places_fill(struct places *ret, struct clicks_answer *a,
		       struct error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < BREAKDOWNS_MAX; i++)
		count += a->groupings[i].count;
	ret->items = calloc(count + 1, sizeof(*ret->items));
	if (!ret->items)
		return error_set_nomem(err);
	for (size_t i = 0; i < BREAKDOWNS_MAX; i++) {
		struct grouping *g = &a->groupings[i];

		for (size_t k = 0; k < g->count; k++)
			if (!g->groups[k].counts.visitors_known)
				ret->items[ret->count++] =
					(struct place){i, g->groups[k].value,
						       &g->groups[k].counts};
	}
	qsort(ret->items, ret->count, sizeof(*ret->items), compare_places);
	return 0;
}

/* Elements of an array are quoted, and not escaped once more as other
 * parameters are. */
static void put_quoted(struct buf *out, const char *text)
{
	buf_putc(out, '\'');
	for (; *text; text++) {
		switch (*text) {
		case '\n':
			buf_puts(out, "\\n");
			break;
		case '\t':
			buf_puts(out, "\\t");
			break;
		case '\'':
		case '\\':
			buf_putc(out, '\\');
			/* fallthrough */
		default:
			buf_putc(out, *text);
		}
	}
	buf_putc(out, '\'');
}

/* Writes the dimensions' indexes, and the values, as arrays. */
static void put_places(const struct places *places, struct buf *indexes,
		       struct buf *values)
{
	const char *comma = "[";

	for (size_t i = 0; i < places->count; i++) {
		buf_printf(indexes, "%s%zu", comma, places->items[i].at);
		buf_puts(values, comma);
		put_quoted(values, places->items[i].value);
		comma = ",";
	}
	buf_putc(indexes, ']');
	buf_putc(values, ']');
}

/* --- the statement ----------------------------------------------------------
 */

static const char visitors_of_groups[] =
#include "aggregator/sql/visitors_of_groups.sql.inc"
	;
static const char is_answered_group[] =
#include "aggregator/sql/parts/is_answered_group.sql.inc"
	;
static const char open_visitors_of_all[] =
#include "aggregator/sql/parts/open_visitors_of_all.sql.inc"
	;
static const char open_visitors_of_owners[] =
#include "aggregator/sql/parts/open_visitors_of_owners.sql.inc"
	;
static const char sampled_is_of_owners[] = "AND "
#include "aggregator/sql/parts/copied_row_is_of_owners.sql.inc"
	;

/* Returns whether rows of `clicks` are counted, too. */
static bool put_visitors(struct buf *sql, const struct question *q,
			 const struct copied_days *days, bool bounded,
			 bool listed)
{
	struct buf values = {0}, open = {0};
	bool any_open;

	clicks_sql_put_row_values(&values, q);
	clicks_sql_put_open_part(
		&open, bounded ? open_visitors_of_owners : open_visitors_of_all,
		q, days, false);
	any_open = open.len > 0;
	statement_put(
		sql, visitors_of_groups,
		(const struct statement_blank[]){
			{"condition", clicks_sql_condition(q->bots)},
			{"owners", bounded ? sampled_is_of_owners : NULL},
			{"row_values", statement_piece(sql, &values)},
			{"is_answered", listed ? is_answered_group : NULL},
			{"open_visitors", statement_piece(sql, &open)},
			{NULL, NULL},
		});
	buf_free(&values);
	buf_free(&open);
	return any_open;
}

/* --- one question -----------------------------------------------------------
 */

struct estimate {
	struct places places;
	struct copied_days days;
	struct question_params params;
	struct buf starts, attempts, indexes, values;
	bool listed; /* the groups' values are in the statement */
	unsigned rarity;
	uint64_t scale; /* one visitor in as many is counted; 1: each */
	char rarity_text[8], mask[24];
};

static void estimate_release(struct estimate *e)
{
	free(e->places.items);
	copied_days_release(&e->days);
	question_params_release(&e->params);
	buf_free(&e->starts);
	buf_free(&e->attempts);
	buf_free(&e->indexes);
	buf_free(&e->values);
}

static int fill_params(struct estimate *e, const struct call *call,
		       const struct question *q,
		       const struct owner_names *names, struct error *err)
{
	struct question_params *p = &e->params;

	question_params_fill(p, q, 0, 0);
	if (copied_days_put(&e->days, &e->starts, &e->attempts, err) < 0)
		return -1;
	if (!names)
		question_params_rows(p, call->config->aggregator.raw_rows_max);
	else if (question_params_owners(p, call, names, INT64_MAX, err) < 0)
		return -1;
	put_places(&e->places, &e->indexes, &e->values);
	if (!buf_cstr(&e->indexes) || !buf_cstr(&e->values))
		return error_set_nomem(err);
	snprintf(e->rarity_text, sizeof(e->rarity_text), "%u", e->rarity);
	snprintf(e->mask, sizeof(e->mask), "%" PRIu64, e->scale - 1);
	question_params_add(p, "param_days", e->starts.data);
	question_params_add(p, "param_attempts", e->attempts.data);
	e->listed = e->values.len <= LISTED_BYTES_MAX;
	if (e->listed) {
		question_params_add(p, "param_indexes", e->indexes.data);
		question_params_add(p, "param_values", e->values.data);
	}
	question_params_add(p, "param_rarity", e->rarity_text);
	question_params_add(p, "param_mask", e->mask);
	return 0;
}

/* A row is: index of the dimension, value, visitors in the sample. */
static int take_sampled(void *arg, char **f, struct error *err)
{
	const struct estimate *e = arg;
	const struct place key = {(size_t)tsv_u64(f[0]), f[1], NULL};
	const struct place *place =
		bsearch(&key, e->places.items, e->places.count, sizeof(key),
			compare_places);

	(void)err;
	if (place)
		place->counts->visitors = tsv_u64(f[2]);
	return 0;
}

/* Makes an estimate of the visitors that are in the sample. */
static void estimate_group(struct counts *c, uint64_t scale,
			   enum bots_mode mode)
{
	double of = (double)scale, sampled = (double)c->visitors;

	c->sampled = true;
	c->sample_error = 0;
	if (scale == 1)
		return;
	if (counts_clicks(c, mode) > 1)
		c->sample_error =
			sampled > 0 ? sqrt((of - 1) / (of * sampled)) : 1;
	c->visitors = sampled > 0 ? c->visitors * scale : scale / 2;
	counts_cap(c, mode);
}

/* Rows of `clicks` arrive all the time: an answer from them is not cached. */
static int query_sampled(struct estimate *e, struct call *call,
			 const struct question *q, bool bounded,
			 struct error *err)
{
	struct buf sql = {0};
	bool any_open = put_visitors(&sql, q, &e->days, bounded, e->listed);
	const struct answer_of what = {buf_cstr(&sql), e->params.items, "nsn",
				       call->deadline};
	int status;

	if (!what.sql)
		status = error_set_nomem(err);
	else if (any_open)
		status = clickhouse_rows(call->ch, what.sql, what.params,
					 what.columns, take_sampled, e, err);
	else
		status = answer_cache_rows(call->answers, call->ch, &what,
					   take_sampled, e, err);
	buf_free(&sql);
	return status;
}

static int estimate_groups(struct estimate *e, struct call *call,
			   const struct question *q,
			   const struct owner_names *names, struct error *err)
{
	int status = query_sampled(e, call, q, names != NULL, err);

	if (status < 0 && call_exceeded_rows(call)) {
		*err = (struct error){0};
		return 0;
	}
	for (size_t i = 0; status == 0 && i < e->places.count; i++)
		estimate_group(e->places.items[i].counts, e->scale, q->bots);
	return status;
}

/* Reads the days that are sampled.  Few clicks of all links are counted in
 * rows; those of an owner were counted there before this. */
static int read_days(struct estimate *e, struct call *call,
		     const struct question *q, const struct owner_names *names,
		     const struct clicks_answer *a, struct error *err)
{
	int64_t most = call->config->aggregator.owner_rows_max;

	e->rarity = rarity_for(a->total.redirected);
	e->scale = scale_of(e->rarity);
	if (freshness_days(call->freshness, COPIED_SAMPLE, call->ch, q->from,
			   q->to, &e->days, err) < 0)
		return -1;
	if (!names && q->from >= e->days.rows_from &&
	    a->total.events <= SAMPLED_CLICKS &&
	    a->total.events <= (uint64_t)most) {
		e->days.count = 0;
		e->scale = 1;
	}
	return 0;
}

int group_visitors_estimate(struct call *call, const struct question *q,
			    const struct owner_names *names,
			    struct clicks_answer *a, struct error *err)
{
	struct estimate e = {.rarity = 0};
	int status = places_fill(&e.places, a, err);

	if (status == 0 && e.places.count)
		status = read_days(&e, call, q, names, a, err);
	if (status == 0 && e.places.count && q->from >= e.days.days_from) {
		status = fill_params(&e, call, q, names, err);
		if (status == 0)
			status = estimate_groups(&e, call, q, names, err);
	}
	estimate_release(&e);
	return status;
}
