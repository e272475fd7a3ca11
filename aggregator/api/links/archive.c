#include "aggregator/api/links/archive.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/api/links/life_params.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"

/* One aggregate returns all values of the newest version, and projections are
 * not considered: both save time that each answer would wait for. */
static const char archived_link[] =
#include "aggregator/sql/archived_link.sql.inc"
	;
#define COLUMN_KINDS "nsssssnnnssn"

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
	ret->max_visits = tsv_u64(f[11]);
	return 0;
}

static int query_archived_link(struct clickhouse *ch, const char *condition,
			       const struct clickhouse_param *params,
			       struct archived_link *ret, struct error *err)
{
	const struct statement_blank blanks[] = {{"condition", condition},
						 {NULL, NULL}};
	struct link_reader reader = {.ret = ret};
	struct buf sql = {0};
	int status;

	statement_put(&sql, archived_link, blanks);
	status = buf_cstr(&sql)
			 ? clickhouse_rows(ch, sql.data, params, COLUMN_KINDS,
					   take_link, &reader, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	if (status == 0 && !reader.found)
		return error_set(err, ERROR_NOTFOUND,
				 "no such link is in the archive");
	return status;
}

int archive_find_code(struct clickhouse *ch, const char *code,
		      struct archived_link *ret, struct error *err)
{
	const struct clickhouse_param params[] = {{"param_code", code},
						  {NULL, NULL}};

	/* Generations are the upper bits of a link_id: the newest is the
	 * greatest. */
	return query_archived_link(ch, "code = {code:String}", params, ret,
				   err);
}

int archive_find_link(struct clickhouse *ch, uint64_t link_id,
		      struct archived_link *ret, struct error *err)
{
	char id[24];
	const struct clickhouse_param params[] = {{"param_id", id},
						  {NULL, NULL}};

	snprintf(id, sizeof(id), "%" PRIu64, link_id);
	return query_archived_link(ch, "link_id = {id:UInt64}", params, ret,
				   err);
}

static const char link_life[] =
#include "aggregator/sql/link_life.sql.inc"
	;

static int take_life(void *arg, char **f, struct error *err)
{
	struct archived_link *link = arg;

	(void)err;
	link->expires_at = tsv_i64(f[0]);
	snprintf(link->state, sizeof(link->state), "%s", f[1]);
	link->reclaimed_at = tsv_i64(f[2]);
	link->superseded = !tsv_u64(f[3]);
	return 0;
}

int archive_query_code(struct clickhouse *ch, const struct links_config *config,
		       int64_t now_ms, const struct code_query *q,
		       struct error *err)
{
	static const struct statement_blank blanks[] = {
		{"links", "SELECT link_id AS one_id FROM links "
			  "WHERE code = {code:String}"},
		{"codes_of", "{code:String}"},
		{NULL, NULL}};
	struct life_params life;
	struct buf sql = {0};
	char id[24];
	int status = life_params_fill(&life, config, now_ms, err);
	const struct clickhouse_param params[] = {
		{"param_code", q->code}, {"param_id", id}, life.items[0],
		life.items[1],		 life.items[2],	   {NULL, NULL}};

	snprintf(id, sizeof(id), "%" PRIu64, q->link_id);
	statement_put(&sql, q->sql, blanks);
	if (status == 0)
		status = buf_cstr(&sql) ? clickhouse_rows(ch, sql.data, params,
							  q->columns, q->fn,
							  q->arg, err)
					: error_set_nomem(err);
	buf_free(&sql);
	life_params_release(&life);
	return status;
}

int archive_add_life(struct clickhouse *ch, const struct links_config *config,
		     int64_t now_ms, struct archived_link *link,
		     struct error *err)
{
	const struct code_query q = {.sql = link_life,
				     .code = link->code,
				     .link_id = link->link_id,
				     .columns = "nsnn",
				     .fn = take_life,
				     .arg = link};

	return archive_query_code(ch, config, now_ms, &q, err);
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

void archive_put_by_ids(struct buf *sql, const char *text, struct buf *ids)
{
	const struct statement_blank blanks[] = {
		{"ids", statement_piece(sql, ids)}, {NULL, NULL}};

	statement_put(sql, text, blanks);
}

static const char link_owners[] =
#include "aggregator/sql/link_owners.sql.inc"
	;

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
	archive_put_by_ids(&sql, link_owners, &ids);
	status = buf_cstr(&sql) ? clickhouse_rows(ch, sql.data, params, "nss",
						  take_owner, &reader, err)
				: error_set_nomem(err);
	buf_free(&ids);
	buf_free(&sql);
	return status;
}

void archived_link_release(struct archived_link *link)
{
	buf_free(&link->url);
}
