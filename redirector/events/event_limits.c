#include "redirector/events/event_limits.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "common/token_bucket.h"

#define SECOND_NS    INT64_C(1000000000)
#define NS_PER_MS    INT64_C(1000000)
#define CACHE_LINE   64
#define OUTCOME_LAST SHORTLOOP__OUTCOME__OUTCOME_BLOCKED

struct limit {
	_Alignas(CACHE_LINE) _Atomic int64_t full_at; /* monotonic ns */
	int64_t rate; /* per second; -1: no limit */
};

struct event_limits {
	struct limit of[OUTCOME_LAST + 1];
};

struct event_limits *event_limits_new(const struct redirector_settings *s,
				      struct error *err)
{
	struct event_limits *l = aligned_alloc(CACHE_LINE, sizeof(*l));

	if (!l) {
		error_set_nomem(err);
		return NULL;
	}
	for (size_t i = 0; i <= OUTCOME_LAST; i++) {
		atomic_init(&l->of[i].full_at, 0);
		l->of[i].rate = -1;
	}
	l->of[SHORTLOOP__OUTCOME__OUTCOME_NOT_FOUND].rate =
		s->event_rate_not_found;
	l->of[SHORTLOOP__OUTCOME__OUTCOME_EXPIRED].rate = s->event_rate_expired;
	l->of[SHORTLOOP__OUTCOME__OUTCOME_BLOCKED].rate = s->event_rate_blocked;
	return l;
}

void event_limits_free(struct event_limits *l)
{
	free(l);
}

static bool take_event_token(struct limit *l, int64_t now)
{
	int64_t interval = SECOND_NS / l->rate, seen, full_at;

	seen = atomic_load_explicit(&l->full_at, memory_order_relaxed);
	do {
		full_at = seen;
		if (token_bucket_take(interval, l->rate, 1, now, &full_at) > 0)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&l->full_at, &seen, full_at, memory_order_relaxed,
		memory_order_relaxed));
	return true;
}

bool event_limits_take(struct event_limits *l, Shortloop__Outcome outcome,
		       int64_t now_ms)
{
	struct limit *limit;

	if ((unsigned)outcome > OUTCOME_LAST)
		return true;
	limit = &l->of[outcome];
	if (limit->rate < 0)
		return true;
	return limit->rate > 0 && take_event_token(limit, now_ms * NS_PER_MS);
}
