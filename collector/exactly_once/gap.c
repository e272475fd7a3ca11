#include "collector/exactly_once/gap.h"

int gap_count(const struct gap_place *place, struct clickhouse *ch,
	      struct batch *gap, struct error *err)
{
	uint64_t count = gap->last - gap->first + 1;
	struct ranges stored = {0};
	int status;

	if (place->table == SINK_LINKS) {
		if (stored_creations(ch, &place->key, gap, err) < 0)
			return -1;
		status = stored_ranges(ch, &place->key, gap->first, gap->last,
				       place->since_ms, &stored, err);
		gap->row_count = ranges_count(&stored, gap->first, gap->last);
		ranges_release(&stored);
	} else {
		status = stored_hours(ch, &place->key, place->since_ms, gap,
				      err);
	}
	gap->lost = count > gap->row_count ? count - gap->row_count : 0;
	return status;
}
