#include "aggregator/settle/day_counts.h"

#include <inttypes.h>

int day_counts_check_staged(const struct day_counts *n, uint64_t least,
			    uint64_t most, struct error *err)
{
	if (n->staged.slots >= least && n->staged.slots <= most &&
	    n->staged.visits >= least && n->staged.visits <= most)
		return 0;
	return error_set(err, ERROR_PROTOCOL,
			 "%" PRIu64 " and %" PRIu64 " events were staged, of "
			 "%" PRIu64 " to %" PRIu64 " rows; computing it again",
			 n->staged.slots, n->staged.visits, least, most);
}

bool day_counts_have_fewer(const struct day_counts *n)
{
	return n->staged.slots + n->taken.rows < n->before.slots ||
	       n->staged.visits + n->taken.rows < n->before.visits;
}

bool day_counts_lack_rows(const struct day_counts *n)
{
	return n->all < n->hours;
}

bool day_counts_lack_more(const struct day_counts *n)
{
	return n->all + n->taken.rows < n->hours;
}
