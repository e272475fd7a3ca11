/*
 * renewals_report.h - reports renewals of links to the archive, in a topic of
 * their own (schemas/renewal.proto).
 *
 * Each thread collects its renewals in a writer: an addition is three stores.
 * A record is sent when RENEWALS_MAX are there, or RENEWALS_WAIT_MS after the
 * first.  Nobody waits for it, and it is sent once: a renewal that Kafka does
 * not take or store is counted, and the next one of that link makes up for it.
 *
 * Metrics: shortloop_redirector_renewals_reported_total, and
 * shortloop_redirector_renewals_unreported_total by reason.
 */
#ifndef REDIRECTOR_RENEWALS_RENEWALS_REPORT_H
#define REDIRECTOR_RENEWALS_RENEWALS_REPORT_H

#include <stdint.h>

#include "common/error.h"
#include "common/kafka/kafka.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "common/metrics/metrics.h"

enum {
	RENEWALS_MAX = 500, /* in a record */
	RENEWALS_WAIT_MS = 1000,
};

struct renewals_report;

/* `kafka`, `registry` and `log` must outlive it. */
struct renewals_report *renewals_report_new(const struct kafka_config *kafka,
					    struct metrics *registry,
					    struct log *log, struct error *err);
/* Called after the writers are gone: waits until Kafka has the last records, at
 * most `timeout_ms`; logs if some are left. */
void renewals_report_end(struct renewals_report *r, int64_t timeout_ms);
/* Drops what was not sent, and counts it.  NULL accepted. */
void renewals_report_free(struct renewals_report *r);

/* The renewals of one thread, which the loop belongs to. */
struct renewals_writer;

/* `report` and `loop` must outlive it. */
struct renewals_writer *renewals_writer_new(struct renewals_report *report,
					    struct loop *loop,
					    struct error *err);
/* `end_ms`: see struct link_renewal. */
void renewals_writer_add(struct renewals_writer *w, uint64_t link_id,
			 uint32_t version, int64_t end_ms);
/* Sends what it has.  Called on its thread, or after that has ended.  NULL
 * accepted. */
void renewals_writer_free(struct renewals_writer *w);

#endif
