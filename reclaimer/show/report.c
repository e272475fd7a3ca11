#include "reclaimer/show/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/output.h"

static void add_row(struct table *t, const struct outcome *o)
{
	double rate =
		o->seconds > 0 ? (double)o->tally.scanned / o->seconds : 0;

	table_text(t, o->space);
	table_number(t, o->tally.scanned);
	table_number(t, o->tally.freed);
	table_number(t, o->tally.live);
	table_number(t, o->tally.lost);
	table_number(t, o->tally.gap);
	table_number(t, o->tally.skipped);
	table_decimal(t, o->seconds);
	table_number(t, (uint64_t)llround(rate));
}

static void say_ends(const struct report *report)
{
	if (report->dry_run)
		puts("A dry run: nothing was changed.");
	if (report->interrupted)
		puts("Interrupted: the next run goes on from here.");
	for (size_t i = 0; i < report->count; i++) {
		const struct outcome *o = &report->outcomes[i];

		if (o->failed)
			printf("Stopped: %s\n", o->error.text);
	}
}

int report_text(const struct report *report, struct error *err)
{
	struct table *t = table_new(
		report->dry_run
			? "space|>due|>would free|>live|>lost|>gap|>skipped|>"
			  "seconds|>blocks/s"
			: "space|>due|>freed|>live|>lost|>gap|>skipped|>"
			  "seconds|>blocks/s");

	for (size_t i = 0; i < report->count; i++)
		add_row(t, &report->outcomes[i]);
	if (output_table(t, err) < 0)
		return -1;
	say_ends(report);
	return 0;
}

static json_t *outcome_json(const struct outcome *o)
{
	const struct tally *t = &o->tally;
	json_t *object = json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:b}", "space",
		o->space, "scanned", (json_int_t)t->scanned, "freed",
		(json_int_t)t->freed, "live", (json_int_t)t->live, "lost",
		(json_int_t)t->lost, "skipped", (json_int_t)t->skipped, "gap",
		(json_int_t)t->gap, "sampled", (json_int_t)t->sampled,
		"seconds", round(o->seconds * 1000) / 1000, "interrupted",
		(int)o->interrupted);

	if (o->failed)
		json_object_set_new(object, "error",
				    json_string(o->error.text));
	return object;
}

int report_json(const struct report *report, struct error *err)
{
	json_t *spaces = json_array();

	for (size_t i = 0; i < report->count; i++)
		json_array_append_new(spaces,
				      outcome_json(&report->outcomes[i]));
	return output_json(json_pack("{s:b, s:b, s:o}", "dry_run",
				     (int)report->dry_run, "interrupted",
				     (int)report->interrupted, "spaces",
				     spaces),
			   err);
}
