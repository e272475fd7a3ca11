/*
 * day_attempts.h - SQL: what is published for each UTC day, as the newest
 * attempts: d (start of the day, seconds since 1970), n_hour (of its hours),
 * n_day (of link_slots and link_days), n_sealed, n_owner, n_value, n_rolled,
 * n_held and n_dropped; n_based and n_based_value (the attempts of owners'
 * tables and of values in its base); 0: none. n_linked: the rows that
 * collectors reported for it. n_held is 0 for a day that was held back at
 * exactly the blocks that it is published from: `aggregator settle` does that
 * while rows of the day are gone.
 */
#ifndef AGGREGATOR_SETTLE_DAY_ATTEMPTS_H
#define AGGREGATOR_SETTLE_DAY_ATTEMPTS_H

#define SQL_DAY_ATTEMPTS                                                       \
	"(SELECT intDiv(toUInt32(unit), 86400) * 86400 AS d, "                 \
	"maxIf(attempt, kind = 'sealed_day') AS n_sealed, "                    \
	"maxIf(attempt, kind = 'owner_day') AS n_owner, "                      \
	"maxIf(attempt, kind = 'value_day') AS n_value, "                      \
	"maxIf(attempt, kind = 'spanned_day') AS n_rolled, "                   \
	"maxIf(attempt, kind = 'link_day') AS n_day, "                         \
	"maxIf(attempt, kind = 'hour') AS n_hour, "                            \
	"if(argMaxIf((blocks, rows), attempt, kind = 'held_day') = "           \
	"argMaxIf((blocks, rows), attempt, kind = 'link_day'), 0, "            \
	"maxIf(attempt, kind = 'held_day')) AS n_held, "                       \
	"maxIf(attempt, kind = 'base_owner') AS n_based, "                     \
	"maxIf(attempt, kind = 'base_value') AS n_based_value, "               \
	"argMaxIf(rows, attempt, kind = 'link_day') AS n_linked, "             \
	"maxIf(attempt, kind = 'dropped_day') AS n_dropped FROM settled "      \
	"WHERE kind IN ('hour', 'link_day', 'held_day', 'sealed_day', "        \
	"'owner_day', 'value_day', 'spanned_day', 'base_owner', "              \
	"'base_value', "                                                       \
	"'dropped_day') GROUP BY d) "

/* Conditions on a day: sealed_slots, owners' tables, tables of values, or
 * stats_spans have everything that was settled for it. */
#define SQL_IS_SEALED "n_sealed > greatest(n_day, n_hour) "
#define SQL_IS_OWNED  "n_owner > greatest(n_day, n_hour) "
#define SQL_IS_VALUED "n_value > greatest(n_day, n_hour) "
#define SQL_IS_ROLLED "n_rolled > greatest(n_day, n_hour) "

/*
 * Conditions on a day: its copies are read.  Copies of a dropped day are read
 * even while late clicks wait to be copied, because its other clicks are
 * nowhere else.
 */
#define SQL_LINKS_ARE_READ "(" SQL_IS_SEALED "OR n_dropped > 0) "
#define SQL_OWNERS_ARE_READ                                                    \
	"(" SQL_IS_OWNED "OR (n_dropped > 0 AND n_based > 0)) "
#define SQL_VALUES_ARE_READ                                                    \
	"(" SQL_IS_VALUED "OR (n_dropped > 0 AND n_based_value > 0)) "

#endif
