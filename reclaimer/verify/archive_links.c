#include "reclaimer/verify/archive_links.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/clickhouse/tsv.h"

/* A link_id is space (6 bits) | generation (15) | id (42): see link_id.h. */
static const char query[] =
	"SELECT DISTINCT intDiv(bitAnd(link_id, 4398046511103), "
	"{size:UInt64}) AS block FROM links "
	"WHERE bitShiftRight(link_id, 57) = {space:UInt64} "
	"AND bitAnd(bitShiftRight(link_id, 42), 32767) >= {generation:UInt64} "
	"AND block >= {first:UInt64} AND block <= {last:UInt64} "
	"ORDER BY block FORMAT TabSeparated";

int archive_probe(struct clickhouse *ch, struct error *err)
{
	if (clickhouse_query(ch, "SELECT count() FROM links WHERE 0", NULL,
			     NULL, err) == 0)
		return 0;
	return error_wrap(err, "nothing is repaired without the archive");
}

static int parse(struct buf *answer, size_t room, uint64_t *ret_blocks,
		 size_t *ret_count, struct error *err)
{
	struct tsv t = tsv_rows(answer);
	char *field;
	size_t count = 0;

	while (count < room && tsv_next(&t, &field, 1))
		ret_blocks[count++] = tsv_u64(field);
	if (t.bad)
		return error_set(err, ERROR_PROTOCOL,
				 "ClickHouse answered rows of another shape");
	*ret_count = count;
	return 0;
}

int archive_blocks(struct clickhouse *ch, const struct link_space *space,
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
	struct buf answer = {0};
	int status;

	snprintf(size, sizeof(size), "%" PRIu32, space->block_size);
	snprintf(number, sizeof(number), "%u", space->number);
	snprintf(generation, sizeof(generation), "%" PRIu32, range->generation);
	snprintf(first, sizeof(first), "%" PRIu64, range->first);
	snprintf(last, sizeof(last), "%" PRIu64, range->last);
	status = clickhouse_query(ch, query, params, &answer, err);
	if (status == 0)
		status = parse(&answer, (size_t)range_blocks(range), ret_blocks,
			       ret_count, err);
	buf_free(&answer);
	return status;
}
