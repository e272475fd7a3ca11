#include "reclaimer/verify/archive_links.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/clickhouse/rows.h"

/* A link_id is space (6 bits) | generation (15) | id (42): see link_id.h. */
static const char query[] =
	"SELECT DISTINCT intDiv(bitAnd(link_id, 4398046511103), "
	"{size:UInt64}) AS block FROM links "
	"WHERE bitShiftRight(link_id, 57) = {space:UInt64} "
	"AND bitAnd(bitShiftRight(link_id, 42), 32767) >= {generation:UInt64} "
	"AND block >= {first:UInt64} AND block <= {last:UInt64} "
	"ORDER BY block FORMAT TabSeparated";

int archive_links_probe(struct clickhouse *ch, struct error *err)
{
	if (clickhouse_query(ch, "SELECT count() FROM links WHERE 0", NULL,
			     NULL, err) == 0)
		return 0;
	return error_wrap(err, "nothing is repaired without the archive");
}

struct block_reader {
	uint64_t *blocks;
	size_t count, room;
};

static int read_block(void *arg, char **fields, struct error *err)
{
	struct block_reader *r = arg;

	(void)err;
	if (r->count < r->room)
		r->blocks[r->count++] = tsv_u64(fields[0]);
	return 0;
}

int archive_links_blocks(struct clickhouse *ch, const struct link_space *space,
			 const struct block_range *range, uint64_t *ret_blocks,
			 size_t *ret_count, struct error *err)
{
	char size[24], number[24], generation[24], first[24], last[24];
	const struct clickhouse_param params[] = {
		{"param_size", size},
		{"param_space", number},
		{"param_generation", generation},
		{"param_first", first},
		{"param_last", last},
		{0},
	};
	struct block_reader reader = {.room = (size_t)range_blocks(range)};

	reader.blocks = ret_blocks;
	snprintf(size, sizeof(size), "%" PRIu32, space->block_size);
	snprintf(number, sizeof(number), "%u", space->number);
	snprintf(generation, sizeof(generation), "%" PRIu32, range->generation);
	snprintf(first, sizeof(first), "%" PRIu64, range->first);
	snprintf(last, sizeof(last), "%" PRIu64, range->last);
	if (clickhouse_rows(ch, query, params, "n", read_block, &reader, err) <
	    0)
		return -1;
	*ret_count = reader.count;
	return 0;
}
