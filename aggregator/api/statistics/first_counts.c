#include "aggregator/api/statistics/first_counts.h"

#include "common/clock.h"

int first_counts_begin(struct call *call, const struct archived_link *link,
		       struct question *q, struct error *err)
{
	int64_t from = link->link_id ? link->created_at / CLOCK_SECOND : 0;
	int64_t kept;

	if (call_counts_from(call, &kept, err) < 0 ||
	    (!from && call_first_counted(call, &from, err) < 0))
		return -1;
	if (from < kept)
		from = kept;
	/* Nothing is counted yet: the present day. */
	if (!from || from >= q->to)
		from = q->to - 1;
	from = bucket_start(q->zone, BUCKET_DAY, from);
	if (from < kept)
		from = kept;
	/* A share may begin later. */
	question_begin(q, &call->config->aggregator,
		       from < q->from ? q->from : from);
	return 0;
}
