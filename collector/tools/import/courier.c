#include "collector/tools/import/courier.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "collector/exactly_once/guarantee.h"
#include "collector/exactly_once/insertion.h"
#include "collector/exactly_once/sink.h"
#include "collector/insert_rate.h"
#include "common/backoff.h"
#include "common/clock.h"

enum {
	RETRY_MIN_MS = 200,
	PACE_MS = 20,
	HOST_TEXT = 256,
};

struct courier {
	struct app *app;
	const struct collector_config *config;
	int64_t wait_ms;
	struct journal journal;
	struct sink *sink;
	struct insert_rate insert_rate;
	int64_t kept_ms;     /* how long a token is surely kept */
	struct buf progress; /* scratch */
	char host[HOST_TEXT];
};

static void name_host(struct courier *c)
{
	const char *name = c->config->collector.name;

	if (name)
		snprintf(c->host, sizeof(c->host), "%s", name);
	else if (gethostname(c->host, sizeof(c->host) - 1) < 0)
		snprintf(c->host, sizeof(c->host), "import");
}

struct courier *courier_new(struct app *app,
			    const struct collector_config *config,
			    int64_t wait_ms, struct error *err)
{
	struct courier *c = calloc(1, sizeof(*c));
	int64_t now = clock_monotonic_ms();

	if (!c) {
		error_set_nomem(err);
		return NULL;
	}
	c->app = app;
	c->config = config;
	c->wait_ms = wait_ms;
	name_host(c);
	insert_rate_init(&c->insert_rate,
			 (double)config->collector.parts_per_second, now);
	insert_rate_share(&c->insert_rate, 1, 1, now);
	c->journal.ch = clickhouse_new(&config->clickhouse, err);
	c->sink = sink_new(&config->clickhouse, err);
	if (c->journal.ch && c->sink)
		return c;
	courier_free(c);
	return NULL;
}

void courier_free(struct courier *c)
{
	if (!c)
		return;
	clickhouse_free(c->journal.ch);
	sink_free(c->sink);
	buf_free(&c->progress);
	free(c);
}

const char *courier_topic(const struct courier *c)
{
	return c->journal.topic;
}

/* --- a server that is away -------------------------------------------------
 */

struct patience {
	int64_t until; /* monotonic; 0: nothing has failed yet */
	unsigned failures;
};

/* After a failure: true when it is to be tried again, after a pause. */
static bool again(struct courier *c, struct patience *p, struct error *err)
{
	int64_t now = clock_monotonic_ms(), pause;
	uint32_t random = 0;

	if (!err->retriable)
		return false;
	if (!p->failures++)
		p->until = now + c->wait_ms;
	if (now >= p->until)
		return false;
	if (getrandom(&random, sizeof(random), 0) < 0)
		random = (uint32_t)now;
	pause = backoff_delay(RETRY_MIN_MS, c->config->collector.retry_max,
			      p->failures, random);
	if (p->failures == 1)
		log_warn(app_log(c->app), "waiting for ClickHouse",
			 log_err(err), log_int("after_ms", pause));
	if (app_should_stop(c->app, (int)pause)) {
		error_set(err, ERROR_BUSY, "stopped while ClickHouse was away");
		return false;
	}
	*err = (struct error){0};
	return true;
}

/* --- which log, and from where? --------------------------------------------
 */

/* By the settings: nothing is measured for a log.  Collectors and another
 * import may each fill the window at the same insert_rate.  Where no token is
 * kept, haste is of no use. */
static int learn_kept(struct courier *c, struct error *err)
{
	static const struct measured by_settings = {.why = "an import"};
	struct guarantee g;

	if (guarantee_probe(c->sink, &by_settings, &g, err) < 0)
		return -1;
	c->kept_ms = guarantee_retry_ms(
		&g, 2 * c->config->collector.parts_per_second);
	if (!c->kept_ms)
		c->kept_ms = INT64_MAX;
	return 0;
}

static int open_once(struct courier *c, const struct log_head *head,
		     const char *path, const char *identity,
		     struct journal_state *ret_state, struct error *err)
{
	struct journal *j = &c->journal;

	if ((identity ? journal_set_name(j, identity, err)
		      : journal_find_name(j, head, path, err)) < 0)
		return -1;
	if (getrandom(&j->run, sizeof(j->run), 0) != sizeof(j->run))
		return error_set_errno(err, "getrandom");
	if (learn_kept(c, err) < 0 || journal_begin(j, path, err) < 0)
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

int courier_open(struct courier *c, const char *path, const char *identity,
		 struct journal_state *ret_state, struct error *err)
{
	struct patience patience = {0};
	struct log_head head = {0};
	int status = -1;

	c->journal.topic[0] = '\0';
	if (!identity && log_head_read(&head, path, err) < 0)
		goto out;
	if (!identity && !head.count) {
		status = head.seen_all ? 1 : refuse_head(err);
		goto out;
	}
	do
		status = open_once(c, &head, path, identity, ret_state, err);
	while (status < 0 && again(c, &patience, err));
out:
	log_head_release(&head);
	return status;
}

/* --- blocks ----------------------------------------------------------------
 */

/* A block on its way: what is known of its two inserts. */
struct sending {
	struct block *block;
	const char *file;
	struct insertion_state rows, report;
};

/* When it is sent is for send_once to bound. */
static void doubt(struct sending *s, bool is)
{
	s->rows = s->report = (struct insertion_state){.doubt = is};
}

static int insert_report(struct courier *c, struct sending *s,
			 const struct insertion *rows, struct error *err)
{
	const struct progress_origin origin = {
		.epoch = IMPORT_EPOCH,
		.topic = c->journal.topic,
		.collector = c->host,
	};
	struct insertion in = *rows;

	buf_reset(&c->progress);
	batch_progress_row(&s->block->batch, &origin, &c->progress);
	if (c->progress.failed)
		return error_set_nomem(err);
	in.table = SINK_PROGRESS;
	in.rows = c->progress.data;
	in.len = c->progress.len;
	return insertion_run(c->sink, &in, &s->report, err);
}

static int insert_both(struct courier *c, struct sending *s, struct error *err)
{
	const struct batch *batch = &s->block->batch;
	char name[BATCH_NAME_MAX];
	const struct insertion_part part = {
		.key = {sink_table_name(SINK_CLICKS), c->journal.topic, 0,
			IMPORT_EPOCH},
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

	batch_name(batch, IMPORT_EPOCH, c->journal.topic, 0, name);
	if (in.len && insertion_run(c->sink, &in, &s->rows, err) < 0)
		return -1;
	return insert_report(c, s, &in, err);
}

/* A server that was started anew between the two may have lost the rows that it
 * had answered: they are counted then. */
static int insert(struct courier *c, struct sending *s, struct error *err)
{
	bool restarted;

	if (insert_both(c, s, err) < 0 ||
	    sink_ask_restarted(c->sink, &restarted, err) < 0)
		return -1;
	if (!restarted)
		return 0;
	s->rows.doubt = s->report.doubt = true;
	return insert_both(c, s, err);
}

/* Of each try it is asked whether this import is still the log's newest.  One
 * that begins right after the answer sends the same block, and what others then
 * insert, collectors above all, makes its token be forgotten: this one is not
 * to come later than that. */
static int send_once(struct courier *c, struct sending *s, struct error *err)
{
	const struct block *b = s->block;

	s->rows.known_ms = s->report.known_ms = clock_boottime_ms();
	s->rows.kept_ms = s->report.kept_ms = c->kept_ms;
	if (journal_announce(&c->journal, b->first, b->last, s->file, err) < 0)
		return -1;
	if (insert(c, s, err) == 0)
		return 0;
	/* Whatever was answered may be gone with a server that was away. */
	s->rows.doubt = s->report.doubt = true;
	return -1;
}

/* Some of its rows are stored, by days: the others are what is left. */
static int make_anew(struct courier *c, struct sending *s,
		     struct enricher *enricher, struct journal_state *state,
		     struct error *err)
{
	struct journal_state now;

	if (journal_read(&c->journal, &now, err) < 0)
		return -1;
	now.pending = state->pending;
	now.first = state->first;
	now.last = state->last;
	journal_state_release(state);
	*state = now;
	doubt(s, true);
	return block_build(s->block, enricher, &c->journal, state, err);
}

static void keep_pace(struct courier *c, const struct block *b)
{
	while (!insert_rate_ready(&c->insert_rate, clock_monotonic_ms()) &&
	       !app_should_stop(c->app, PACE_MS))
		;
	insert_rate_spend(&c->insert_rate, (uint32_t)b->day_count,
			  clock_monotonic_ms());
}

int courier_send(struct courier *c, struct block *b, struct enricher *enricher,
		 struct journal_state *state, const char *file,
		 struct error *err)
{
	struct sending sending = {.block = b, .file = file};
	struct patience patience = {0};
	int status;

	do
		status = block_find_owners(b, c->journal.ch, err);
	while (status < 0 && again(c, &patience, err));
	if (status < 0 || block_build(b, enricher, &c->journal, state, err) < 0)
		return -1;
	keep_pace(c, b);
	patience = (struct patience){0};
	doubt(&sending, state->pending && b->first == state->first);
	do {
		status = send_once(c, &sending, err);
		if (status < 0 && err->code == ERROR_LATE) {
			*err = (struct error){0};
			status = make_anew(c, &sending, enricher, state, err);
			if (status == 0)
				status = send_once(c, &sending, err);
			/* A slow machine, again: nothing was sent. */
			if (status < 0 && err->code == ERROR_LATE)
				err->retriable = true;
		}
	} while (status < 0 && again(c, &patience, err));
	return status;
}
