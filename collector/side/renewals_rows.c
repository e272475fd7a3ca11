#include "collector/side/renewals_rows.h"

#include <inttypes.h>

#include "common/clickhouse/rowbinary.h"
#include "schemas/renewal.pb-c.h"

static int check_lists(const Shortloop__Renewals *m, struct error *err)
{
	size_t count = m->n_link_ids;

	if (count != m->n_versions || count != m->n_ends_ms)
		return error_set(err, ERROR_INPUT,
				 "not renewals: of %zu links, %zu versions and "
				 "%zu ends",
				 count, m->n_versions, m->n_ends_ms);
	if (!count || count > RENEWALS_ROWS_MAX)
		return error_set(err, ERROR_INPUT, "not renewals: of %zu links",
				 count);
	return 0;
}

static int check_renewals(const Shortloop__Renewals *m, struct error *err)
{
	if (check_lists(m, err) < 0)
		return -1;
	for (size_t i = 0; i < m->n_link_ids; i++)
		if (!m->link_ids[i] || !m->ends_ms[i])
			return error_set(err, ERROR_INPUT,
					 "not renewals: link %" PRIu64
					 " until %" PRIu64 " ms",
					 m->link_ids[i], m->ends_ms[i]);
	return 0;
}

static void put_renewals(struct buf *rows, const Shortloop__Renewals *m)
{
	for (size_t i = 0; i < m->n_link_ids; i++) {
		rowbinary_u64(rows, m->link_ids[i]);
		rowbinary_u32(rows, m->versions[i]);
		rowbinary_i64(rows, rowbinary_bounded_ms(m->ends_ms[i]));
	}
}

static int append_renewals(struct buf *rows, size_t *row_count,
			   const void *record, size_t len, struct error *err)
{
	Shortloop__Renewals *m = shortloop__renewals__unpack(NULL, len, record);
	size_t start = rows->len, count;
	int status;

	if (!m)
		return error_set(err, ERROR_INPUT, "not a protobuf message");
	count = m->n_link_ids;
	status = check_renewals(m, err);
	if (status == 0)
		put_renewals(rows, m);
	shortloop__renewals__free_unpacked(m, NULL);
	if (status < 0)
		return -1;
	if (rows->failed) {
		rows->len = start;
		rows->failed = false;
		return error_set_nomem(err);
	}
	*row_count += count;
	return 0;
}

const struct side_kind renewals_kind = {
	.name = "renewals",
	.client_id = "shortloop-collector-renewals",
	.what = "renewals of links",
	.insert = "INSERT INTO link_ends (link_id, version, ends_at) "
		  "FORMAT RowBinary",
	.rows_max = 50000,
	.append = append_renewals,
	.stored = {"shortloop_collector_renewals_stored_total",
		   "Renewals of links, stored"},
	.failures = {"shortloop_collector_renewals_failures_total",
		     "Tries to store renewals that failed"},
	.passed = {"shortloop_collector_renewals_passed_total",
		   "Unreadable offsets of renewals that were passed over"},
};
