#include "aggregator/settle/hour_counts.h"

#include <inttypes.h>

#include "aggregator/settle/settle_sql.h"

int hour_counts_check_staged(const struct hour_counts *n, int64_t start,
			     struct error *err)
{
	if (n->staged == SETTLE_SQL_UNEVEN)
		return error_set(err, ERROR_PROTOCOL,
				 "hour %" PRId64 ": its dimensions hold "
				 "different numbers of events; computing it "
				 "again",
				 start);
	if (n->staged >= n->least && n->staged <= n->most)
		return 0;
	return error_set(err, ERROR_PROTOCOL,
			 "hour %" PRId64 ": %" PRIu64 " events were staged of "
			 "%" PRIu64 " to %" PRIu64 " rows; computing it again",
			 start, n->staged, n->least, n->most);
}

bool hour_counts_miss_some(const struct hour_counts *n,
			   const struct stale *hour)
{
	return n->staged < n->before || n->staged < hour->rows + n->base;
}

static uint64_t rows_missing(uint64_t reported, uint64_t rows)
{
	return reported > rows ? reported - rows : 0;
}

static uint64_t rows_missing_now(const struct hour_counts *n,
				 const struct stale *hour)
{
	return rows_missing(hour->rows + n->base, n->staged);
}

bool hour_counts_lack_rows(const struct hour_counts *n,
			   const struct stale *hour)
{
	uint64_t then = rows_missing(hour->was_rows + n->base, n->before);

	return n->staged + n->taken.rows < n->before ||
	       (hour->was && rows_missing_now(n, hour) > then + n->taken.going);
}

enum hour_decision hour_counts_decide(const struct hour_counts *n,
				      const struct stale *hour,
				      bool allow_fewer)
{
	bool lacks = hour_counts_lack_rows(n, hour);

	if (lacks && !allow_fewer)
		return HOUR_HELD_BACK;
	if (lacks || (!hour->was && rows_missing_now(n, hour) > n->taken.going))
		return HOUR_PUBLISHED_SHORT;
	return HOUR_PUBLISHED;
}
