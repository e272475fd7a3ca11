#include "aggregator/settle/promise.h"

#include "common/clock.h"

/* Two readings of ClickHouse's clock may differ by this much, because a query
 * takes time. */
#define JITTER_MS 1000

bool promise_clock_went_back(int64_t back_ms, int64_t overlap_ms)
{
	return back_ms > JITTER_MS && back_ms > overlap_ms / 2;
}

int64_t promise_read_from(const struct progress *last, int64_t server_ms,
			  int64_t overlap_ms)
{
	int64_t until =
		last->read_until < server_ms ? last->read_until : server_ms;
	int64_t since = until - overlap_ms;

	return since > 0 ? since : 0;
}

int64_t promise_mark(int64_t reported, int64_t edge_delay_ms,
		     const struct progress *last)
{
	int64_t mark = reported ? reported - edge_delay_ms : 0;

	return mark > last->complete_until ? mark : last->complete_until;
}

struct progress promise_next(const struct progress *last,
			     const struct progress *now, size_t left,
			     int64_t left_from)
{
	struct progress next = *now;

	if (left)
		next.read_until = last->read_until;
	if (next.complete_until / CLOCK_SECOND >= left_from)
		next.complete_until = left_from * CLOCK_SECOND;
	if (next.complete_until < last->complete_until)
		next.complete_until = last->complete_until;
	return next;
}
