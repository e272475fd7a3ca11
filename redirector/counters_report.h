/*
 * counters_report.h - tells Kafka each minute what was answered and what became
 * of the events, by the hour of the event: what the hour's statistics are held
 * against (docs/design.md, Reconciliation).
 *
 * A record is the running total of one hour since this start.  Each time, one
 * is sent of the present hour, of every hour that has changed within the last
 * one, and of every hour of which Kafka refused a record (told_hours.h): so
 * records may be lost but the last, and may come twice.  A thread of its own
 * sends them; no other waits for it.
 *
 * Where there is a folder for them, the totals lie in a file (counters_file.h)
 * until Kafka has the last record of each hour.  Those that an ended process
 * left there are told as its own, with its last word: nothing of it is unknown.
 * They are looked for at the start and at each report, since one that hands
 * over lives beside its successor, and may be killed then.
 */
#ifndef REDIRECTOR_COUNTERS_REPORT_H
#define REDIRECTOR_COUNTERS_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/kafka/kafka.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "redirector/counters_file.h"
#include "redirector/hour_counts.h"
#include "redirector/redirector_config.h"
#include "redirector/redirector_metrics.h"

/* What a record says beside its counts. */
struct counters_state {
	uint64_t sequence;
	int64_t until_ms;
	bool ended, inexact;
};

/* Appends the record of one hour, as schemas/counters.proto has it. */
void counters_record_put(struct buf *out, const struct counters_origin *origin,
			 const struct counters_state *state,
			 const struct hour_counts *counts);

struct counters_report;

struct counters_report_options {
	const struct kafka_config *kafka;
	const struct redirector_settings *settings;
	const char *edge;
	/* The first `servers` are of threads that answer and flush; the last,
	 * writers[servers], counts what became of events.  They are made here.
	 */
	struct hour_writer *writers;
	size_t servers;
	const struct redirector_metrics *metrics;
	struct metrics *registry;
	struct log *log;
};

/* What the options name must outlive it.  A spool's folder, if there is one, is
 * there.  Nothing is sent before counters_report_start. */
struct counters_report *
counters_report_new(const struct counters_report_options *options,
		    struct error *err);
int counters_report_start(struct counters_report *r, struct error *err);

/* After all writers have ended: sends the last records, and gives Kafka
 * `timeout_ms` to store them.  What it has not stored by then, or refused, is
 * left to the next start, where there is a file, and said in the log. */
void counters_report_end(struct counters_report *r, int64_t timeout_ms);
void counters_report_free(struct counters_report *r); /* NULL accepted */

/* ms from `now_ms` (real time) to a moment after the next report is due. */
int64_t counters_report_wait(int64_t now_ms, int64_t every);

#endif
