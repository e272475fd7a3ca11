#include "collector/side/counters_row.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "common/clickhouse/rowbinary.h"
#include "common/clock.h"
#include "schemas/counters.pb-c.h"

/* Sums over many redirectors must not overflow. */
#define COUNT_MAX (UINT64_C(1) << 48)
#define TEXT_MAX  320

enum {
	COUNT_NUMBERS = 13
};

/* The numbers are in the order of the columns. */
static void numbers_of(const Shortloop__RedirectorCounters *m,
		       uint64_t n[COUNT_NUMBERS])
{
	const uint64_t all[COUNT_NUMBERS] = {
		m->redirected,	 m->not_found,	 m->expired,  m->blocked,
		m->head,	 m->silent,	 m->produced, m->refused,
		m->acknowledged, m->undelivered, m->spooled,  m->replayed,
		m->withheld};

	memcpy(n, all, sizeof(all));
}

static int check_times(const Shortloop__RedirectorCounters *m,
		       struct error *err)
{
	if (!m->boot || !m->sequence)
		return error_set(err, ERROR_INPUT,
				 "not counters: without boot or sequence");
	if (!m->hour_ms || m->hour_ms > CLOCK_REAL_MAX ||
	    m->hour_ms % (uint64_t)CLOCK_HOUR != 0)
		return error_set(err, ERROR_INPUT,
				 "not counters: hour %" PRIu64 " ms",
				 m->hour_ms);
	if (!m->started_ms || m->started_ms > CLOCK_REAL_MAX || !m->until_ms ||
	    m->until_ms > CLOCK_REAL_MAX)
		return error_set(err, ERROR_INPUT,
				 "not counters: from %" PRIu64
				 " ms until %" PRIu64 " ms",
				 m->started_ms, m->until_ms);
	return 0;
}

static int check_counters(const Shortloop__RedirectorCounters *m,
			  struct error *err)
{
	uint64_t n[COUNT_NUMBERS];

	if (check_times(m, err) < 0)
		return -1;
	if (!*m->instance || strlen(m->instance) > TEXT_MAX ||
	    strlen(m->edge) > TEXT_MAX)
		return error_set(err, ERROR_INPUT,
				 "not counters: whose they are");
	numbers_of(m, n);
	for (size_t i = 0; i < COUNT_NUMBERS; i++)
		if (n[i] > COUNT_MAX)
			return error_set(
				err, ERROR_INPUT,
				"not counters: %" PRIu64 " of one hour", n[i]);
	return 0;
}

static void put_counters_columns(struct buf *rows,
				 const Shortloop__RedirectorCounters *m)
{
	uint64_t n[COUNT_NUMBERS];

	rowbinary_u32(rows, (uint32_t)(m->hour_ms / 1000));
	rowbinary_u64(rows, m->boot);
	rowbinary_u64(rows, m->sequence);
	rowbinary_string(rows, m->instance, strlen(m->instance));
	rowbinary_string(rows, m->edge, strlen(m->edge));
	rowbinary_i64(rows, (int64_t)m->started_ms);
	rowbinary_i64(rows, (int64_t)m->until_ms);
	rowbinary_u8(rows, m->ended ? 1 : 0);
	rowbinary_u8(rows, m->inexact ? 1 : 0);
	numbers_of(m, n);
	for (size_t i = 0; i < COUNT_NUMBERS; i++)
		rowbinary_u64(rows, n[i]);
}

static int append_counters_row(struct buf *rows, size_t *row_count,
			       const void *record, size_t len,
			       struct error *err)
{
	Shortloop__RedirectorCounters *m =
		shortloop__redirector_counters__unpack(NULL, len, record);
	size_t start = rows->len;
	int status;

	if (!m)
		return error_set(err, ERROR_INPUT, "not a protobuf message");
	status = check_counters(m, err);
	if (status == 0)
		put_counters_columns(rows, m);
	shortloop__redirector_counters__free_unpacked(m, NULL);
	if (status == 0 && rows->failed) {
		rows->len = start;
		rows->failed = false;
		return error_set_nomem(err);
	}
	if (status == 0)
		(*row_count)++;
	return status;
}

const struct side_kind counters_kind = {
	.name = "counters",
	.client_id = "shortloop-collector-counters",
	.what = "counters of redirectors",
	.insert = "INSERT INTO redirector_counters (hour, boot, sequence, "
		  "instance, edge, boot_time, counted_until, ended, inexact, "
		  "redirected, not_found, expired, blocked, head, silent, "
		  "produced, refused, acknowledged, undelivered, spooled, "
		  "replayed, withheld) FORMAT RowBinary",
	.rows_max = 1000,
	.append = append_counters_row,
	.stored = {"shortloop_collector_counters_stored_total",
		   "Records of what redirectors counted, stored"},
	.failures = {"shortloop_collector_counters_failures_total",
		     "Tries to store them that failed"},
	.passed = {"shortloop_collector_counters_passed_total",
		   "Unreadable offsets of counters that were passed over"},
};
