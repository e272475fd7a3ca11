#include "reclaimer/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/app/operator.h"
#include "common/bar.h"
#include "common/clock.h"
#include "common/output.h"
#include "common/safe_text.h"
#include "linkstore/block/link_check.h"
#include "linkstore/space/safety_check.h"
#include "linkstore/space/space_record.h"
#include "reclaimer/session.h"
#include "reclaimer/verify/archive_links.h"
#include "reclaimer/verify/repair.h"
#include "reclaimer/verify/survey.h"

struct verify_result {
	const char *space;
	const struct survey *survey; /* NULL: not run */
	bool deep;
	uint64_t links; /* checked, with --deep */
	bool repairs;	/* a repair was begun; it may have failed */
	uint64_t freed, kept;
	double seconds;
	bool failed; /* ended early */
	struct error error;
};

static uint64_t blocks_of(const struct survey *s)
{
	return s->at_start.cursor - s->at_start.first;
}

static uint64_t sum_of(const struct census *c)
{
	uint64_t sum = c->missing + c->unclear;

	for (int i = 0; i < STATE_COUNT_OF; i++)
		sum += c->states[i];
	return sum;
}

/* --- text ---------------------------------------------------------------- */

static int print_states(const struct survey *s, struct error *err)
{
	struct table *t = table_new("state|>blocks");

	for (int i = 0; i < STATE_COUNT_OF; i++) {
		table_text(t, block_state_name((enum accounted_state)i));
		table_number(t, s->census.states[i]);
	}
	if (s->census.missing + s->census.unclear) {
		table_text(t, "missing");
		table_number(t, s->census.missing);
		table_text(t, "unclear");
		table_number(t, s->census.unclear);
	}
	table_text(t, "all issued");
	table_number(t, sum_of(&s->census));
	return output_table(t, err);
}

static const char *blocks_text(const struct block_finding *f, char text[48])
{
	if (!f->has_blocks)
		return "-";
	if (f->first == f->last)
		snprintf(text, 48, "%" PRIu64, f->first);
	else
		snprintf(text, 48, "%" PRIu64 "-%" PRIu64, f->first, f->last);
	return text;
}

static int print_findings(const struct block_findings *f, struct error *err)
{
	struct table *t = table_new("finding|blocks|what|where|repair");
	char text[48];
	int status;

	for (size_t i = 0; i < f->count; i++) {
		const struct block_finding *it = &f->list[i];

		table_text(t, block_finding_name(it->trouble));
		table_text(t, blocks_text(it, text));
		table_text(t, block_finding_text(it->trouble));
		table_text(t, *it->detail ? it->detail : "-");
		table_text(t, *it->repair ? it->repair : "-");
	}
	putchar('\n');
	status = output_table(t, err);
	if (f->total > f->count)
		printf("and %" PRIu64 " more\n", f->total - f->count);
	return status;
}

static void print_end(const struct verify_result *v)
{
	const struct survey *s = v->survey;
	uint64_t left = block_findings_left(&s->findings);

	putchar('\n');
	if (v->failed)
		printf("Stopped: %s\n", v->error.text);
	else if (!left)
		printf(v->repairs && s->findings.total
			       ? "All of it was put right; the table is from "
				 "before.\n"
			       : "Each of %" PRIu64 " blocks is in exactly one "
				 "state.\n",
		       blocks_of(s));
	if (v->deep)
		printf("%" PRIu64 " links were held against their markers.\n",
		       v->links);
	if (left)
		printf("Findings that remain: %" PRIu64 ".\n", left);
	if (left && !s->proven)
		puts("The space was in use throughout; each was seen in "
		     "several looks.");
	if (v->repairs)
		printf("Lost blocks%s: %" PRIu64 " pooled, %" PRIu64 " kept.\n",
		       v->failed ? " until then" : "", v->freed, v->kept);
	else if (s->census.states[STATE_LOST] + s->census.states[STATE_GAP])
		puts("Lost and gap blocks can be pooled again: --repair, once "
		     "a run has set them aside.");
}

static int print_text(const struct verify_result *spaces, size_t count,
		      struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct verify_result *v = &spaces[i];

		printf("%sspace %s", i ? "\n" : "", v->space);
		if (!v->survey) {
			printf(": %s\n", v->error.text);
			continue;
		}
		printf(", blocks %" PRIu64 " to %" PRIu64 ", in %.1f s\n",
		       v->survey->at_start.first,
		       v->survey->at_start.cursor
			       ? v->survey->at_start.cursor - 1
			       : 0,
		       v->seconds);
		if (print_states(v->survey, err) < 0)
			return -1;
		if (v->survey->findings.count &&
		    print_findings(&v->survey->findings, err) < 0)
			return -1;
		print_end(v);
	}
	return 0;
}

/* --- JSON ---------------------------------------------------------------- */

static json_t *finding_json(const struct block_finding *f)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:b}", "finding",
			      block_finding_name(f->trouble), "what",
			      block_finding_text(f->trouble), "where",
			      f->detail, "repaired", (int)f->repaired);

	if (f->has_blocks) {
		json_object_set_new(o, "first",
				    json_integer((json_int_t)f->first));
		json_object_set_new(o, "last",
				    json_integer((json_int_t)f->last));
	}
	if (*f->repair)
		json_object_set_new(o, "outcome", json_string(f->repair));
	return o;
}

static void set_count(json_t *object, const char *key, uint64_t number)
{
	json_object_set_new(object, key, json_integer((json_int_t)number));
}

static void set_survey(json_t *o, const struct survey *s)
{
	json_t *states = json_object(), *findings = json_array();

	for (int i = 0; i < STATE_COUNT_OF; i++)
		set_count(states, block_state_name((enum accounted_state)i),
			  s->census.states[i]);
	for (size_t i = 0; i < s->findings.count; i++)
		json_array_append_new(findings,
				      finding_json(&s->findings.list[i]));
	set_count(o, "first", s->at_start.first);
	set_count(o, "cursor", s->at_start.cursor);
	set_count(o, "blocks", sum_of(&s->census));
	json_object_set_new(o, "states", states);
	set_count(o, "missing", s->census.missing);
	set_count(o, "unclear", s->census.unclear);
	json_object_set_new(o, "findings", findings);
	set_count(o, "findings_total", s->findings.total);
	set_count(o, "findings_left", block_findings_left(&s->findings));
}

static json_t *result_json(const struct verify_result *v)
{
	json_t *o = json_pack("{s:s, s:f}", "space", v->space, "seconds",
			      round(v->seconds * 1000) / 1000);

	if (v->survey) {
		set_survey(o, v->survey);
		json_object_set_new(
			o, "at_rest",
			json_boolean(v->survey->proven && !v->failed));
	}
	if (v->deep)
		set_count(o, "links", v->links);
	if (v->repairs) {
		set_count(o, "lost_pooled", v->freed);
		set_count(o, "lost_kept", v->kept);
	}
	if (v->failed)
		json_object_set_new(o, "error", json_string(v->error.text));
	return o;
}

static int print_json(const struct verify_result *spaces, size_t count,
		      struct error *err)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, result_json(&spaces[i]));
	return output_json(json_pack("{s:o}", "spaces", list), err);
}

/* --- links ------------------------------------------------------------------
 */

struct link_walk {
	struct survey *s;
	int64_t started;
	bool stopped;
	bool failed;
	struct error err;
};

static void on_link_found(void *arg, const struct link_finding *found)
{
	struct link_walk *w = arg;
	struct block_finding f = {.trouble = TROUBLE_LINK};
	char key[120];

	safe_text(key, sizeof(key), found->key, found->key_len);
	snprintf(f.detail, sizeof(f.detail), "%s: %s", key,
		 link_trouble_text(found->trouble));
	if (found->trouble != LINK_KEY_DAMAGED) {
		f.has_blocks = true;
		f.first = f.last = found->block;
	}
	if (!w->failed && block_findings_add(&w->s->findings, &f, &w->err) < 0)
		w->failed = true;
}

static bool on_link_pause(void *arg, uint64_t links, uint64_t keys,
			  uint64_t total)
{
	struct link_walk *w = arg;
	struct survey *s = w->s;
	int64_t due = w->started, left;

	(void)links;
	if (w->failed)
		return true;
	if (s->rate)
		due += (int64_t)((double)keys * 1000.0 / (double)s->rate);
	do {
		left = due - clock_monotonic_ms();
		if (left < 0)
			left = 0;
		w->stopped = s->pause(
			s->arg, keys < total ? keys : total, total,
			left < CLOCK_SECOND ? (int)left : (int)CLOCK_SECOND);
		if (s->lock && !w->stopped &&
		    reclaim_lock_keep(s->redis, s->lock, &w->err) < 0)
			w->failed = true;
	} while (left > CLOCK_SECOND && !w->stopped && !w->failed);
	return w->stopped || w->failed;
}

static int check_links(struct survey *s, uint64_t *ret_links, struct error *err)
{
	struct link_walk walk = {.s = s, .started = clock_monotonic_ms()};
	struct link_check check = {
		.redis = s->redis,
		.space = s->space,
		.found = on_link_found,
		.pause = on_link_pause,
		.arg = &walk,
	};
	int status = link_check_run(&check, err);

	*ret_links = check.links;
	if (status == 0 && walk.failed) {
		*err = walk.err;
		return -1;
	}
	if (status == 0 && walk.stopped)
		return error_set_retriable(err, ERROR_STOPPED,
					   "interrupted: not all links were "
					   "looked at");
	return status;
}

/* The lock must not expire while the archive answers. */
#define REPAIR_LOCK_TTL CLOCK_MINUTE

struct verify {
	struct session session;
	struct clickhouse *archive; /* NULL without --repair */
	struct bar bar;
};

/* --- progress ------------------------------------------------------------- */

/* Shows a bar if stderr is a terminal, otherwise logs a line now and then. */
static bool on_pause(void *arg, uint64_t done, uint64_t total, int timeout_ms)
{
	struct verify *v = arg;
	int64_t now = clock_monotonic_ms();
	int percent = total && done < total
			      ? (int)(100.0 * (double)done / (double)total)
			      : 100;

	if (v->bar.terminal) {
		bar_show(&v->bar, done, total);
	} else if (now - v->bar.shown >=
		   v->session.config->reclaimer.progress_every) {
		v->bar.shown = now;
		log_info(app_log(v->session.app), "verifying",
			 log_str("space", v->bar.label),
			 log_int(v->bar.unit, (int64_t)done),
			 log_int("percent", percent));
	}
	return app_should_stop(v->session.app, timeout_ms);
}

/* --- one space ------------------------------------------------------------ */

/* Evictions are a finding for a check, and an error for a repair. */
static int check_safety(const struct verify *v, struct survey *s,
			struct error *err)
{
	struct block_finding f = {.trouble = TROUBLE_EVICTS};
	struct error why;

	if (space_safety_check(s->redis, s->space, NULL, &why) == 0)
		return 0;
	if (why.code != ERROR_UNSAFE || v->session.options.repair) {
		*err = why;
		return -1;
	}
	snprintf(f.detail, sizeof(f.detail), "%.*s", FINDING_DETAIL_MAX - 1,
		 why.text);
	return block_findings_add(&s->findings, &f, err);
}

static int repair_survey_findings(struct verify *v, struct survey *s,
				  struct verify_result *result,
				  struct error *err)
{
	char who[OPERATOR_NAME_MAX];
	struct repair r = {
		.survey = s,
		.lock = s->lock,
		.archive = v->archive,
		.note = {who, "reclaimer verify --repair"},
	};
	int status;

	operator_name(who);
	result->repairs = true;
	status = repair_run(&r, err);
	result->freed = r.freed;
	result->kept = r.kept;
	return status;
}

static int verify_accounting(struct verify *v, struct survey *s,
			     struct verify_result *result, struct error *err)
{
	struct space_movement space;

	/* A lost space is a failure, not a finding, because its blocks cannot
	 * be classified. */
	if (space_read_movement(s->redis, s->space, &space, err) < 0 ||
	    space_check(s->redis, s->space, SPACE_TO_RECLAIM, err) < 0 ||
	    check_safety(v, s, err) < 0)
		return -1;
	result->survey = s;
	if (survey_run(s, err) < 0)
		return -1;
	if (v->session.options.deep) {
		v->bar.unit = "keys";
		result->deep = true;
		if (check_links(s, &result->links, err) < 0)
			return -1;
	}
	if (v->session.options.repair &&
	    repair_survey_findings(v, s, result, err) < 0)
		return -1;
	/* Nothing moves in a replica that is cut off, so a check there proves
	 * nothing. */
	return redis_confirm_master(s->redis, err);
}

static int verify_space(struct verify *v, struct survey *s,
			struct verify_result *result)
{
	int64_t start = clock_monotonic_ms();
	struct reclaim_lock lock;
	struct error unlock;
	int status = 0;

	bar_begin(&v->bar, s->space->name, "blocks");
	*result = (struct verify_result){.space = s->space->name};
	if (v->session.options.repair) {
		status = reclaim_lock_take(s->redis, s->space, REPAIR_LOCK_TTL,
					   &lock, &result->error);
		if (status == 0)
			s->lock = &lock;
	}
	if (status == 0)
		status = verify_accounting(v, s, result, &result->error);
	if (s->lock)
		reclaim_lock_release(s->redis, s->lock, &unlock);
	s->lock = NULL;
	bar_end(&v->bar);
	result->failed = status < 0;
	result->seconds = (double)(clock_monotonic_ms() - start) / 1000.0;
	return status;
}

/* --- all spaces ----------------------------------------------------------- */

static struct survey *
survey_new(struct verify *v, const struct link_space *space, struct error *err)
{
	struct survey *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->redis = v->session.redis;
	s->space = space;
	s->rate = v->session.options.rate;
	s->pause = on_pause;
	s->arg = v;
	s->wants_lost = v->session.options.repair;
	return s;
}

/* The worst result of all spaces. */
struct outcome {
	bool findings;
	bool failed;
	struct error error; /* valid if `failed` */
};

static void note_failure(struct outcome *o, const struct error *err)
{
	if (o->failed && !error_is_worse(err, &o->error))
		return;
	o->failed = true;
	o->error = *err;
}

/* A failure that passes by itself ranks below findings, which do not. */
static int settle_outcome(const struct outcome *o, struct error *err)
{
	if (o->findings && !(o->failed && error_needs_a_person(&o->error)))
		return 1;
	if (!o->failed)
		return 0;
	*err = o->error;
	return -1;
}

static int verify_spaces(struct verify *v, struct survey **surveys,
			 struct verify_result *results, struct error *err)
{
	struct outcome outcome = {0};

	for (size_t i = 0; i < v->session.space_count; i++) {
		surveys[i] = survey_new(v, v->session.spaces[i], err);
		if (!surveys[i])
			return -1;
		if (verify_space(v, surveys[i], &results[i]) < 0)
			note_failure(&outcome, &results[i].error);
		else if (block_findings_left(&surveys[i]->findings))
			outcome.findings = true;
	}
	return settle_outcome(&outcome, err);
}

static int verify_and_print(struct verify *v, struct error *err)
{
	size_t count = v->session.space_count;
	struct survey **surveys = calloc(count + 1, sizeof(void *));
	struct verify_result *results = calloc(count + 1, sizeof(*results));
	struct error ignored;
	int status = -1;

	if (!surveys || !results) {
		error_set_nomem(err);
		goto out;
	}
	status = verify_spaces(v, surveys, results, err);
	if ((v->session.options.json ? print_json : print_text)(
		    results, count, status < 0 ? &ignored : err) < 0)
		status = -1;
out:
	for (size_t i = 0; surveys && i < count; i++) {
		if (surveys[i])
			survey_free(surveys[i]);
		free(surveys[i]);
	}
	free(surveys);
	free(results);
	return status;
}

static int open_archive(struct verify *v, struct error *err)
{
	if (!v->session.options.repair)
		return 0;
	v->archive = clickhouse_new(&v->session.config->clickhouse, err);
	return v->archive ? archive_links_probe(v->archive, err) : -1;
}

int reclaimer_verify(struct app *app, const void *config, struct error *err)
{
	struct verify v = {0};
	int status = session_open(&v.session, app, config, err);

	if (status == 0)
		status = open_archive(&v, err);
	if (status == 0)
		status = verify_and_print(&v, err);
	clickhouse_free(v.archive);
	session_close(&v.session);
	return status;
}
