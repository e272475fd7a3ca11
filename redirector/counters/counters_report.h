/*
 * counters_report.h - reports to Kafka each minute what was answered and what
 * became of the events, by the hour of the event.  The hour's statistics are
 * checked against it (docs/design.md, Reconciliation).
 *
 * A record is the running total of one hour since this start.  Each report
 * sends one for the present hour, for every hour that has changed within the
 * last hour, and for every hour of which Kafka refused a record (told_hours.h):
 * so any record but the last may be lost, and a record may come twice.  A
 * separate thread sends them; no other thread waits for it.
 *
 * If there is a folder for them, the totals lie in a file (counters_file.h)
 * until Kafka has the last record of each hour.  A file that an ended process
 * left there is reported in the name of that process, and as its final report:
 * nothing of it is unknown.  Such files are searched for at the start and at
 * each report, since a process that hands over lives beside its successor, and
 * may be killed then.
 */
#ifndef REDIRECTOR_COUNTERS_COUNTERS_REPORT_H
#define REDIRECTOR_COUNTERS_COUNTERS_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/kafka/kafka.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "redirector/counters/counters_file.h"
#include "redirector/counters/hour_counts.h"
#include "redirector/redirector_config.h"
#include "redirector/redirector_metrics.h"

/* The fields of a record beside its counts. */
struct counters_state {
	uint64_t sequence;
	int64_t until_ms;
	bool ended, inexact;
};

/* Appends the record of one hour, as schemas/counters.proto defines it. */
void counters_record_put(struct buf *out, const struct counters_origin *origin,
			 const struct counters_state *state,
			 const struct hour_counts *counts);

struct counters_report;

struct counters_report_options {
	const struct kafka_config *kafka;
	const struct redirector_settings *settings;
	const char *edge;
	/* The first `servers` writers belong to the threads that answer and
	 * flush; the last, writers[servers], counts what became of events.
	 * counters_report_new initializes them. */
	struct hour_writer *writers;
	size_t servers;
	const struct redirector_metrics *metrics;
	struct metrics *registry;
	struct log *log;
};

/* All that the options point to must outlive it.  If there is a spool, its
 * folder exists already.  Nothing is sent before counters_report_start. */
struct counters_report *
counters_report_new(const struct counters_report_options *options,
		    struct error *err);
int counters_report_start(struct counters_report *r, struct error *err);

/* Called after all writers have ended: sends the last records, and gives Kafka
 * `timeout_ms` to store them.  Records that are not stored by then, or were
 * refused, are left to the next start if there is a file, and the log reports
 * them. */
void counters_report_end(struct counters_report *r, int64_t timeout_ms);
void counters_report_free(struct counters_report *r); /* NULL accepted */

/* Returns the ms from `now_ms` (real time) to a moment after the next report is
 * due. */
int64_t counters_report_wait(int64_t now_ms, int64_t every);

#endif
