#include "collector/exactly_once/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/tsv.h"

bool server_is_too_old(const char *version)
{
	char *dot;
	unsigned long year = strtoul(version, &dot, 10);
	unsigned long month = *dot == '.' ? strtoul(dot + 1, NULL, 10) : 0;

	return year < SERVER_OLDEST_YEAR ||
	       (year == SERVER_OLDEST_YEAR && month < SERVER_OLDEST_MONTH);
}

/* Alone, and in words that any version knows. */
static int ask_version(struct clickhouse *ch, struct server *s,
		       struct error *err)
{
	struct buf answer = {0};
	struct tsv rows;
	char *version;
	int status =
		clickhouse_query(ch, "SELECT version()", NULL, &answer, err);

	rows = tsv_rows(&answer);
	if (status == 0 && tsv_next(&rows, &version, 1))
		snprintf(s->version, sizeof(s->version), "%s", version);
	else if (status == 0)
		status = error_set(err, ERROR_PROTOCOL,
				   "an answer of another shape");
	buf_free(&answer);
	return status;
}

static int ask_settings(struct clickhouse *ch, struct server *s,
			struct error *err)
{
	static const char sql[] =
		"SELECT name FROM system.settings WHERE name = "
		"'deduplicate_insert' FORMAT TabSeparated";
	struct buf answer = {0};
	struct tsv rows;
	char *name;
	int status = clickhouse_query(ch, sql, NULL, &answer, err);

	rows = tsv_rows(&answer);
	s->has_deduplicate_insert = status == 0 && tsv_next(&rows, &name, 1);
	buf_free(&answer);
	return status;
}

int server_learn(struct clickhouse *ch, struct server *ret, struct error *err)
{
	struct server s = {0};

	if (ask_version(ch, &s, err) < 0)
		return -1;
	if (server_is_too_old(s.version))
		return error_set(err, ERROR_UNSAFE,
				 "ClickHouse %s is too old: %d.%d or later is "
				 "needed",
				 s.version, SERVER_OLDEST_YEAR,
				 SERVER_OLDEST_MONTH);
	if (ask_settings(ch, &s, err) < 0)
		return -1;
	*ret = s;
	return 0;
}

int server_started(struct clickhouse *ch, int64_t *ret, struct error *err)
{
	struct buf answer = {0};
	struct tsv rows;
	char *text;
	int status = clickhouse_query(
		ch, "SELECT toUnixTimestamp64Milli(now64(3)) - uptime() * 1000",
		NULL, &answer, err);

	rows = tsv_rows(&answer);
	if (status == 0 && tsv_next(&rows, &text, 1))
		*ret = tsv_i64(text);
	else if (status == 0)
		status = error_set(err, ERROR_PROTOCOL,
				   "an answer of another shape");
	buf_free(&answer);
	return status;
}
