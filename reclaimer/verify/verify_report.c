#include "reclaimer/verify/verify_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/output.h"

static uint64_t blocks_of(const struct survey *s)
{
	return s->at_start.cursor - s->at_start.first;
}

static uint64_t sum_of(const struct census *c)
{
	uint64_t sum = c->missing + c->tangled;

	for (int i = 0; i < STANDING_COUNT_OF; i++)
		sum += c->states[i];
	return sum;
}

/* --- for people ----------------------------------------------------------- */

static int print_states(const struct survey *s, struct error *err)
{
	struct table *t = table_new("state|>blocks");

	for (int i = 0; i < STANDING_COUNT_OF; i++) {
		table_text(t, standing_name((enum standing)i));
		table_number(t, s->census.states[i]);
	}
	if (s->census.missing + s->census.tangled) {
		table_text(t, "missing");
		table_number(t, s->census.missing);
		table_text(t, "unclear");
		table_number(t, s->census.tangled);
	}
	table_text(t, "all issued");
	table_number(t, sum_of(&s->census));
	return output_table(t, err);
}

static const char *blocks_text(const struct finding *f, char text[48])
{
	if (!f->has_blocks)
		return "-";
	if (f->first == f->last)
		snprintf(text, 48, "%" PRIu64, f->first);
	else
		snprintf(text, 48, "%" PRIu64 "-%" PRIu64, f->first, f->last);
	return text;
}

static int print_findings(const struct findings *f, struct error *err)
{
	struct table *t = table_new("finding|blocks|what|where|repair");
	char text[48];
	int status;

	for (size_t i = 0; i < f->count; i++) {
		const struct finding *it = &f->list[i];

		table_text(t, trouble_name(it->trouble));
		table_text(t, blocks_text(it, text));
		table_text(t, trouble_text(it->trouble));
		table_text(t, *it->detail ? it->detail : "-");
		table_text(t, *it->outcome ? it->outcome : "-");
	}
	putchar('\n');
	status = output_table(t, err);
	if (f->total > f->count)
		printf("and %" PRIu64 " more\n", f->total - f->count);
	return status;
}

static void say_end(const struct verified *v)
{
	const struct survey *s = v->survey;
	uint64_t left = findings_left(&s->findings);

	putchar('\n');
	if (v->failed)
		printf("Stopped: %s\n", v->error.text);
	else if (!left)
		printf(v->repaired && s->findings.total
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
	if (v->repaired)
		printf("Lost blocks: %" PRIu64 " pooled, %" PRIu64
		       " kept, since there are links of them.\n",
		       v->freed, v->kept);
	else if (s->census.states[STANDING_LOST] +
		 s->census.states[STANDING_GAP])
		puts("Lost and gap blocks can be pooled again: --repair, once "
		     "a run has set them aside.");
}

int verify_text(const struct verified *spaces, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct verified *v = &spaces[i];

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
		say_end(v);
	}
	return 0;
}

/* --- for programs --------------------------------------------------------- */

static json_t *finding_json(const struct finding *f)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:b}", "finding",
			      trouble_name(f->trouble), "what",
			      trouble_text(f->trouble), "where", f->detail,
			      "repaired", (int)f->repaired);

	if (f->has_blocks) {
		json_object_set_new(o, "first",
				    json_integer((json_int_t)f->first));
		json_object_set_new(o, "last",
				    json_integer((json_int_t)f->last));
	}
	if (*f->outcome)
		json_object_set_new(o, "outcome", json_string(f->outcome));
	return o;
}

static void set_count(json_t *object, const char *key, uint64_t number)
{
	json_object_set_new(object, key, json_integer((json_int_t)number));
}

static void set_survey(json_t *o, const struct survey *s)
{
	json_t *states = json_object(), *findings = json_array();

	for (int i = 0; i < STANDING_COUNT_OF; i++)
		set_count(states, standing_name((enum standing)i),
			  s->census.states[i]);
	for (size_t i = 0; i < s->findings.count; i++)
		json_array_append_new(findings,
				      finding_json(&s->findings.list[i]));
	set_count(o, "first", s->at_start.first);
	set_count(o, "cursor", s->at_start.cursor);
	set_count(o, "blocks", sum_of(&s->census));
	json_object_set_new(o, "states", states);
	set_count(o, "missing", s->census.missing);
	set_count(o, "unclear", s->census.tangled);
	json_object_set_new(o, "findings", findings);
	set_count(o, "findings_total", s->findings.total);
	set_count(o, "findings_left", findings_left(&s->findings));
	json_object_set_new(o, "at_rest", json_boolean(s->proven));
}

static json_t *verified_json(const struct verified *v)
{
	json_t *o = json_pack("{s:s, s:f}", "space", v->space, "seconds",
			      round(v->seconds * 1000) / 1000);

	if (v->survey)
		set_survey(o, v->survey);
	if (v->deep)
		set_count(o, "links", v->links);
	if (v->repaired) {
		set_count(o, "lost_pooled", v->freed);
		set_count(o, "lost_kept", v->kept);
	}
	if (v->failed)
		json_object_set_new(o, "error", json_string(v->error.text));
	return o;
}

int verify_json(const struct verified *spaces, size_t count, struct error *err)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, verified_json(&spaces[i]));
	return output_json(json_pack("{s:o}", "spaces", list), err);
}
