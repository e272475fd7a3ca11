#include "collector/ingest/insert_breaker.h"

#include <sodium.h>

#include "common/backoff.h"
#include "common/clock.h"

enum {
	RETRY_MIN_MS = 200,
	TRIAL_MS = 2000,
};

void insert_breaker_trip(struct insert_breaker *b, const struct error *err)
{
	int64_t now = clock_monotonic_ms();

	if (b->open && now < b->retry_at)
		return;
	b->failures++;
	b->retry_at = now + backoff_delay(RETRY_MIN_MS, b->retry_backoff_max,
					  b->failures, randombytes_random());
	if (!b->open)
		log_warn(b->log, "inserts paused", log_err(err));
	b->open = true;
	metric_set(b->metric, 1);
}

void insert_breaker_close(struct insert_breaker *b)
{
	if (!b->open)
		return;
	log_info(b->log, "inserts resumed");
	b->open = false;
	b->failures = 0;
	metric_set(b->metric, 0);
}

bool insert_breaker_may_try(const struct insert_breaker *b, int64_t now)
{
	return now >= b->retry_at && (!b->trial || now >= b->trial_until);
}

void insert_breaker_tries(struct insert_breaker *b, const void *trial,
			  int64_t now)
{
	b->trial = trial;
	b->trial_until = now + TRIAL_MS;
}

void insert_breaker_ended(struct insert_breaker *b, const void *trial)
{
	if (b->trial == trial)
		b->trial = NULL;
}
