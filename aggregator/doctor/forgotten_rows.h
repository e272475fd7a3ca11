/*
 * forgotten_rows.h - whether what is in table `forgotten` is in `clicks` or in
 * the archive's texts all the same, as a backup brings it back.
 *
 * A link's rows lie together.  A visitor's lie anywhere, so that only so many
 * rows are looked through for them: those of the days that were written last,
 * as those of a backup were.
 */
#ifndef AGGREGATOR_DOCTOR_FORGOTTEN_ROWS_H
#define AGGREGATOR_DOCTOR_FORGOTTEN_ROWS_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct forgotten_rows {
	uint64_t visitors, links;   /* that are forgotten */
	uint64_t clicks, archive;   /* rows that have them */
	uint64_t days, days_looked; /* of clicks; for visitors */
};

/* At most `rows_max` rows are looked through for visitors. */
int forgotten_rows_find(struct clickhouse *ch, int64_t rows_max,
			struct forgotten_rows *ret, struct error *err);

#endif
