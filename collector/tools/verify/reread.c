/*
 * reread.c - events that were stored again under a later epoch.
 *
 * An epoch that was begun for a log that is what it was makes the collectors
 * read it again: each event has a row in both epochs, and no offset is there
 * twice.  A row of the same event that Kafka stored at the same time is the
 * same record.
 */
#include <inttypes.h>

#include "collector/tools/verify/verify.h"

static bool has_two(const struct known_list *stored, uint32_t partition)
{
	unsigned epochs = 0;

	for (size_t i = 0; i < stored->count; i++)
		epochs += stored->items[i].partition == partition;
	return epochs > 1;
}

/* " AND partition IN (0, 3)": those with rows of several epochs; false when
 * there is none. */
static bool put_partitions(struct buf *sql, const struct known_list *stored)
{
	uint32_t last = UINT32_MAX;
	bool any = false;

	for (size_t i = 0; i < stored->count; i++) {
		uint32_t partition = stored->items[i].partition;

		if (partition == last || !has_two(stored, partition))
			continue;
		buf_printf(sql, "%s%" PRIu32,
			   any ? ", " : " AND partition IN (", partition);
		any = true;
		last = partition;
	}
	buf_puts(sql, any ? ")" : "");
	return any;
}

static int ask_reread(struct verify *v, const struct known_list *stored,
		      struct known_list *ret, struct error *err)
{
	struct buf *sql = ask_begin(&v->ask);

	buf_puts(sql, "SELECT toUInt64(partition), toUInt64(later), "
		      "min(later_offset), max(later_offset), sum(more) FROM "
		      "(SELECT partition, max(epoch) AS later, "
		      "argMax(offset, epoch) AS later_offset, "
		      "uniqExact(epoch) - 1 AS more FROM clicks "
		      "WHERE topic = {topic:String}");
	ask_put_times(&v->ask, "append_time", v->from, v->to);
	if (!put_partitions(sql, stored)) {
		*ret = (struct known_list){0};
		return 0;
	}
	buf_puts(sql, " GROUP BY partition, event_id, append_time "
		      "HAVING more > 0) GROUP BY partition, later "
		      "ORDER BY partition, later");
	return known_list_ask(&v->ask, ret, err);
}

int verify_reread(struct verify *v, const struct known_list *stored,
		  struct error *err)
{
	struct known_list found;
	int status;

	if (v->links)
		return 0;
	status = ask_reread(v, stored, &found, err);
	for (size_t i = 0; status == 0 && i < found.count; i++) {
		const struct known *k = &found.items[i];
		struct finding f = {FINDING_REREAD, k->partition, k->epoch,
				    k->first,	    k->last,	  k->events};

		status = findings_note(&v->findings, &f, err);
	}
	known_list_free(&found);
	return status;
}
