/*
 * rescore_sql.h - the statements of a rescoring.
 *
 * Tables of a run, dropped at its end: `agents` has what is to be classified,
 * `map` as what it was (a number of rs->classifications, from 1; another one,
 * as if the agent were a person's; and which of the operator's rules its agent
 * fits), `bursts` when which visitor was in a burst.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_RESCORE_SQL_H
#define COLLECTOR_TOOLS_RESCORE_RESCORE_SQL_H

#include "collector/tools/rescore/rescore.h"
#include "common/buf.h"

void rescore_sql_make_agents(const struct rescore *rs, struct buf *sql);
void rescore_sql_make_map(const struct rescore *rs, struct buf *sql);
void rescore_sql_make_bursts(const struct rescore *rs, struct buf *sql);

void rescore_sql_fill_agents(const struct rescore *rs, struct buf *sql);
/* Rows of hex(key), hex(user_agent), hex(purpose), head. */
void rescore_sql_agents_after(const struct rescore *rs, const char *last_hex,
			      int64_t limit, struct buf *sql);
void rescore_sql_insert_map(const struct rescore *rs, struct buf *sql);
void rescore_sql_fill_bursts(const struct rescore *rs, struct buf *sql);

/* Rows of old verdict, new verdict, rows, and the hours whose counts change
 * ("[1792800000,...]"). */
void rescore_sql_preview(const struct rescore *rs, struct buf *sql);
/* Rows of the number of one of the operator's rules, from 1, the rows that it
 * takes, and those of them whose verdict is to change. */
void rescore_sql_rules(const struct rescore *rs, struct buf *sql);
void rescore_sql_update(const struct rescore *rs, struct buf *sql);

#endif
