/*
 * watermark_reader.h - what the collectors' reports promise, by partition.
 *
 * A topic is waited for however long it has been silent: only an operator knows
 * that nobody reads it any more, and says so by `retired_topics`.
 *
 * Reading a day of ingest_progress, up to each topic's newest report, takes a
 * tenth of a second and more, so that it is read once, and then only what was
 * stored since: the rows of the last `overlap` before the newest row that was
 * seen, as an insert may take that long from the server's look at its clock
 * until it is seen.  All is read again when that newest row is not there any
 * more (another replica, a restored server) or lies beyond the server's clock
 * (which went back), when a mark was mended (reports may have been deleted),
 * and every `recheck_every`.  What is older than a day is looked through for
 * topics as well, but not every `recheck_every`: those that were silent stay
 * known.
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

#define TOPIC_MAX 250 /* Kafka's bound for a name, with its NUL */

/* A topic is silent that was not heard of for so long before the newest report
 * of any. */
#define WATERMARK_SILENT_MS CLOCK_HOUR

/* The newest reports of a partition.  One that reported nothing for a day
 * before the newest report of its topic is not among them. */
struct partition_mark {
	char topic[TOPIC_MAX];
	uint32_t partition, epoch;
	uint64_t partitions; /* that the topic has; 0: nobody waits for it */
	int64_t reported_ms; /* up to which its events are stored; 0: none is */
	int64_t heard_ms;    /* when ClickHouse stored the newest report */
	/* Its topic is one of retired_topics, and silent: nobody waits for it.
	 */
	bool retired;
};

/*
 * None of the reports vouches for more than the time at which ClickHouse stored
 * it, and what lies beyond ClickHouse's clock is not believed at all:
 * somebody's clock is wrong.
 */
struct watermark {
	/*
	 * ms, before `edge_delay` is taken off: the least, over all
	 * partitions, of the newest append time reported in the partition's
	 * newest epoch. 0 when a partition has reported nothing.
	 */
	int64_t complete_until;
	int64_t server_ms; /* ClickHouse's clock */
	/* How far times that were reported in the last ten minutes, Kafka's or
	 * ClickHouse's own before its clock went back, lie beyond it; 0: none
	 * does. */
	int64_t ahead_ms;
	/* The partition that it waits for: with complete_until 0 one that is
	 * silent, else the one that is furthest behind.  "": nothing is
	 * reported at all. */
	char topic[TOPIC_MAX];
	uint32_t partition;
	/* When that topic was last heard of, where others were for
	 * WATERMARK_SILENT_MS since; 0: it was as well. */
	int64_t silent_since;
};

struct watermark_reader;

/* Of the settings, progress_overlap, recheck_every and retired_topics are used;
 * they outlive the reader. */
struct watermark_reader *
watermark_reader_new(const struct aggregator_settings *settings,
		     struct error *err);
void watermark_reader_free(struct watermark_reader *r); /* NULL accepted */

/* Reads what is new.  `mended`: the number of the last mend, as
 * progress_read_last says.  One thread at a time.  After a failure the next
 * call reads all again. */
int watermark_read(struct watermark_reader *r, struct clickhouse *ch,
		   uint64_t mended, struct watermark *ret, struct error *err);

/* By topic and partition, as of the last watermark_read; until the next one. */
const struct partition_mark *
watermark_reader_marks(const struct watermark_reader *r, size_t *ret_count);

/* --- for tests -------------------------------------------------------------
 */

/* What the marks promise; server_ms and ahead_ms stay. */
void watermark_of(const struct partition_mark *marks, size_t count,
		  struct watermark *ret);

#endif
