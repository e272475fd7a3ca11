#include "collector/ingest/schedule.h"

#include "common/clock.h"

enum {
	DAY_SECONDS = 86400
};

static const enum sink_table paced[] = {SINK_CLICKS, SINK_LINKS};
#define PACED_COUNT (sizeof(paced) / sizeof(paced[0]))

void schedule_init(struct schedule *s,
		   const struct collector_settings *settings)
{
	*s = (struct schedule){.settings = settings};
	for (size_t i = 0; i < PACED_COUNT; i++)
		pace_init(&s->paces[paced[i]],
			  (double)settings->parts_per_second, clock_real_ms());
}

void schedule_share(struct schedule *s, const struct slots *slots)
{
	uint32_t held[SINK_TABLE_COUNT] = {0};

	for (size_t i = 0; i < slots->count; i++)
		if (slots->items[i]->held)
			held[slots->items[i]->table]++;
	for (size_t i = 0; i < PACED_COUNT; i++)
		pace_share(&s->paces[paced[i]], held[paced[i]],
			   s->partitions[paced[i]], clock_real_ms());
}

static bool holds(const struct schedule *s, const struct batch *b,
		  int64_t times)
{
	return (int64_t)b->row_count >= times * s->settings->batch_rows ||
	       (int64_t)b->rows.len >= times * s->settings->batch_bytes;
}

bool schedule_is_full(const struct schedule *s, const struct batch *batch)
{
	return holds(s, batch, 1);
}

bool schedule_is_crammed(const struct schedule *s, const struct batch *batch)
{
	return holds(s, batch, 2);
}

/* When the slot's block is to go, in real time. */
static int64_t due(const struct schedule *s, const struct slot *slot,
		   int64_t started)
{
	if (slot->hurry || slot->batch.stage != BATCH_FILLING ||
	    schedule_is_full(s, &slot->batch))
		return started;
	return pace_due(&s->paces[slot->table], slot->partition, started,
			s->settings->batch_age);
}

/* What was begun goes on whatever the pace: its parts are counted. */
static bool may_go(struct schedule *s, const struct slot *slot, int64_t now)
{
	return slot->batch.stage != BATCH_FILLING ||
	       pace_ready(&s->paces[slot->table], now);
}

struct slot *schedule_next(struct schedule *s, const struct slots *slots,
			   int64_t now)
{
	int64_t real = clock_real_ms();
	int64_t least = real;
	struct slot *next = NULL;

	for (size_t i = 0; i < slots->count; i++) {
		struct slot *slot = slots->items[i];
		int64_t at;

		/* One at a time; what is made again is cut as it was. */
		if (!slot->batch.events || slot->sent || slot->repeat.named)
			continue;
		at = due(s, slot, slot->batch.started_ms + real - now);
		if (at > least || (next && at == least) ||
		    !may_go(s, slot, real))
			continue;
		next = slot;
		least = at;
	}
	return next;
}

uint32_t schedule_parts(const struct slot *slot)
{
	const struct batch *b = &slot->batch;
	uint32_t days = 0;

	if (slot->table != SINK_CLICKS)
		return b->row_count > 0;
	for (size_t i = 0; i < b->hour_count; i++) {
		uint32_t day = b->hours[i].start / DAY_SECONDS;
		size_t j = 0;

		while (j < i && b->hours[j].start / DAY_SECONDS != day)
			j++;
		days += j == i;
	}
	return days;
}

void schedule_spend(struct schedule *s, const struct slot *slot)
{
	pace_spend(&s->paces[slot->table], schedule_parts(slot),
		   clock_real_ms());
}
