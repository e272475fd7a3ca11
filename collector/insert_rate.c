#include "collector/insert_rate.h"

void pace_init(struct pace *p, double parts_per_second, int64_t now)
{
	*p = (struct pace){
		.per_second = parts_per_second, .tokens = 1, .filled_at = now};
}

double pace_rate(const struct pace *p)
{
	if (!p->partitions)
		return 0;
	return p->per_second * p->held / p->partitions;
}

static double capacity(const struct pace *p)
{
	double second = pace_rate(p);

	return second > 1 ? second : 1;
}

static void fill(struct pace *p, int64_t now)
{
	int64_t passed = now - p->filled_at;

	p->filled_at = now;
	if (passed > 0) /* a clock that was set back gives nothing */
		p->tokens += pace_rate(p) * (double)passed / 1000;
	if (p->tokens > capacity(p))
		p->tokens = capacity(p);
}

void pace_share(struct pace *p, uint32_t held, uint32_t partitions, int64_t now)
{
	fill(p, now);
	p->held = held;
	p->partitions = partitions > held ? partitions : held;
	fill(p, now);
}

int64_t pace_period(const struct pace *p)
{
	return (int64_t)(p->partitions * 1000 / p->per_second);
}

int64_t pace_age(const struct pace *p, int64_t batch_age)
{
	int64_t period = pace_period(p);

	return period > batch_age ? period : batch_age;
}

int64_t pace_due(const struct pace *p, int32_t partition, int64_t started,
		 int64_t batch_age)
{
	int64_t period = pace_period(p);
	int64_t latest = started + pace_age(p, batch_age);
	int64_t after; /* the instant before */

	if (period < 1)
		return latest;
	after = (latest - (int64_t)(partition * 1000.0 / p->per_second)) %
		period;
	return latest - (after < 0 ? after + period : after);
}

bool pace_ready(struct pace *p, int64_t now)
{
	fill(p, now);
	return p->tokens >= 1;
}

void pace_spend(struct pace *p, uint32_t parts, int64_t now)
{
	fill(p, now);
	p->tokens -= parts;
}
