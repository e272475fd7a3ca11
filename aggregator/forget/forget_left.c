#include "aggregator/forget/forget_left.h"

#include "aggregator/settle/derived_tables.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"

/*
 * Counts what was settled before its rows were changed:
 * - hours whose newest attempt is from before the change, which is the time of
 *   the day's last change, as the number of an attempt (settling_attempt_at):
 *   only greater attempts of an hour are settled from the changed rows
 * - attempts of hours: each has rows of `total`; those of an hour that is held
 *   back stay
 * - attempts of copies: an attempt's rows are deleted before its marker, so
 *   markers are counted; a copy made from hours before their new attempts is
 *   old, whenever it was begun
 */
static void put_count(struct buf *sql)
{
	static const char text[] =
#include "aggregator/sql/forget_left.sql.inc"
		;
	struct buf markers = {0};

	derived_put_markers(&markers);
	const struct statement_blank blanks[] = {
		{"markers", statement_piece(sql, &markers)}, {NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&markers);
}

int forget_left_count(struct clickhouse *ch, struct forget_left *ret,
		      struct error *err)
{
	struct buf sql = {0};
	uint64_t n[3] = {0};
	int status;

	put_count(&sql);
	status = buf_cstr(&sql)
			 ? clickhouse_numbers(ch, sql.data, NULL, n, 3, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	if (status < 0)
		return error_wrap(err, "what was settled before");
	*ret = (struct forget_left){n[0], n[1], n[2]};
	return 0;
}
