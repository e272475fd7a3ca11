#include "collector/import/courier.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "collector/limits/backoff.h"
#include "collector/limits/pace.h"
#include "collector/sink.h"
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
	struct pace pace;
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
	pace_init(&c->pace, (double)config->collector.parts_per_second, now);
	pace_share(&c->pace, 1, 1, now);
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
	if (journal_begin(j, path, err) < 0)
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

static int insert(struct courier *c, struct block *b, const char *token,
		  struct error *err)
{
	const struct progress_origin origin = {
		.epoch = IMPORT_EPOCH,
		.topic = c->journal.topic,
		.collector = c->host,
		.now_ms = clock_real_ms(),
	};
	const struct batch *batch = &b->batch;

	if (batch->rows.len &&
	    sink_insert(c->sink, SINK_CLICKS, token, batch->rows.data,
			batch->rows.len, err) < 0)
		return -1;
	buf_reset(&c->progress);
	batch_progress_row(batch, &origin, &c->progress);
	if (c->progress.failed)
		return error_set_nomem(err);
	return sink_insert(c->sink, SINK_PROGRESS, token, c->progress.data,
			   c->progress.len, err);
}

static int send_once(struct courier *c, struct block *b, const char *file,
		     struct error *err)
{
	char token[BATCH_TOKEN_MAX];

	if (journal_announce(&c->journal, b->first, b->last, file, err) < 0)
		return -1;
	batch_token(&b->batch, IMPORT_EPOCH, c->journal.topic, 0, token);
	return insert(c, b, token, err);
}

static void keep_pace(struct courier *c, const struct block *b)
{
	while (!pace_ready(&c->pace, clock_monotonic_ms()) &&
	       !app_should_stop(c->app, PACE_MS))
		;
	pace_spend(&c->pace, (uint32_t)b->day_count, clock_monotonic_ms());
}

int courier_send(struct courier *c, struct block *b, struct enricher *enricher,
		 const struct journal_state *state, const char *file,
		 struct error *err)
{
	struct patience patience = {0};
	int status;

	do
		status = block_find_owners(b, c->journal.ch, err);
	while (status < 0 && again(c, &patience, err));
	if (status < 0 || block_build(b, enricher, &c->journal, state, err) < 0)
		return -1;
	keep_pace(c, b);
	patience = (struct patience){0};
	do
		status = send_once(c, b, file, err);
	while (status < 0 && again(c, &patience, err));
	return status;
}
