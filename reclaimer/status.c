#include "reclaimer/status.h"

#include <stdlib.h>

#include "linkstore/space/ledger.h"
#include "linkstore/space/reclaim.h"
#include "linkstore/space/record.h"
#include "linkstore/space/sight.h"
#include "reclaimer/history.h"
#include "reclaimer/session.h"
#include "reclaimer/show/status_report.h"

/* A failure that is a fact about the space, to be told. */
static bool is_state(const struct error *err)
{
	return err->code == ERROR_UNSAFE || err->code == ERROR_NOTFOUND;
}

static int ask_space(const struct session *session,
		     const struct reclaimer_settings *settings,
		     const struct link_space *space, struct space_status *s,
		     struct error *err)
{
	struct redis *redis = session->redis;

	s->space = space->name;
	if (reclaim_check_sight(redis, space, &s->reason) < 0) {
		s->refused = true;
		if (!is_state(&s->reason)) {
			*err = s->reason;
			return -1;
		}
	}
	if (space_check(redis, space, SPACE_TO_READ, err) < 0 ||
	    space_read_ledger_late(redis, space, settings->overdue_after,
				   &s->ledger, err) < 0) {
		if (!s->refused)
			s->reason = *err;
		s->refused = true;
		return is_state(err) ? 0 : -1;
	}
	s->there = true;
	return space_read_out(redis, space, OUT_RANGES_MAX, s->out,
			      &s->out_count, &s->out_total, err);
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

static int ask_and_show(const struct session *s,
			const struct reclaimer_config *config,
			const struct options *options, struct error *err)
{
	struct space_status *spaces =
		calloc(s->space_count + 1, sizeof(*spaces));
	int status = 0;

	if (!spaces)
		return error_set_nomem(err);
	for (size_t i = 0; i < s->space_count && status == 0; i++)
		status = ask_space(s, &config->reclaimer, s->spaces[i],
				   &spaces[i], err);
	if (status == 0)
		status = show(config, options, spaces, s->space_count, err);
	free(spaces);
	return status;
}

int reclaimer_status(struct app *app, const struct reclaimer_config *config,
		     const struct options *options, struct error *err)
{
	struct session s;
	int status = session_open(&s, config, options, err);

	(void)app;
	if (status == 0)
		status = ask_and_show(&s, config, options, err);
	session_close(&s);
	return status;
}
