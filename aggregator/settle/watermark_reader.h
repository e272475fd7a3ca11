/*
 * watermark_reader.h - what the collectors' reports promise, by partition.
 *
 * A topic is waited for however long it has been silent: only an operator can
 * decide that no collector reads it any more, and names it in `retired_topics`.
 *
 * Reading a day of ingest_progress, up to each topic's newest report, takes a
 * tenth of a second and more.  So a day is read once, and after that only new
 * rows: those of the last `overlap` before the newest row that was seen,
 * because an insert may become visible that long after the server read its
 * clock.  Everything is read again when that newest row no longer exists
 * (another replica, a restored server) or lies beyond the server's clock (which
 * went back), when a mark was mended (reports may have been deleted), and every
 * `recheck_every`.  Rows older than a day are searched for topics as well, but
 * not every `recheck_every`: topics that were silent stay known.
 */
#ifndef AGGREGATOR_SETTLE_WATERMARK_READER_H
#define AGGREGATOR_SETTLE_WATERMARK_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "common/clickhouse/clickhouse.h"
#include "common/clock.h"
#include "common/error.h"

#define TOPIC_MAX 250 /* Kafka's limit for a name, with its NUL */

/* A topic is silent if its newest report is this much older than the newest
 * report of any topic. */
#define WATERMARK_SILENT_MS CLOCK_HOUR

/* The newest reports of a partition.  A partition that reported nothing for a
 * day before the newest report of its topic has no mark. */
struct partition_mark {
	char topic[TOPIC_MAX];
	uint32_t partition, epoch;
	uint64_t partitions; /* the topic's number; 0: it is not waited for */
	/* The same of a topic of links, which clicks do not wait for. */
	uint64_t link_partitions;
	int64_t reported_ms; /* all its events before are stored; 0: none is */
	int64_t heard_ms;    /* when ClickHouse stored the newest report */
	/* The topic is silent and named in retired_topics: the watermark does
	 * not wait for it. */
	bool retired;
};

/*
 * The result.  A report promises no more than the time at which ClickHouse
 * stored it, and times beyond ClickHouse's clock are ignored, because some
 * clock is wrong.
 */
struct watermark {
	/*
	 * ms, before `edge_delay` is taken off: the least, over all
	 * partitions, of the newest append time reported in the partition's
	 * newest epoch. 0 when a partition has reported nothing.
	 */
	int64_t complete_until;
	int64_t server_ms; /* ClickHouse's clock */
	/*
	 * Distance beyond that clock of times reported in the last ten minutes
	 * (Kafka's, or ClickHouse's own before its clock went back); 0: none is
	 * beyond.
	 */
	int64_t ahead_ms;
	/*
	 * The partition that is waited for: a silent one if complete_until is
	 * 0, else the one that is furthest behind.  "": there are no reports.
	 */
	char topic[TOPIC_MAX];
	uint32_t partition;
	/* Time of that topic's last report, if other topics have reported for
	 * WATERMARK_SILENT_MS since; 0: it reports, too. */
	int64_t silent_since;
};

struct watermark_reader;

/* The reader uses the settings progress_overlap, recheck_every and
 * retired_topics, which must outlive it. */
struct watermark_reader *
watermark_reader_new(const struct aggregator_settings *settings,
		     struct error *err);
void watermark_reader_free(struct watermark_reader *r); /* NULL accepted */

/*
 * Reads new reports.  `mended`: number of the last mend, from
 * progress_read_last.  One thread at a time.  After a failure the next call
 * reads everything again.
 */
int watermark_read(struct watermark_reader *r, struct clickhouse *ch,
		   uint64_t mended, struct watermark *ret, struct error *err);

/* Returns the marks by topic and partition, as of the last watermark_read;
 * valid until the next one. */
const struct partition_mark *
watermark_reader_marks(const struct watermark_reader *r, size_t *ret_count);

/* --- for tests -------------------------------------------------------------
 */

/* Computes what the marks promise; server_ms and ahead_ms stay. */
void watermark_of(const struct partition_mark *marks, size_t count,
		  struct watermark *ret);

#endif
