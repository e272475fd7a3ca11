/*
 * dlq_command.c - `collector dlq list` and `collector dlq replay`: what could
 * not be stored, and another try.
 *
 * A letter is sent again together with its mark, in one transaction: killed at
 * any point it was sent, and is known to be, or neither.
 */
#include <string.h>

#include "collector/commands.h"
#include "collector/tools/dlq/dlq.h"
#include "common/clock.h"

#define LIMIT	   50
#define LIMIT_MAX  100000
#define STOP_EVERY 1024 /* records between two looks for a signal */

int dlq_step(struct dlq *d, struct error *err)
{
	if (++d->walked % STOP_EVERY == 0 && app_should_stop(d->app, 0))
		return error_set_retriable(err, ERROR_BUSY, "interrupted");
	return 0;
}

static int take_mark(void *arg, const struct letter *letter, struct error *err)
{
	struct dlq *d = arg;

	if (dlq_step(d, err) < 0)
		return -1;
	if (letter->kind == LETTER_MARK &&
	    positions_add(&d->replayed, letter->topic, letter->partition,
			  letter->offset, err) < 0)
		return -1;
	return 0;
}

int dlq_read_marks(struct dlq *d, struct error *err)
{
	return letters_walk(d->reader, d->config->kafka.topic_dlq, 0, take_mark,
			    d, err);
}

/* --- the command line ----------------------------------------------------- */

static int read_limit(struct dlq *d, struct error *err)
{
	const char *text = app_option_value(d->app, "limit");

	d->limit = LIMIT;
	if (!text || (letter_number(text, &d->limit) && d->limit > 0 &&
		      d->limit <= LIMIT_MAX))
		return 0;
	return error_set(err, ERROR_USAGE,
			 "--limit: '%.40s' is no number from 1 to %d", text,
			 LIMIT_MAX);
}

static int read_choice(struct dlq *d, struct error *err)
{
	const char *offsets = app_option_value(d->app, "offset");
	struct choice *c = &d->choice;

	c->from = INT64_MIN;
	c->to = INT64_MAX;
	c->reason = app_option_value(d->app, "reason");
	if (app_option_time(d->app, "from", &c->from, err) < 0 ||
	    app_option_time(d->app, "to", &c->to, err) < 0)
		return -1;
	if (c->from >= c->to)
		return error_set(err, ERROR_USAGE, "--from lies behind --to");
	if (offsets && app_option_value(d->app, "all"))
		return error_set(err, ERROR_USAGE,
				 "--offset and --all contradict each other");
	return offsets ? choice_read_offsets(c, offsets, err) : 0;
}

static bool is_given(const struct dlq *d, const char *name)
{
	return app_option_value(d->app, name) != NULL;
}

static int check_replay(const struct dlq *d, struct error *err)
{
	if (is_given(d, "limit"))
		return error_set(err, ERROR_USAGE,
				 "--limit does not go with 'replay'");
	if (!is_given(d, "all") && !is_given(d, "offset") &&
	    !is_given(d, "reason"))
		return error_set(err, ERROR_USAGE,
				 "which letters? --offset, --reason or --all");
	return 0;
}

static int check_list(const struct dlq *d, struct error *err)
{
	if (is_given(d, "force") || is_given(d, "dry-run"))
		return error_set(err, ERROR_USAGE,
				 "--force and --dry-run do not go with 'list'");
	return 0;
}

static int run(struct dlq *d, int (*fn)(struct dlq *d, struct error *err),
	       struct error *err)
{
	int status = -1;

	d->reader = kafka_reader_new(&d->config->kafka, "shortloop-dlq",
				     d->config->collector.group, err);
	if (d->reader)
		status = fn(d, err);
	kafka_reader_free(d->reader);
	positions_free(&d->replayed);
	positions_free(&d->seen);
	return status;
}

int collector_dlq(struct app *app, const struct collector_config *config,
		  struct error *err)
{
	struct dlq d = {.app = app, .config = config};
	size_t count;
	char *const *words = app_operands(app, &count);
	bool replay = count == 1 && !strcmp(words[0], "replay");

	if (!replay && (count != 1 || strcmp(words[0], "list") != 0))
		return error_set(err, ERROR_USAGE,
				 "dlq: expected 'dlq list' or 'dlq replay'");
	d.json = is_given(&d, "json");
	d.force = is_given(&d, "force");
	d.dry_run = is_given(&d, "dry-run");
	if ((replay ? check_replay : check_list)(&d, err) < 0 ||
	    read_limit(&d, err) < 0 || read_choice(&d, err) < 0)
		return -1;
	return run(&d, replay ? dlq_replay : dlq_list, err);
}
