#include "allocator/create/earlier_request.h"

/* Returns whether a link that was stored right after its plan may have
 * ended. */
static bool may_have_ended(const struct idem_record *record, int64_t now,
			   int64_t ttl)
{
	int64_t planned_at = record->deadline - IDEM_WINDOW;

	return now - planned_at >= ttl;
}

enum earlier_request earlier_request_judge(const struct idem_record *record,
					   int64_t now, int64_t ttl,
					   bool is_repeatable)
{
	if (record->done)
		return EARLIER_ENDED;
	if (is_repeatable)
		return EARLIER_FAILED;
	if (now <= record->deadline)
		return EARLIER_UNDER_WAY;
	return may_have_ended(record, now, ttl) ? EARLIER_DOUBTFUL
						: EARLIER_FAILED;
}
