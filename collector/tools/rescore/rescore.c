#include "collector/tools/rescore/rescore.h"

/* The operator's rules make long statements: these limits fit the largest
 * file. */
#define LONG_STATEMENTS                                                        \
	{"max_query_size", "16777216"}, {"max_ast_elements", "1000000"},       \
	{                                                                      \
		"max_expanded_ast_elements", "1000000"                         \
	}

static const struct clickhouse_param asking[] = {LONG_STATEMENTS, {NULL, NULL}};

int rescore_run(struct rescore *rs, struct buf *sql, struct error *err)
{
	/* An INSERT ... SELECT writes one block if possible. */
	static const struct clickhouse_param params[] = {
		LONG_STATEMENTS, {"max_insert_threads", "1"}, {NULL, NULL}};
	const char *text = buf_cstr(sql);
	int status = text ? clickhouse_query(rs->ch, text, params, NULL, err)
			  : error_set_nomem(err);

	buf_reset(sql);
	return status;
}

int rescore_rows(struct rescore *rs, struct buf *sql, const char *columns,
		 clickhouse_row_fn *fn, void *arg, struct error *err)
{
	const char *text = buf_cstr(sql);
	int status = text ? clickhouse_rows(rs->ch, text, asking, columns, fn,
					    arg, err)
			  : error_set_nomem(err);

	buf_reset(sql);
	return status;
}

int rescore_row(struct rescore *rs, struct buf *sql, const char *columns,
		clickhouse_row_fn *fn, void *arg, struct error *err)
{
	const char *text = buf_cstr(sql);
	int status = text ? clickhouse_row(rs->ch, text, asking, columns, fn,
					   arg, err)
			  : error_set_nomem(err);

	buf_reset(sql);
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
