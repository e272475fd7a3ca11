#include "allocator/ledger/ledger_metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"

static int64_t seconds_of(double days)
{
	double seconds = days * 86400;

	return seconds < (double)LEDGER_NEVER_SECONDS ? llround(seconds)
						      : LEDGER_NEVER_SECONDS;
}

static int64_t issued_per_day(const struct ledger_entry *e)
{
	return llround(e->outlook.issued_per_day);
}

static int64_t reclaimed_per_day(const struct ledger_entry *e)
{
	return llround(e->outlook.reclaimed_per_day);
}

static int64_t created_per_day(const struct ledger_entry *e)
{
	return llround(e->outlook.created_per_day);
}

static int64_t seconds_left(const struct ledger_entry *e)
{
	return seconds_of(e->outlook.days_left);
}

static int64_t seconds_left_reclaim(const struct ledger_entry *e)
{
	return seconds_of(e->outlook.days_left_reclaim);
}

static int64_t read_at(const struct ledger_entry *e)
{
	return e->ledger.now / CLOCK_SECOND;
}

static int64_t highest_generation(const struct ledger_entry *e)
{
	return e->ledger.highest_generation;
}

#define AT(field) offsetof(struct space_ledger, field)
/* A number of the ledger (at `offset`) or one that is worked out. */
static const struct {
	const char *name;
	bool always; /* also of a space without blocks */
	size_t offset;
	int64_t (*value)(const struct ledger_entry *e);
	const char *help;
} gauges[LEDGER_METRICS] = {
	{"capacity_blocks", false, AT(capacity), NULL,
	 "Blocks that the space has"},
	{"cursor_blocks", false, AT(cursor), NULL, "First block never issued"},
	{"live_blocks", false, AT(live), NULL,
	 "Blocks issued whose end is still to come"},
	{"due_blocks", false, AT(due), NULL,
	 "Blocks issued that are to be looked at now"},
	{"lost_blocks", false, AT(lost), NULL,
	 "Blocks issued that have no marker"},
	{"pooled_blocks", false, AT(pooled), NULL,
	 "Reclaimed blocks that may be granted now"},
	{"quarantined_blocks", false, AT(quarantined), NULL,
	 "Reclaimed blocks that have to wait"},
	{"out_blocks", false, AT(out), NULL,
	 "Blocks taken out of circulation by hand"},
	{"retired_blocks", false, AT(retired), NULL,
	 "Blocks that are out of generations"},
	{"skipped_blocks", false, AT(skipped), NULL,
	 "Blocks skipped because Redis forgot"},
	{"generation_max", false, 0, highest_generation,
	 "Highest generation in use, of 32767"},
	{"issued_blocks_per_day", false, 0, issued_per_day,
	 "Blocks issued a day, over the last week"},
	{"reclaimed_blocks_per_day", false, 0, reclaimed_per_day,
	 "Blocks reclaimed a day, over the last week"},
	{"exhaustion_seconds", false, 0, seconds_left,
	 "Until no block is free, were none reclaimed; 1000 years: never"},
	{"exhaustion_with_reclaim_seconds", false, 0, seconds_left_reclaim,
	 "Until no block is free, reclaiming as now; 1000 years: never"},
	{"links_created_per_day", true, 0, created_per_day,
	 "Links created a day, over the last week"},
	{"redis_forgot", true, AT(forgot), NULL,
	 "Times that Redis came back as another, which may have forgotten"},
	{"read_timestamp_seconds", true, 0, read_at,
	 "When the ledger was read"},
};
#undef AT

static int64_t value_of(int gauge, const struct ledger_entry *e)
{
	const char *ledger = (const char *)&e->ledger;
	uint64_t number;

	if (gauges[gauge].value)
		return gauges[gauge].value(e);
	memcpy(&number, ledger + gauges[gauge].offset, sizeof(number));
	return (int64_t)number;
}

static void register_gauges(struct ledger_metrics *lm, struct metrics *m,
			    const struct link_space *space)
{
	char name[80], label[80];

	snprintf(label, sizeof(label), "space=\"%.60s\"", space->name);
	for (int i = 0; i < LEDGER_METRICS; i++) {
		if (!link_space_has_blocks(space) && !gauges[i].always)
			continue;
		snprintf(name, sizeof(name), "shortloop_space_%s",
			 gauges[i].name);
		lm->gauges[i] = metrics_gauge(m, name, label, gauges[i].help);
	}
	lm->registered = true;
}

void ledger_metrics_set(struct ledger_metrics *lm, struct metrics *m,
			const struct ledger_entry *entry)
{
	if (entry->state != LEDGER_READ)
		return;
	if (!lm->registered)
		register_gauges(lm, m, entry->space);
	for (int i = 0; i < LEDGER_METRICS; i++)
		metric_set(lm->gauges[i], value_of(i, entry));
}
