#include "collector/exactly_once/insertion.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "collector/exactly_once/batch.h"
#include "common/clock.h"

enum {
	TOKENS_MAX = 3, /* limit of tokens used in one try */
	TOKEN_MAX = 400,
	/* Events may be out of order by that much if brokers' clocks differ. */
	SINCE_MARGIN_MS = 10 * 60 * 1000,
};

/* --- end of an insert ----------------------------------------------------- */

/* This matches each of its tokens: a name ends in digits, and "#" begins a
 * number. */
int insertion_end(struct sink *sink, enum sink_table table, const char *name,
		  struct error *err)
{
	char id[SINK_ID_MAX];

	sink_query_id(sink_table_name(table), name, id);
	if (clickhouse_end_queries(sink_server(sink), id, err) < 0)
		return error_wrap(err, "ending an insert");
	return 0;
}

int insertion_end_former(struct sink *sink, enum sink_table table,
			 const char *topic, int32_t partition,
			 const struct plan_facts *facts, struct error *err)
{
	const struct intent *intent = &facts->intent;
	char name[BATCH_NAME_MAX];

	if (!facts->committed || facts->kind != INTENT_OURS ||
	    !intent->has_batch)
		return 0;
	insert_name(intent->epoch, topic, partition, "", intent->first,
		    intent->last, name);
	return insertion_end(sink, table, name, err) < 0
		       ? -1
		       : insertion_end(sink, SINK_PROGRESS, name, err);
}

/* --- count ---------------------------------------------------------------- */

enum found_rows {
	FOUND_NONE,
	FOUND_SOME,
	FOUND_ALL,
};

/* Adds the part's stored rows to *there, and all its rows to *all. */
static int count_part(struct sink *sink, const struct insertion *in,
		      const struct insertion_part *part, uint64_t *there,
		      uint64_t *all, struct error *err)
{
	struct clickhouse *ch = sink_server(sink);
	int64_t since = part->since_ms - SINCE_MARGIN_MS;
	struct ranges stored = {0};
	bool told;
	int status;

	if (in->table == SINK_PROGRESS) {
		if (stored_is_reported(ch, &part->key, part->first, part->last,
				       since, &told, err) < 0)
			return -1;
		*there += told;
		*all += 1;
		return 0;
	}
	*all += ranges_count(part->rows, 0, UINT64_MAX - 1);
	status = stored_ranges(ch, &part->key, part->first, part->last, since,
			       &stored, err);
	if (status == 0)
		*there += ranges_common(&stored, part->rows);
	ranges_release(&stored);
	return status;
}

static int count_stored_rows(struct sink *sink, const struct insertion *in,
			     struct insertion_state *state,
			     enum found_rows *ret, struct error *err)
{
	int64_t asked_ms = clock_boottime_ms();
	uint64_t there = 0, all = 0;

	for (size_t i = 0; i < in->part_count; i++)
		if (count_part(sink, in, &in->parts[i], &there, &all, err) < 0)
			return -1;
	state->known_ms = asked_ms;
	*ret = there == all ? FOUND_ALL : there ? FOUND_SOME : FOUND_NONE;
	return 0;
}

/* --- send ----------------------------------------------------------------- */

static void token_of(const struct insertion *in,
		     const struct insertion_state *state, char token[TOKEN_MAX])
{
	if (!state->number)
		snprintf(token, TOKEN_MAX, "%s", in->name);
	else if (in->table == SINK_LINKS)
		snprintf(token, TOKEN_MAX, "%s#%08x", in->name,
			 (unsigned)randombytes_random());
	else
		snprintf(token, TOKEN_MAX, "%s#%u", in->name, state->number);
}

static int send_rows(struct sink *sink, const struct insertion *in,
		     const struct insertion_state *state, struct error *err)
{
	struct collector_metrics *m = in->metrics;
	int64_t start = clock_monotonic_ns();
	char token[TOKEN_MAX];

	if (clock_boottime_ms() - state->known_ms > state->kept_ms)
		return error_set(err, ERROR_LATE,
				 "the batch's token may be forgotten");
	token_of(in, state, token);
	if (sink_insert(sink, in->table, token, in->rows, in->len, err) < 0) {
		if (m)
			metric_add(m->failures[in->table], 1);
		return -1;
	}
	if (!m)
		return 0;
	metric_observe(m->seconds[in->table],
		       (double)(clock_monotonic_ns() - start) / 1e9);
	metric_add(m->batches[in->table], 1);
	metric_add(m->rows[in->table], in->count);
	return 0;
}

/*
 * Rows of links are replaced by newer versions of themselves, even within one
 * insert, so a missing row may have been stored before.  A row that is sent
 * again is replaced again: once the stored rows are left out, the others are
 * sent under a token that was never used, and the server's answer is trusted.
 */
static int send_what_is_missing(struct sink *sink, const struct insertion *in,
				struct insertion_state *state,
				struct error *err)
{
	bool links = in->table == SINK_LINKS;
	enum found_rows found = FOUND_NONE;

	for (unsigned used = 0; used <= TOKENS_MAX; used++) {
		if (count_stored_rows(sink, in, state, &found, err) < 0)
			return -1;
		if (found == FOUND_ALL)
			return 0;
		if (found == FOUND_SOME)
			return error_set(err, ERROR_LATE,
					 "some of the batch's rows are stored");
		state->number += state->answered;
		state->answered = false;
		if (send_rows(sink, in, state, err) < 0)
			return -1;
		if (links && state->number)
			return 0;
		state->answered = true;
	}
	return error_set_retriable(err, ERROR_REMOTE,
				   "ClickHouse answers inserts into %s and "
				   "stores nothing",
				   sink_table_name(in->table));
}

int insertion_run(struct sink *sink, const struct insertion *in,
		  struct insertion_state *state, struct error *err)
{
	const char *table = sink_table_name(in->table);

	if (!state->doubt) {
		state->doubt = true;
		if (send_rows(sink, in, state, err) < 0)
			return -1;
	} else if (insertion_end(sink, in->table, in->name, err) < 0 ||
		   stored_sync(sink_server(sink), table, err) < 0 ||
		   send_what_is_missing(sink, in, state, err) < 0) {
		return -1;
	}
	state->doubt = state->answered = false;
	return 0;
}
