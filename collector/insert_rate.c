#include "collector/insert_rate.h"

void insert_rate_init(struct insert_rate *p, double parts_per_second,
		      int64_t now)
{
	*p = (struct insert_rate){
		.per_second = parts_per_second, .tokens = 1, .filled_at = now};
}

double insert_rate_own(const struct insert_rate *p)
{
	if (!p->partitions)
		return 0;
	return p->per_second * p->held / p->partitions;
}

static double token_capacity(const struct insert_rate *p)
{
	double second = insert_rate_own(p);

	return second > 1 ? second : 1;
}

static void refill_tokens(struct insert_rate *p, int64_t now)
{
	int64_t passed = now - p->filled_at;

	p->filled_at = now;
	if (passed > 0) /* if the clock was set back, nothing is added */
		p->tokens += insert_rate_own(p) * (double)passed / 1000;
	if (p->tokens > token_capacity(p))
		p->tokens = token_capacity(p);
}

void insert_rate_share(struct insert_rate *p, uint32_t held,
		       uint32_t partitions, int64_t now)
{
	refill_tokens(p, now);
	p->held = held;
	p->partitions = partitions > held ? partitions : held;
	refill_tokens(p, now);
}

int64_t insert_rate_period(const struct insert_rate *p)
{
	return (int64_t)(p->partitions * 1000 / p->per_second);
}

int64_t insert_rate_age(const struct insert_rate *p, int64_t batch_age)
{
	int64_t period = insert_rate_period(p);

	return period > batch_age ? period : batch_age;
}

int64_t insert_rate_due(const struct insert_rate *p, int32_t partition,
			int64_t started, int64_t batch_age)
{
	int64_t period = insert_rate_period(p);
	int64_t latest = started + insert_rate_age(p, batch_age);
	int64_t after; /* the previous instant */

	if (period < 1)
		return latest;
	after = (latest - (int64_t)(partition * 1000.0 / p->per_second)) %
		period;
	return latest - (after < 0 ? after + period : after);
}

bool insert_rate_ready(struct insert_rate *p, int64_t now)
{
	refill_tokens(p, now);
	return p->tokens >= 1;
}

void insert_rate_spend(struct insert_rate *p, uint32_t parts, int64_t now)
{
	refill_tokens(p, now);
	p->tokens -= parts;
}
