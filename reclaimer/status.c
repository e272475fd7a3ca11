#include "reclaimer/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/output.h"
#include "linkstore/space/ledger.h"
#include "linkstore/space/manual_hold.h"
#include "linkstore/space/reclaim.h"
#include "linkstore/space/safety_check.h"
#include "linkstore/space/space_record.h"
#include "reclaimer/past_runs.h"
#include "reclaimer/session.h"
#include "reclaimer/space/clock_check.h"

#define PAST_RUNS_MAX  5
#define OUT_RANGES_MAX 50

struct space_status {
	const char *space;
	bool there;		    /* the ledger could be read */
	struct space_ledger ledger; /* valid if `there` */
	bool refused;		    /* a run would be refused ... */
	struct error reason;	    /* ... for this reason */
	struct past_run runs[PAST_RUNS_MAX];
	size_t run_count;
	/* Blocks taken out by hand; out_total also counts those without
	 * room. */
	struct out_range out[OUT_RANGES_MAX];
	size_t out_count;
	uint64_t out_total;
};

struct status_report {
	const struct space_status *spaces;
	size_t count;
	const char *runs_unknown; /* why there are no runs, or NULL */
};

/* --- text ---------------------------------------------------------------- */

/* Rounds to seconds, for readability. */
static void add_time(struct table *t, int64_t ms)
{
	char text[RFC3339_TEXT_MAX];

	table_text(t,
		   ms ? rfc3339_format(ms / CLOCK_SECOND * CLOCK_SECOND, text)
		      : "-");
}

static void add_space(struct table *t, const struct space_status *s)
{
	const struct space_ledger *l = &s->ledger;

	table_text(t, s->space);
	table_number(t, l->capacity);
	table_number(t, l->cursor);
	table_number(t, l->issued);
	table_number(t, l->due);
	table_number(t, l->overdue);
	table_number(t, l->lost);
	table_number(t, l->pooled);
	table_number(t, l->quarantined);
	table_number(t, l->out);
	table_number(t, l->retired);
	add_time(t, l->next_due);
}

static void add_today(struct table *t, const struct space_status *s)
{
	table_text(t, s->space);
	table_number(t, s->ledger.days[0].granted);
	table_number(t, s->ledger.days[0].reclaimed);
	table_number(t, s->ledger.days[0].pooled);
	table_number(t, s->ledger.days[0].links_created);
}

static void add_runs(struct table *t, const struct space_status *s)
{
	for (size_t i = 0; i < s->run_count; i++) {
		const struct past_run *r = &s->runs[i];

		table_text(t, s->space);
		table_text(t, r->started);
		table_number(t, r->scanned);
		table_number(t, r->freed);
		table_number(t, r->live);
		table_number(t, r->lost);
		table_decimal(t, r->seconds);
		table_text(t, *r->error	       ? r->error
			      : r->interrupted ? "interrupted"
					       : "ok");
	}
}

/* Prints and frees the table. */
static int put_table(struct table *t, const char *title, struct error *err)
{
	if (title)
		printf("\n%s\n", title);
	return output_table(t, err);
}

static int put_spaces(const struct status_report *report, struct error *err)
{
	struct table *blocks =
		table_new("space|>capacity|>cursor|>issued|>due|>overdue|>lost|"
			  ">pooled|>quarantined|>out|>retired|next due");
	struct table *today = table_new("space|>granted|>reclaimed|>pooled|"
					">links created");
	int status = 0;

	for (size_t i = 0; i < report->count; i++) {
		if (!report->spaces[i].there)
			continue;
		add_space(blocks, &report->spaces[i]);
		add_today(today, &report->spaces[i]);
	}
	if (put_table(blocks, NULL, err) < 0)
		status = -1;
	if (put_table(today, "Today (UTC), in blocks:", err) < 0)
		status = -1;
	return status;
}

static int put_runs(const struct status_report *report, struct error *err)
{
	struct table *t;
	size_t runs = 0;

	for (size_t i = 0; i < report->count; i++)
		runs += report->spaces[i].run_count;
	if (report->runs_unknown)
		printf("\nThe last runs are not known: %s\n",
		       report->runs_unknown);
	else if (!runs)
		puts("\nNo run is recorded yet.");
	if (!runs)
		return 0;
	t = table_new("space|started|>scanned|>freed|>live|>lost|>seconds|"
		      "result");
	for (size_t i = 0; i < report->count; i++)
		add_runs(t, &report->spaces[i]);
	return put_table(t, "Last runs:", err);
}

static void add_out(struct table *t, const struct space_status *s)
{
	char blocks[RANGE_TEXT_MAX];

	for (size_t i = 0; i < s->out_count; i++) {
		const struct out_range *r = &s->out[i];

		snprintf(blocks, sizeof(blocks), "%" PRIu64 "-%" PRIu64,
			 r->range.first, r->range.last);
		table_text(t, s->space);
		table_text(t, blocks);
		table_number(t, range_blocks(&r->range));
		add_time(t, r->since);
		table_text(t, r->who);
		table_text(t, r->reason);
	}
}

static int put_out(const struct status_report *report, struct error *err)
{
	uint64_t total = 0, shown = 0;
	struct table *t;

	for (size_t i = 0; i < report->count; i++) {
		total += report->spaces[i].out_total;
		shown += report->spaces[i].out_count;
	}
	if (!total)
		return 0;
	t = table_new("space|blocks|>how many|since|by|reason");
	for (size_t i = 0; i < report->count; i++)
		add_out(t, &report->spaces[i]);
	if (put_table(t, "Out of circulation, by hand:", err) < 0)
		return -1;
	if (total > shown)
		printf("and %" PRIu64 " ranges more\n", total - shown);
	return 0;
}

static int print_text(const struct status_report *report, struct error *err)
{
	if (put_spaces(report, err) < 0 || put_out(report, err) < 0 ||
	    put_runs(report, err) < 0)
		return -1;
	for (size_t i = 0; i < report->count; i++) {
		if (report->spaces[i].refused)
			printf("\nA run would be refused: %s\n",
			       report->spaces[i].reason.text);
	}
	return 0;
}

/* --- JSON ---------------------------------------------------------------- */

static void set_count(json_t *object, const char *key, uint64_t number)
{
	json_object_set_new(object, key, json_integer((json_int_t)number));
}

static void set_ledger(json_t *object, const struct space_ledger *l)
{
	char when[RFC3339_TEXT_MAX];

	set_count(object, "capacity", l->capacity);
	set_count(object, "cursor", l->cursor);
	set_count(object, "issued", l->issued);
	set_count(object, "due", l->due);
	set_count(object, "overdue", l->overdue);
	set_count(object, "lost", l->lost);
	set_count(object, "pooled", l->pooled);
	set_count(object, "quarantined", l->quarantined);
	set_count(object, "out", l->out);
	set_count(object, "retired", l->retired);
	json_object_set_new(
		object, "next_due",
		l->next_due ? json_string(rfc3339_format(l->next_due, when))
			    : json_null());
	set_count(object, "granted_today", l->days[0].granted);
	set_count(object, "reclaimed_today", l->days[0].reclaimed);
	set_count(object, "pooled_today", l->days[0].pooled);
	set_count(object, "links_created_today", l->days[0].links_created);
}

static json_t *run_json(const struct past_run *r)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:f, s:b, s:s}", "started",
			 r->started, "scanned", (json_int_t)r->scanned, "freed",
			 (json_int_t)r->freed, "live", (json_int_t)r->live,
			 "lost", (json_int_t)r->lost, "seconds",
			 round(r->seconds * 1000) / 1000, "interrupted",
			 (int)r->interrupted, "error", r->error);
}

static json_t *out_json(const struct out_range *r)
{
	char when[RFC3339_TEXT_MAX];

	return json_pack("{s:I, s:I, s:I, s:s, s:s, s:s}", "first",
			 (json_int_t)r->range.first, "last",
			 (json_int_t)r->range.last, "generation",
			 (json_int_t)r->range.generation, "since",
			 rfc3339_format(r->since, when), "by", r->who, "reason",
			 r->reason);
}

static json_t *space_json(const struct space_status *s, bool runs_known)
{
	json_t *object = json_object();
	json_t *runs = runs_known ? json_array() : json_null();
	json_t *out = json_array();

	json_object_set_new(object, "space", json_string(s->space));
	if (s->there)
		set_ledger(object, &s->ledger);
	json_object_set_new(object, "refused",
			    s->refused ? json_string(s->reason.text)
				       : json_null());
	for (size_t i = 0; i < s->run_count; i++)
		json_array_append_new(runs, run_json(&s->runs[i]));
	json_object_set_new(object, "runs", runs);
	for (size_t i = 0; i < s->out_count; i++)
		json_array_append_new(out, out_json(&s->out[i]));
	json_object_set_new(object, "out_ranges", out);
	return object;
}

static int print_json(const struct status_report *report, struct error *err)
{
	json_t *spaces = json_array();

	for (size_t i = 0; i < report->count; i++)
		json_array_append_new(
			spaces,
			space_json(&report->spaces[i], !report->runs_unknown));
	return output_json(json_pack("{s:o}", "spaces", spaces), err);
}

/* --- queries ---------------------------------------------------------------
 */

/* Whether the failure is a fact about the space, to be reported. */
static bool is_state(const struct error *err)
{
	return err->code == ERROR_UNSAFE || err->code == ERROR_NOTFOUND;
}

/* Checks the configuration as a run does, beyond what reading needs. */
static int ask_refusal(struct redis *redis, const struct link_space *space,
		       struct space_status *s, struct error *err)
{
	struct error why;

	if (s->refused ||
	    space_check(redis, space, SPACE_TO_RECLAIM, &why) == 0)
		return 0;
	if (why.code != ERROR_CONFIG && !is_state(&why)) {
		*err = why;
		return -1;
	}
	s->refused = true;
	s->reason = why;
	return 0;
}

static int ask_space(const struct session *session,
		     const struct link_space *space, struct space_status *s,
		     struct error *err)
{
	struct clock_check clock = {.log = app_log(session->app)};
	struct redis *redis = session->redis;
	int64_t redis_ms;

	s->space = space->name;
	if (session->config->reclaimer.record)
		clock.clickhouse = &session->config->clickhouse;
	if (space_safety_check(redis, space, &redis_ms, &s->reason) < 0 ||
	    clock_check_look(&clock, redis_ms, &s->reason) < 0) {
		s->refused = true;
		if (!is_state(&s->reason)) {
			*err = s->reason;
			return -1;
		}
	}
	if (space_check(redis, space, SPACE_TO_READ, err) < 0 ||
	    space_read_ledger_late(redis, space,
				   session->config->reclaimer.overdue_after,
				   &s->ledger, err) < 0) {
		if (!s->refused)
			s->reason = *err;
		s->refused = true;
		return is_state(err) ? 0 : -1;
	}
	s->there = true;
	if (ask_refusal(redis, space, s, err) < 0)
		return -1;
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
		status = past_runs_newest(ch, spaces[i].space, PAST_RUNS_MAX,
					  spaces[i].runs, &spaces[i].run_count,
					  err);
	clickhouse_free(ch);
	return status;
}

static int print_status_report(const struct session *s,
			       struct space_status *spaces, struct error *err)
{
	struct status_report report = {spaces, s->space_count, NULL};
	struct error why;

	if (!s->config->reclaimer.record)
		report.runs_unknown = "reclaimer.record is off";
	else if (ask_runs(s->config, spaces, s->space_count, &why) < 0)
		report.runs_unknown = why.text;
	return s->options.json ? print_json(&report, err)
			       : print_text(&report, err);
}

static int ask_and_print(const struct session *s, struct error *err)
{
	struct space_status *spaces =
		calloc(s->space_count + 1, sizeof(*spaces));
	int status = 0;

	if (!spaces)
		return error_set_nomem(err);
	for (size_t i = 0; i < s->space_count && status == 0; i++)
		status = ask_space(s, s->spaces[i], &spaces[i], err);
	if (status == 0)
		status = print_status_report(s, spaces, err);
	free(spaces);
	return status;
}

int reclaimer_status(struct app *app, const void *config, struct error *err)
{
	struct session s;
	int status = session_open(&s, app, config, err);

	if (status == 0)
		status = ask_and_print(&s, err);
	session_close(&s);
	return status;
}
