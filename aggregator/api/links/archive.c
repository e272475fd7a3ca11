#include "aggregator/api/links/archive.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/clickhouse/rows.h"

/* One aggregate returns all values of the newest version, and projections are
 * not considered: both save time that each answer would wait for. */
#define LINKS_WHERE(condition)                                                 \
	"SELECT l, c, toValidUTF8(v.1), v.2, toValidUTF8(v.3), v.4, g, "       \
	"toUnixTimestamp64Milli(t), toUnixTimestamp64Milli(v.5), v.6, v.7 "    \
	"FROM (SELECT link_id AS l, code AS c, argMax((url, state, owner, "    \
	"ttl_class, expires_at, account, space), version) AS v, "              \
	"max(generation) AS g, min(created_at) AS t FROM links "               \
	"WHERE " condition " GROUP BY c, l ORDER BY l DESC LIMIT 1) "          \
	"SETTINGS optimize_use_projections = 0 FORMAT TabSeparated"
#define COLUMN_KINDS "nsssssnnnss"

struct link_reader {
	struct archived_link *ret;
	bool found;
};

static int take_link(void *arg, char **f, struct error *err)
{
	struct link_reader *reader = arg;
	struct archived_link *ret = reader->ret;

	(void)err;
	reader->found = true;
	*ret = (struct archived_link){.link_id = tsv_u64(f[0])};
	snprintf(ret->code, sizeof(ret->code), "%s", f[1]);
	buf_puts(&ret->url, f[2]);
	snprintf(ret->state, sizeof(ret->state), "%s", f[3]);
	snprintf(ret->owner, sizeof(ret->owner), "%s", f[4]);
	snprintf(ret->ttl_class, sizeof(ret->ttl_class), "%s", f[5]);
	ret->generation = (uint32_t)tsv_u64(f[6]);
	ret->created_at = tsv_i64(f[7]);
	ret->expires_at = tsv_i64(f[8]);
	snprintf(ret->account, sizeof(ret->account), "%s", f[9]);
	snprintf(ret->space, sizeof(ret->space), "%s", f[10]);
	return 0;
}

static int query_archived_link(struct clickhouse *ch, const char *sql,
			       const char *param, const char *value,
			       struct archived_link *ret, struct error *err)
{
	const struct clickhouse_param params[] = {{param, value}, {NULL, NULL}};
	struct link_reader reader = {.ret = ret};

	if (clickhouse_rows(ch, sql, params, COLUMN_KINDS, take_link, &reader,
			    err) < 0)
		return -1;
	if (!reader.found)
		return error_set(err, ERROR_NOTFOUND,
				 "no such link is in the archive");
	return 0;
}

int archive_find_code(struct clickhouse *ch, const char *code,
		      struct archived_link *ret, struct error *err)
{
	/* Generations are the upper bits of a link_id: the newest is the
	 * greatest. */
	return query_archived_link(ch, LINKS_WHERE("code = {code:String}"),
				   "param_code", code, ret, err);
}

int archive_find_link(struct clickhouse *ch, uint64_t link_id,
		      struct archived_link *ret, struct error *err)
{
	char id[24];

	snprintf(id, sizeof(id), "%" PRIu64, link_id);
	return query_archived_link(ch, LINKS_WHERE("link_id = {id:UInt64}"),
				   "param_id", id, ret, err);
}

struct owners_reader {
	archive_owner_fn *fn;
	void *arg;
};

static int take_owner(void *arg, char **f, struct error *err)
{
	const struct owners_reader *reader = arg;
	const struct key_link whose = {.owner = f[1], .account = f[2]};

	(void)err;
	reader->fn(reader->arg, tsv_u64(f[0]), &whose);
	return 0;
}

int archive_find_owners(struct clickhouse *ch, const uint64_t *link_ids,
			size_t count, archive_owner_fn *fn, void *arg,
			struct error *err)
{
	const struct clickhouse_param params[] = {{NULL, NULL}};
	struct owners_reader reader = {fn, arg};
	struct buf ids = {0}, sql = {0};
	int status;

	for (size_t i = 0; i < count; i++)
		buf_printf(&ids, "%s%" PRIu64, i ? "," : "", link_ids[i]);
	if (buf_cstr(&ids))
		buf_printf(
			&sql,
			"SELECT link_id, toValidUTF8(argMax(owner, "
			"version)), argMax(account, version) FROM links "
			"WHERE " ARCHIVE_HAS_ID("%s") " GROUP BY "
						      "link_id" ARCHIVE_BY_LINK
						      " FORMAT TabSeparated",
			ids.data, ids.data);
	status = ids.failed || !buf_cstr(&sql)
			 ? error_set_nomem(err)
			 : clickhouse_rows(ch, sql.data, params, "nss",
					   take_owner, &reader, err);
	buf_free(&ids);
	buf_free(&sql);
	return status;
}

void archived_link_release(struct archived_link *link)
{
	buf_free(&link->url);
}
