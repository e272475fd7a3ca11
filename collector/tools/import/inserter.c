#include "collector/tools/import/inserter.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "collector/enrich/forgotten.h"
#include "collector/exactly_once/guarantee.h"
#include "collector/exactly_once/insertion.h"
#include "collector/exactly_once/sink.h"
#include "collector/insert_rate.h"
#include "collector/tools/import/patience.h"
#include "common/clock.h"
#include "common/host_name.h"

enum {
	RATE_POLL_MS = 20,
	HOST_TEXT = 256,
};

struct inserter {
	struct app *app;
	const struct collector_config *config;
	const struct domains *domains;
	int64_t wait_ms;
	struct journal journal;
	struct sink *sink;
	struct insert_rate insert_rate;
	int64_t kept_ms;     /* how long a token is certainly kept */
	struct buf progress; /* scratch */
	char host[HOST_TEXT];
};

static void name_host(struct inserter *ins)
{
	const char *name = ins->config->collector.name;

	if (name)
		snprintf(ins->host, sizeof(ins->host), "%s", name);
	else
		host_name(ins->host, sizeof(ins->host), "import");
}

struct inserter *inserter_new(struct app *app,
			      const struct collector_config *config,
			      const struct domains *domains, int64_t wait_ms,
			      struct error *err)
{
	struct inserter *ins = calloc(1, sizeof(*ins));
	int64_t now = clock_monotonic_ms();

	if (!ins) {
		error_set_nomem(err);
		return NULL;
	}
	ins->app = app;
	ins->config = config;
	ins->domains = domains;
	ins->wait_ms = wait_ms;
	name_host(ins);
	insert_rate_init(&ins->insert_rate,
			 (double)config->collector.parts_per_second, now);
	insert_rate_share(&ins->insert_rate, 1, 1, now);
	ins->journal.ch = clickhouse_new(&config->clickhouse, err);
	ins->sink = sink_new(&config->clickhouse, err);
	if (ins->journal.ch && ins->sink)
		return ins;
	inserter_free(ins);
	return NULL;
}

void inserter_free(struct inserter *ins)
{
	if (!ins)
		return;
	clickhouse_free(ins->journal.ch);
	sink_free(ins->sink);
	buf_free(&ins->progress);
	free(ins);
}

const char *inserter_topic(const struct inserter *ins)
{
	return ins->journal.topic;
}

static struct patience patience_of(const struct inserter *ins)
{
	return (struct patience){
		.app = ins->app,
		.wait_ms = ins->wait_ms,
		.pause_ms = ins->config->collector.retry_backoff_max};
}

/* --- log and position ----------------------------------------------------- */

/* The rate is doubled: collectors and another import may each fill the window
 * at this rate. */
int inserter_token_life(struct sink *sink,
			const struct collector_config *config, int64_t *ret_ms,
			struct error *err)
{
	static const struct measured by_settings = {.why = "an import"};
	struct guarantee g;

	if (guarantee_probe(sink, &by_settings, &g, err) < 0)
		return -1;
	*ret_ms =
		guarantee_retry_ms(&g, 2 * config->collector.parts_per_second);
	if (!*ret_ms)
		*ret_ms = INT64_MAX;
	return 0;
}

static int open_once(struct inserter *ins, const struct log_head *head,
		     const char *path, const char *identity,
		     struct journal_state *ret_state, struct error *err)
{
	struct journal *j = &ins->journal;

	if ((identity ? journal_set_name(j, "--identity", identity, err)
		      : journal_find_name(j, head, path, err)) < 0)
		return -1;
	if (getrandom(&j->run, sizeof(j->run), 0) != sizeof(j->run))
		return error_set_errno(err, "getrandom");
	if (inserter_token_life(ins->sink, ins->config, &ins->kept_ms, err) <
		    0 ||
	    journal_begin(j, path, err) < 0)
		return -1;
	return journal_read(j, ret_state, err);
}

static int refuse_head(struct error *err)
{
	return error_set(err, ERROR_INPUT,
			 "its first line is longer than %d KiB; name the log "
			 "with --identity",
			 LOG_HEAD_BYTES / 1024);
}

int inserter_open(struct inserter *ins, struct log_source *source,
		  const char *path, const char *identity,
		  struct journal_state *ret_state, struct error *err)
{
	struct patience patience = patience_of(ins);
	struct log_head head = {0};
	int status = -1;

	ins->journal.topic[0] = '\0';
	if (!identity && log_head_read(&head, source, err) < 0)
		goto out;
	if (!identity && !head.count) {
		status = head.seen_all ? 1 : refuse_head(err);
		goto out;
	}
	do
		status = open_once(ins, &head, path, identity, ret_state, err);
	while (status < 0 && patience_may_retry(&patience, err));
out:
	log_head_release(&head);
	return status;
}

/* --- batches -------------------------------------------------------------- */

/* The state of the two inserts of a batch. */
struct sending {
	struct import_batch *batch;
	const char *file;
	struct insertion_state rows, report;
	struct forgotten_state forgotten; /* the list used for the rows */
};

/* Resets the states of both inserts, except whether they may have been sent.
 * The time limit for sending is set by send_once. */
static void set_doubt(struct sending *s, bool is)
{
	s->rows = s->report = (struct insertion_state){.doubt = is};
}

static int insert_report(struct inserter *ins, struct sending *s,
			 const struct insertion *rows, struct error *err)
{
	const struct progress_origin origin = {
		.epoch = ins->journal.epoch,
		.topic = ins->journal.topic,
		.collector = ins->host,
	};
	struct insertion in = *rows;

	buf_reset(&ins->progress);
	batch_progress_row(&s->batch->batch, &origin, &ins->progress);
	if (ins->progress.failed)
		return error_set_nomem(err);
	in.table = SINK_PROGRESS;
	in.rows = ins->progress.data;
	in.len = ins->progress.len;
	return insertion_run(ins->sink, &in, &s->report, err);
}

static int insert_both(struct inserter *ins, struct sending *s,
		       struct error *err)
{
	const struct batch *batch = &s->batch->batch;
	char name[BATCH_NAME_MAX];
	const struct insertion_part part = {
		.key = {sink_table_name(SINK_CLICKS), ins->journal.topic, 0,
			ins->journal.epoch},
		.first = batch->first,
		.last = batch->last,
		.rows = &batch->in_hand,
	};
	const struct insertion in = {
		.table = SINK_CLICKS,
		.name = name,
		.parts = &part,
		.part_count = 1,
		.rows = batch->rows.data,
		.len = batch->rows.len,
	};

	batch_name(batch, ins->journal.epoch, ins->journal.topic, 0, name);
	if (in.len && insertion_run(ins->sink, &in, &s->rows, err) < 0)
		return -1;
	return insert_report(ins, s, &in, err);
}

/* A server that was restarted between the two inserts may have lost
 * acknowledged rows: they are counted then. */
static int insert_and_check_restart(struct inserter *ins, struct sending *s,
				    struct error *err)
{
	bool restarted;

	if (insert_both(ins, s, err) < 0 ||
	    sink_ask_restarted(ins->sink, &restarted, err) < 0)
		return -1;
	if (!restarted)
		return 0;
	s->rows.doubt = s->report.doubt = true;
	return insert_both(ins, s, err);
}

/*
 * If a visitor is listed after a batch was announced, `aggregator forget` waits
 * for the batch and changes its rows.  Visitors that were listed since the
 * batch was built are found here: the new list is loaded, and ERROR_LATE makes
 * the caller build the batch again.
 */
static int check_forgotten(struct inserter *ins, const struct sending *s,
			   struct enricher *enricher, struct error *err)
{
	struct forgotten_state known = enricher_forgotten(enricher), now;
	struct forgotten *list;

	if (forgotten_load(ins->journal.ch, &known, &list, err) < 0 ||
	    enricher_forget(enricher, list, err) < 0)
		return -1;
	now = enricher_forgotten(enricher);
	if (now.rows == s->forgotten.rows && now.sum == s->forgotten.sum)
		return 0;
	return error_set(err, ERROR_LATE,
			 "a visitor was forgotten since the batch was built");
}

/* Each try checks first whether this import is still the log's newest.  A newer
 * one that begins right after the answer sends the same batch.  Its token is
 * forgotten after enough inserts of others, mostly collectors: this try must
 * not arrive later than that. */
static int send_once(struct inserter *ins, struct sending *s,
		     struct enricher *enricher, struct error *err)
{
	const struct import_batch *b = s->batch;

	s->rows.known_ms = s->report.known_ms = clock_boottime_ms();
	s->rows.kept_ms = s->report.kept_ms = ins->kept_ms;
	if (journal_announce(&ins->journal, b->first, b->last, s->file, err) <
		    0 ||
	    check_forgotten(ins, s, enricher, err) < 0)
		return -1;
	if (insert_and_check_restart(ins, s, err) == 0)
		return 0;
	/* A server that was away may have lost acknowledged rows. */
	s->rows.doubt = s->report.doubt = true;
	return -1;
}

/* Builds the batch again from the rows that are not stored: the rows of some
 * days may be. */
static int rebuild_batch(struct inserter *ins, struct sending *s,
			 struct enricher *enricher, struct journal_state *state,
			 struct error *err)
{
	struct journal_state now;

	if (journal_read(&ins->journal, &now, err) < 0)
		return -1;
	now.pending = state->pending;
	now.first = state->first;
	now.last = state->last;
	journal_state_release(state);
	*state = now;
	set_doubt(s, true);
	s->forgotten = enricher_forgotten(enricher);
	return import_batch_build(s->batch, enricher, &ins->journal, state,
				  err);
}

static void await_rate(struct inserter *ins, const struct import_batch *b)
{
	while (!insert_rate_ready(&ins->insert_rate, clock_monotonic_ms()) &&
	       !app_should_stop(ins->app, RATE_POLL_MS))
		;
	insert_rate_spend(&ins->insert_rate, (uint32_t)b->day_count,
			  clock_monotonic_ms());
}

/* Loads the data that rows need in addition to the lines. */
static int look_up(struct inserter *ins, struct import_batch *b,
		   struct enricher *enricher, struct error *err)
{
	const struct forgotten_state known = enricher_forgotten(enricher);
	struct forgotten *list;

	if (forgotten_load(ins->journal.ch, &known, &list, err) < 0 ||
	    enricher_forget(enricher, list, err) < 0)
		return -1;
	return import_batch_find_links(b, ins->journal.ch, ins->domains, err);
}

int inserter_send(struct inserter *ins, struct import_batch *b,
		  struct enricher *enricher, struct journal_state *state,
		  const char *file, struct error *err)
{
	struct sending sending = {.batch = b, .file = file};
	struct patience patience = patience_of(ins);
	int status;

	do
		status = look_up(ins, b, enricher, err);
	while (status < 0 && patience_may_retry(&patience, err));
	sending.forgotten = enricher_forgotten(enricher);
	if (status < 0 ||
	    import_batch_build(b, enricher, &ins->journal, state, err) < 0)
		return -1;
	await_rate(ins, b);
	patience = patience_of(ins);
	set_doubt(&sending, state->pending && b->first == state->first);
	do {
		status = send_once(ins, &sending, enricher, err);
		if (status < 0 && err->code == ERROR_LATE) {
			*err = (struct error){0};
			status = rebuild_batch(ins, &sending, enricher, state,
					       err);
			if (status == 0)
				status =
					send_once(ins, &sending, enricher, err);
			/* The machine is slow: nothing was sent, so it is tried
			 * once more. */
			if (status < 0 && err->code == ERROR_LATE)
				err->retriable = true;
		}
	} while (status < 0 && patience_may_retry(&patience, err));
	return status;
}
