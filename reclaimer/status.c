#include "reclaimer/status.h"

#include <stdlib.h>

#include "linkstore/space/ledger.h"
#include "linkstore/space/reclaim.h"
#include "linkstore/space/record.h"
#include "reclaimer/history.h"
#include "reclaimer/show/status_report.h"

/* A failure that is a fact about the space, to be told. */
static bool is_state(const struct error *err)
{
	return err->code == ERROR_UNSAFE || err->code == ERROR_NOTFOUND;
}

static int ask_space(struct redis *redis, const struct link_space *space,
		     struct space_status *s, struct error *err)
{
	s->space = space->name;
	if (reclaim_check_sight(redis, space, &s->reason) < 0) {
		s->refused = true;
		if (!is_state(&s->reason)) {
			*err = s->reason;
			return -1;
		}
	}
	if (space_check(redis, space, err) < 0 ||
	    space_read_ledger(redis, space, &s->ledger, err) < 0)
		return is_state(err) ? 0 : -1;
	s->there = true;
	return 0;
}

static int ask_runs(const struct reclaimer_config *config,
		    struct space_status *spaces, size_t count,
		    struct error *err)
{
	struct clickhouse *ch = clickhouse_new(&config->clickhouse, err);
	int status = ch ? 0 : -1;

	for (size_t i = 0; i < count && status == 0; i++)
		status =
			history_read(ch, spaces[i].space, PAST_RUNS_MAX,
				     spaces[i].runs, &spaces[i].run_count, err);
	clickhouse_free(ch);
	return status;
}

static int ask_spaces(const struct linkstore *store, struct redis *redis,
		      const char *only, struct space_status *ret_spaces,
		      size_t *ret_count, struct error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < linkstore_space_count(store); i++) {
		const struct link_space *space = linkstore_space(store, i);

		if ((only && space != linkstore_space_named(store, only)) ||
		    !link_space_has_blocks(space))
			continue;
		if (ask_space(redis, space, &ret_spaces[count++], err) < 0)
			return -1;
	}
	*ret_count = count;
	if (!count && only)
		return error_set(err, ERROR_USAGE,
				 "--space: there is no space '%.40s' with "
				 "blocks in the configuration",
				 only);
	return 0;
}

static int show(const struct reclaimer_config *config,
		const struct options *options, struct space_status *spaces,
		size_t count, struct error *err)
{
	struct status_report report = {spaces, count, NULL};
	struct error why;

	if (!config->reclaimer.record)
		report.runs_unknown = "reclaimer.record is off";
	else if (ask_runs(config, spaces, count, &why) < 0)
		report.runs_unknown = why.text;
	return options->json ? status_json(&report, err)
			     : status_text(&report, err);
}

int reclaimer_status(struct app *app, const struct reclaimer_config *config,
		     const struct options *options, struct error *err)
{
	struct linkstore *store = linkstore_new(&config->links, err);
	struct redis *redis = NULL;
	struct space_status *spaces = NULL;
	size_t count;
	int status = -1;

	(void)app;
	if (!store)
		return -1;
	redis = redis_new(&config->redis, err);
	if (!redis)
		goto out;
	spaces = calloc(linkstore_space_count(store), sizeof(*spaces));
	if (!spaces) {
		error_set_nomem(err);
		goto out;
	}
	if (ask_spaces(store, redis, options->space, spaces, &count, err) == 0)
		status = show(config, options, spaces, count, err);
out:
	free(spaces);
	redis_free(redis);
	linkstore_free(store);
	return status;
}
