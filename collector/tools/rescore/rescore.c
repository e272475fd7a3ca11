#include "collector/tools/rescore/rescore.h"

#include "common/clickhouse/tsv.h"

int rescore_query(struct rescore *rs, struct buf *sql, struct buf *out,
		  struct error *err)
{
	/* What an INSERT ... SELECT writes is one block where it can be. */
	static const struct clickhouse_param params[] = {
		{"max_insert_threads", "1"}, {NULL, NULL}};
	const char *text = buf_cstr(sql);
	int status = text ? clickhouse_query(rs->ch, text, params, out, err)
			  : error_set_nomem(err);

	buf_reset(sql);
	return status;
}

int rescore_number(struct rescore *rs, struct buf *sql, uint64_t *ret,
		   struct error *err)
{
	struct buf answer = {0};
	struct tsv rows;
	char *field;
	int status = rescore_query(rs, sql, &answer, err);

	*ret = 0;
	rows = tsv_rows(&answer);
	if (status == 0 && tsv_next(&rows, &field, 1))
		*ret = tsv_u64(field);
	buf_free(&answer);
	return status;
}

bool rescore_is_stopped(struct rescore *rs, int wait_ms, struct error *err)
{
	if (!app_should_stop(rs->app, wait_ms))
		return false;
	error_set_retriable(err, ERROR_STOPPED,
			    "stopped; run it again to finish the day");
	return true;
}
