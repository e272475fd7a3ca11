#include "common/keys/rate_limiter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/token_bucket.h"

#define NS_PER_MS INT64_C(1000000)

struct rate_limiter {
	_Atomic int64_t interval; /* ns for each token; 0: no limit */
	_Atomic int64_t burst;	  /* tokens */
	_Atomic int64_t full_at;  /* ns; in the past: the bucket is full */
};

/* --- rules ---------------------------------------------------------------- */

static int parse_count(const char *text, char **ret_end, uint64_t *ret,
		       struct error *err)
{
	unsigned long long number;

	errno = 0;
	number = strtoull(text, ret_end, 10);
	if (errno || text[0] < '0' || text[0] > '9' || number == 0 ||
	    number > RATE_COUNT_MAX)
		return error_set(err, ERROR_INPUT, "expected a number, 1 to %d",
				 RATE_COUNT_MAX);
	*ret = number;
	return 0;
}

static int64_t period_named(const char *text)
{
	static const struct {
		const char *name;
		int64_t ms;
	} periods[] = {
		{"/s", CLOCK_SECOND},
		{"/m", CLOCK_MINUTE},
		{"/h", CLOCK_HOUR},
	};

	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		if (!strcmp(periods[i].name, text))
			return periods[i].ms;
	}
	return 0;
}

int rate_rule_parse(const char *text, struct rate_rule *ret, struct error *err)
{
	uint64_t count = 0;
	int64_t period;
	char *end;

	if (parse_count(text, &end, &count, err) < 0)
		return -1;
	period = period_named(end);
	if (!period)
		return error_set(err, ERROR_INPUT,
				 "expected a number and /s, /m or /h");
	*ret = (struct rate_rule){count, period, count};
	return 0;
}

int rate_burst_parse(const char *text, uint64_t *ret, struct error *err)
{
	uint64_t burst = 0;
	char *end;

	if (parse_count(text, &end, &burst, err) < 0)
		return -1;
	if (*end)
		return error_set(err, ERROR_INPUT, "expected a number, 1 to %d",
				 RATE_COUNT_MAX);
	*ret = burst;
	return 0;
}

int rate_rule_read(const char *setting, const char *rate, int64_t burst,
		   struct rate_rule *ret, struct error *err)
{
	struct error why = {0};

	*ret = (struct rate_rule){.count = 0};
	if (!strcmp(rate, "none"))
		return 0;
	if (rate_rule_parse(rate, ret, &why) < 0)
		return error_set(err, ERROR_CONFIG,
				 "%s: '%.40s': %.200s, or none", setting, rate,
				 why.text);
	ret->burst = (uint64_t)burst;
	return 0;
}

/* --- the bucket ----------------------------------------------------------- */

struct rate_limiter *rate_limiter_new(const struct rate_rule *rule,
				      struct error *err)
{
	struct rate_limiter *l = calloc(1, sizeof(*l));

	if (!l) {
		error_set_nomem(err);
		return NULL;
	}
	rate_limiter_set(l, rule);
	return l;
}

void rate_limiter_free(struct rate_limiter *l)
{
	free(l);
}

/* A thread that takes tokens meanwhile may see the burst of one rule and the
 * interval of the other: it gets a few tokens more or less, once. */
void rate_limiter_set(struct rate_limiter *l, const struct rate_rule *rule)
{
	int64_t interval = 0;

	if (rule->count)
		interval = rule->period_ms * NS_PER_MS / (int64_t)rule->count;
	atomic_store(&l->burst, (int64_t)rule->burst);
	atomic_store(&l->interval, interval);
}

bool rate_limiter_take(struct rate_limiter *l, unsigned n, int64_t now,
		       int64_t *ret_wait_ms)
{
	int64_t interval = l ? atomic_load(&l->interval) : 0;
	int64_t burst, tokens, full_at, next, wait;

	if (!interval)
		return true;
	burst = atomic_load(&l->burst);
	tokens = n < burst ? n : burst;
	full_at = atomic_load(&l->full_at);
	do {
		next = full_at;
		wait = token_bucket_take(interval, burst, tokens, now, &next);
		if (wait) {
			*ret_wait_ms = (wait + NS_PER_MS - 1) / NS_PER_MS;
			return false;
		}
	} while (!atomic_compare_exchange_weak(&l->full_at, &full_at, next));
	return true;
}

void rate_limiter_look(const struct rate_limiter *l, int64_t now,
		       struct rate_state *ret)
{
	int64_t interval = l ? atomic_load(&l->interval) : 0;
	int64_t burst, missing, left;

	*ret = (struct rate_state){0};
	if (!interval)
		return;
	burst = atomic_load(&l->burst);
	missing = atomic_load(&l->full_at) - now;
	if (missing < 0)
		missing = 0;
	left = burst - (missing + interval - 1) / interval;
	ret->limited = true;
	ret->burst = (uint64_t)burst;
	ret->left = left > 0 ? (uint64_t)left : 0;
	ret->window_ms = (burst * interval + NS_PER_MS - 1) / NS_PER_MS;
	ret->full_ms = (missing + NS_PER_MS - 1) / NS_PER_MS;
}
