#include "allocator/filter/archive_reader.h"

#include <stdlib.h>

#include "common/clickhouse/rows.h"
#include "common/loop/workers.h"

enum {
	READERS = 2, /* threads, each with a connection */
	WAITING_MAX = 64
};

struct archive_reader {
	struct workers *workers;
	struct clickhouse *ch[READERS];
};

/* --- statements ----------------------------------------------------------- */

/* A code may have had several links; the newest is the one that may be live.
 * Superseded versions that match as well do no harm: Redis decides. */
static const char page_start[] =
	"SELECT code, max(link_id) FROM links WHERE code > {after:String} AND ";
static const char page_end[] =
	" GROUP BY code ORDER BY code LIMIT {limit:UInt32}";
static const char count_start[] = "SELECT uniqExact(code) FROM links FINAL "
				  "WHERE code > {after:String} AND ";

static int take_link(void *arg, char **fields, struct error *err)
{
	struct archive_read *read = arg;

	buf_printf(&read->lines, "%s\t%s\n", fields[0], fields[1]);
	read->links++;
	return read->lines.failed ? error_set_nomem(err) : 0;
}

static int take_count(void *arg, char **fields, struct error *err)
{
	struct archive_read *read = arg;

	(void)err;
	read->total = tsv_u64(fields[0]);
	return 0;
}

static int run_statement(struct clickhouse *ch, struct archive_read *read,
			 const char *start, const char *end,
			 struct link_filter_params *params, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_puts(&sql, start);
	link_filter_put_sql(read->filter, &sql);
	buf_puts(&sql, end);
	if (!buf_cstr(&sql))
		status = error_set_nomem(err);
	else if (*end)
		status = clickhouse_rows(ch, sql.data, params->items, "ss",
					 take_link, read, err);
	else
		status = clickhouse_rows(ch, sql.data, params->items, "n",
					 take_count, read, err);
	buf_free(&sql);
	return status;
}

static int read_links(struct clickhouse *ch, struct archive_read *read,
		      struct error *err)
{
	struct link_filter_params params;
	int status = link_filter_fill(&params, read->filter, read->after, err);

	params.items[params.count++] = (struct clickhouse_param){
		"param_limit", read->count ? "10" : "1000"};
	if (status == 0 && read->count)
		status = run_statement(ch, read, count_start, "", &params, err);
	if (status == 0)
		status = run_statement(ch, read, page_start, page_end, &params,
				       err);
	link_filter_params_release(&params);
	return status;
}

/* --- threads -------------------------------------------------------------- */

/* Runs on a reader's thread. */
static void run_read(void *arg, unsigned index)
{
	struct archive_read *read = arg;

	if (read_links(read->reader->ch[index], read, &read->err) < 0)
		return;
	read->err.code = ERROR_NONE;
}

int archive_reader_submit(struct archive_reader *r, struct loop *loop,
			  struct archive_read *read, struct error *err)
{
	read->reader = r;
	buf_reset(&read->lines);
	read->links = 0;
	read->total = 0;
	return workers_submit_of(r->workers, read->whose, loop, run_read,
				 read->done, read, err);
}

void archive_read_release(struct archive_read *read)
{
	buf_free(&read->lines);
}

struct archive_reader *
archive_reader_new(const struct clickhouse_config *config, struct error *err)
{
	struct archive_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	for (size_t i = 0; i < READERS; i++) {
		r->ch[i] = clickhouse_new(config, err);
		if (!r->ch[i])
			goto fail;
	}
	r->workers = workers_new(READERS, WAITING_MAX, err);
	if (r->workers)
		return r;
fail:
	archive_reader_free(r);
	return NULL;
}

void archive_reader_free(struct archive_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < READERS; i++)
		if (r->ch[i])
			clickhouse_abort(r->ch[i]);
	workers_free(r->workers);
	for (size_t i = 0; i < READERS; i++)
		clickhouse_free(r->ch[i]);
	free(r);
}
