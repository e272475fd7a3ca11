/*
 * archive.h - links and their owners: look-ups in the table `links`.
 *
 * The look-ups also find links that no caller may see: answers about one link
 * use link_finder.h.
 */
#ifndef AGGREGATOR_API_LINKS_ARCHIVE_H
#define AGGREGATOR_API_LINKS_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/api/access.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/clickhouse/rows.h"
#include "common/error.h"
#include "linkstore/links_config.h"

struct archived_link {
	uint64_t link_id;
	char code[128];
	struct buf url;
	char state[16], owner[256], ttl_class[16];
	char account[256];
	char space[256];
	uint32_t generation;
	int64_t created_at;  /* ms */
	int64_t expires_at;  /* ms; 0: never */
	uint64_t max_visits; /* 0: any number */
	/* Set by archive_add_life. */
	int64_t reclaimed_at; /* ms; 0: its block is not known to be */
	bool superseded;      /* its code belongs to another link */
};

/* The state of a link that `aggregator forget` took out: no answer contains it.
 */
#define ARCHIVE_FORGOTTEN "forgotten"

/*
 * Fills the blank @ids@ of a statement: a list of link_ids.
 *
 * Such statements find rows through their codes: the table is sorted by code,
 * and the projection by_link has the codes.  The table's index of link_ids
 * passes 1 % of the granules wrongly for each link_id, which is most of the
 * table for a hundred links; for one link the index alone is 2 ms faster.  The
 * projection is preferred by name: otherwise ClickHouse evaluates each
 * projection that could serve, at 5 ms each.
 */
void archive_put_by_ids(struct buf *sql, const char *text, struct buf *ids);

/* Finds the newest link of a code.  ERROR_NOTFOUND if the archive has none.
 * Release with archived_link_release. */
int archive_find_code(struct clickhouse *ch, const char *code,
		      struct archived_link *ret, struct error *err);

/* Finds the link itself, also when its code belongs to another link by now. */
int archive_find_link(struct clickhouse *ch, uint64_t link_id,
		      struct archived_link *ret, struct error *err);

/* Calls `fn` for each of these links that the archive has, with its owner and
 * account, from which access_sees_link decides.  The texts are valid during the
 * call only. */
typedef void archive_owner_fn(void *arg, uint64_t link_id,
			      const struct key_link *whose);
int archive_find_owners(struct clickhouse *ch, const uint64_t *link_ids,
			size_t count, archive_owner_fn *fn, void *arg,
			struct error *err);

/* A statement about the links that have or had a code: link_life.sql or
 * link_history.sql. */
struct code_query {
	const char *sql, *code;
	uint64_t link_id; /* for a statement about one of them */
	const char *columns;
	clickhouse_row_fn *fn;
	void *arg;
};
/* Runs it, with what became of the links until `now_ms` (ClickHouse's). */
int archive_query_code(struct clickhouse *ch, const struct links_config *config,
		       int64_t now_ms, const struct code_query *q,
		       struct error *err);

/*
 * Sets what became of the link: its state and end (life_params.h), and the
 * members above.  A link that the archive does not have stays as it is.
 */
int archive_add_life(struct clickhouse *ch, const struct links_config *config,
		     int64_t now_ms, struct archived_link *link,
		     struct error *err);

void archived_link_release(struct archived_link *link);

#endif
