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
		insert_rate_init(&s->rates[paced[i]],
				 (double)settings->parts_per_second,
				 clock_real_ms());
}

void schedule_share(struct schedule *s, const struct partitions *all)
{
	uint32_t held[SINK_TABLE_COUNT] = {0};

	for (size_t i = 0; i < all->count; i++)
		if (partition_is_assigned(all->items[i]))
			held[all->items[i]->table]++;
	for (size_t i = 0; i < PACED_COUNT; i++)
		insert_rate_share(&s->rates[paced[i]], held[paced[i]],
				  s->topic_size[paced[i]], clock_real_ms());
}

void schedule_set_topics(struct schedule *s,
			 const uint32_t topic_size[SINK_TABLE_COUNT],
			 const struct partitions *all)
{
	for (size_t i = 0; i < PACED_COUNT; i++)
		s->topic_size[paced[i]] = topic_size[paced[i]];
	schedule_share(s, all);
}

static bool batch_reaches_limit(const struct schedule *s, const struct batch *b,
				int64_t times)
{
	return (int64_t)b->row_count >= times * s->settings->batch_rows ||
	       (int64_t)batch_bytes(b) >= times * s->settings->batch_bytes;
}

bool schedule_is_full(const struct schedule *s, const struct batch *batch)
{
	return batch_reaches_limit(s, batch, 1);
}

bool schedule_is_over_limit(const struct schedule *s, const struct batch *batch)
{
	return batch_reaches_limit(s, batch, 2);
}

/* Returns when the partition's batch is due, in real time. */
static int64_t due_time_of_batch(const struct schedule *s,
				 const struct partition *p, int64_t started)
{
	if (p->urgent || p->filling.stage != BATCH_FILLING ||
	    schedule_is_full(s, &p->filling))
		return started;
	return insert_rate_due(&s->rates[p->table], p->number, started,
			       s->settings->batch_age);
}

/* A batch that was begun goes on regardless of insert_rate: its parts are
 * counted already. */
static bool may_go(struct schedule *s, const struct partition *p, int64_t now)
{
	return p->filling.stage != BATCH_FILLING ||
	       insert_rate_ready(&s->rates[p->table], now);
}

struct partition *schedule_next(struct schedule *s,
				const struct partitions *all, int64_t now)
{
	int64_t real = clock_real_ms();
	int64_t least = real;
	struct partition *next = NULL;

	for (size_t i = 0; i < all->count; i++) {
		struct partition *p = all->items[i];
		int64_t at;

		/* A partition inserts one batch at a time; a repeated batch
		 * keeps its limits. */
		if (!p->filling.events || p->insert.job || p->repeat.has_batch)
			continue;
		at = due_time_of_batch(s, p,
				       p->filling.started_ms + real - now);
		if (at > least || (next && at == least) || !may_go(s, p, real))
			continue;
		next = p;
		least = at;
	}
	return next;
}

uint32_t schedule_parts(const struct partition *p)
{
	const struct batch *b = &p->filling;
	uint32_t days = 0;

	if (p->table != SINK_CLICKS)
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

void schedule_spend(struct schedule *s, const struct partition *p)
{
	insert_rate_spend(&s->rates[p->table], schedule_parts(p),
			  clock_real_ms());
}
