/*
 * rescore_sql.h - the SQL statements of a rescoring.
 *
 * The tables of a run are dropped at its end.  `agents` has the data to
 * classify.  `map` has the results: a number of rs->classifications, from 1;
 * another one for the case that the agent is a person's; and which of the
 * operator's rules match the agent.  `bursts` has the times and visitors of
 * bursts.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_RESCORE_SQL_H
#define COLLECTOR_TOOLS_RESCORE_RESCORE_SQL_H

#include "collector/tools/rescore/rescore.h"
#include "common/buf.h"

void rescore_sql_make_agents(const struct rescore *rs, struct buf *sql);
void rescore_sql_make_map(const struct rescore *rs, struct buf *sql);
void rescore_sql_make_bursts(const struct rescore *rs, struct buf *sql);

void rescore_sql_fill_agents(const struct rescore *rs, struct buf *sql);
/* The answer has the columns hex(key), hex(user_agent), hex(purpose), head. */
void rescore_sql_agents_after(const struct rescore *rs, const char *last_hex,
			      int64_t limit, struct buf *sql);
void rescore_sql_insert_map(const struct rescore *rs, struct buf *sql);
void rescore_sql_fill_bursts(const struct rescore *rs, struct buf *sql);

/* The answer has the columns old verdict, new verdict, rows, and the hours
 * whose counts change ("[1792800000,...]"). */
void rescore_sql_preview(const struct rescore *rs, struct buf *sql);
/* The answer has, for each of the operator's rules, its number from 1, its
 * matching rows, and how many of them get another verdict. */
void rescore_sql_rules(const struct rescore *rs, struct buf *sql);
void rescore_sql_update(const struct rescore *rs, struct buf *sql);

#endif
