#include "aggregator/settle/watermark_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "schemas/ingest_progress.h"

/* A partition that was not heard of for so long counts as one that never was,
 * so that no more than this of the table is read. */
#define SILENT_MS CLOCK_DAY

/* `ahead_ms` is of the reports of so long. */
#define AHEAD_MS (10 * CLOCK_MINUTE)

struct watermark_reader {
	int64_t overlap_ms, recheck_ms;
	int64_t recheck_at; /* monotonic ms */
	uint64_t mended;
	struct partition_mark *marks; /* by topic and partition */
	size_t count, capacity;
	size_t at;	   /* of the row before: rows come in that order, too */
	int64_t newest_ms; /* heard of any partition; 0: all is to be read */
	int64_t reached_ms;	     /* newest heard in this reading */
	int64_t ahead_ms, server_ms; /* of this reading */
};

struct watermark_reader *
watermark_reader_new(const struct aggregator_settings *settings,
		     struct error *err)
{
	struct watermark_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->overlap_ms = settings->progress_overlap > AHEAD_MS
				? settings->progress_overlap
				: AHEAD_MS;
	r->recheck_ms = settings->recheck_every;
	return r;
}

void watermark_reader_free(struct watermark_reader *r)
{
	if (!r)
		return;
	free(r->marks);
	free(r);
}

const struct partition_mark *
watermark_reader_marks(const struct watermark_reader *r, size_t *ret_count)
{
	*ret_count = r->count;
	return r->marks;
}

/* --- reading ----------------------------------------------------------------
 */

static int compare(const struct partition_mark *m, const char *topic,
		   uint32_t partition)
{
	int order = strcmp(m->topic, topic);

	if (order)
		return order;
	return m->partition < partition ? -1 : m->partition > partition;
}

/* The partition's mark, made where it belongs when there is none. */
static struct partition_mark *mark_of(struct watermark_reader *r,
				      const char *topic, uint32_t partition)
{
	struct partition_mark *more;
	size_t at = r->at;

	while (at && compare(&r->marks[at - 1], topic, partition) >= 0)
		at--;
	while (at < r->count && compare(&r->marks[at], topic, partition) < 0)
		at++;
	r->at = at;
	if (at < r->count && !compare(&r->marks[at], topic, partition))
		return &r->marks[at];
	if (r->count == r->capacity) {
		more = reallocarray(r->marks, r->capacity * 2 + 16,
				    sizeof(*more));
		if (!more)
			return NULL;
		r->marks = more;
		r->capacity = r->capacity * 2 + 16;
	}
	memmove(&r->marks[at + 1], &r->marks[at],
		(r->count++ - at) * sizeof(*r->marks));
	r->marks[at] = (struct partition_mark){.partition = partition};
	snprintf(r->marks[at].topic, sizeof(r->marks[at].topic), "%s", topic);
	return &r->marks[at];
}

/* What a partition reported in an epoch that is over counts no more. */
static void heard(struct partition_mark *m, const struct partition_mark *now)
{
	if (now->epoch < m->epoch)
		return;
	if (now->epoch > m->epoch) {
		m->epoch = now->epoch;
		m->partitions = 0;
		m->reported_ms = m->heard_ms = 0;
	}
	if (now->partitions > m->partitions)
		m->partitions = now->partitions;
	if (now->reported_ms > m->reported_ms)
		m->reported_ms = now->reported_ms;
	if (now->heard_ms > m->heard_ms)
		m->heard_ms = now->heard_ms;
}

/* A row is: topic, partition, epoch, partitions, reported, heard, beyond,
 * server's clock.  The last one has no topic. */
static int take_row(void *arg, char **f, struct error *err)
{
	struct watermark_reader *r = arg;
	struct partition_mark *mark,
		now = {
			.partition = (uint32_t)tsv_u64(f[1]),
			.epoch = (uint32_t)tsv_u64(f[2]),
			.partitions = tsv_u64(f[3]),
			.reported_ms = tsv_i64(f[4]),
			.heard_ms = tsv_i64(f[5]),
		};
	int64_t beyond = tsv_i64(f[6]);

	r->server_ms = tsv_i64(f[7]);
	if (!*f[0])
		return 0;
	if (beyond > r->ahead_ms)
		r->ahead_ms = beyond;
	if (now.heard_ms > r->reached_ms)
		r->reached_ms = now.heard_ms;
	mark = mark_of(r, f[0], now.partition);
	if (!mark)
		return error_set_nomem(err);
	heard(mark, &now);
	return 0;
}

#define SERVER_TIME "now64(3, 'UTC')"
#define SERVER_MS   "toUnixTimestamp64Milli(" SERVER_TIME ")"
#define IS_PAST	    "inserted_at <= " SERVER_TIME
#define SELECT_MARKS                                                           \
	"SELECT topic, partition, epoch, max(partitions), "                    \
	"maxIf(toUnixTimestamp64Milli(least(append_time, "                     \
	"inserted_at)), " IS_PAST                                              \
	"), maxIf(toUnixTimestamp64Milli(inserted_at), " IS_PAST "), "         \
	"maxIf(toUnixTimestamp64Milli(greatest(append_time, inserted_at)) - "  \
	"toUnixTimestamp64Milli(least(inserted_at, " SERVER_TIME ")), "        \
	"inserted_at > " SERVER_TIME " - toIntervalMillisecond("               \
	"{ahead:Int64})), " SERVER_MS                                          \
	" FROM ingest_progress WHERE " PROGRESS_IS_STREAM                      \
	" AND inserted_at > "
#define GROUP_MARKS                                                            \
	" GROUP BY topic, partition, epoch UNION ALL "                         \
	"SELECT '', 0, 0, 0, 0, 0, 0, " SERVER_MS

static int read_rows(struct watermark_reader *r, struct clickhouse *ch,
		     struct error *err)
{
	/* clang-format off */
	static const char all[] = "SELECT * FROM ("
		"WITH (SELECT max(t) FROM (SELECT inserted_at AS t "
		"FROM ingest_progress WHERE " PROGRESS_IS_STREAM " AND " IS_PAST
		" ORDER BY inserted_at DESC LIMIT 1)) AS newest "
		SELECT_MARKS "newest - toIntervalMillisecond({back:Int64})"
		GROUP_MARKS ") ORDER BY ALL FORMAT TabSeparated";
	static const char fresh[] = "SELECT * FROM ("
		SELECT_MARKS "least(fromUnixTimestamp64Milli({newest:Int64}, "
		"'UTC'), " SERVER_TIME ") - toIntervalMillisecond({back:Int64})"
		GROUP_MARKS ") ORDER BY ALL FORMAT TabSeparated";
	/* clang-format on */
	char newest[24], back[24], ahead[24];
	const struct clickhouse_param params[] = {{"param_newest", newest},
						  {"param_back", back},
						  {"param_ahead", ahead},
						  {NULL, NULL}};

	snprintf(newest, sizeof(newest), "%" PRId64, r->newest_ms);
	snprintf(back, sizeof(back), "%" PRId64,
		 r->newest_ms ? r->overlap_ms : (int64_t)SILENT_MS);
	snprintf(ahead, sizeof(ahead), "%" PRId64, (int64_t)AHEAD_MS);
	r->at = 0;
	r->reached_ms = r->ahead_ms = r->server_ms = 0;
	return clickhouse_rows(ch, r->newest_ms ? fresh : all, params,
			       "snnnnnnn", take_row, r, err);
}

static void forget(struct watermark_reader *r)
{
	r->count = 0;
	r->newest_ms = 0;
	r->recheck_at = clock_monotonic_ms() + r->recheck_ms;
}

/* Reports that lay beyond the server's clock are read again. */
static bool is_unheard(const struct watermark_reader *r,
		       const struct partition_mark *m)
{
	(void)r;
	return !m->heard_ms;
}

static bool is_silent(const struct watermark_reader *r,
		      const struct partition_mark *m)
{
	return m->heard_ms && m->heard_ms <= r->newest_ms - SILENT_MS;
}

static void drop(struct watermark_reader *r,
		 bool (*is_dropped)(const struct watermark_reader *r,
				    const struct partition_mark *m))
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++)
		if (!is_dropped(r, &r->marks[i]))
			r->marks[kept++] = r->marks[i];
	r->count = kept;
}

int watermark_read(struct watermark_reader *r, struct clickhouse *ch,
		   uint64_t mended, struct watermark *ret, struct error *err)
{
	int status;

	if (mended != r->mended || clock_monotonic_ms() >= r->recheck_at)
		forget(r);
	r->mended = mended;
	drop(r, is_unheard);
	status = read_rows(r, ch, err);
	if (status == 0 && r->reached_ms < r->newest_ms) {
		forget(r);
		status = read_rows(r, ch, err);
	}
	if (status < 0) {
		forget(r);
		return error_wrap(err, "watermark");
	}
	r->newest_ms = r->reached_ms;
	*ret = (struct watermark){
		.server_ms = r->server_ms,
		.ahead_ms = r->ahead_ms,
	};
	drop(r, is_silent);
	watermark_of(r->marks, r->count, ret);
	return 0;
}

/* --- what they promise ------------------------------------------------------
 */

/* Of the marks of one topic, which are in order, the first number without a
 * report; UINT64_MAX: there is none. */
static uint64_t first_silent(const struct partition_mark *marks, size_t count)
{
	uint64_t partitions = 0, next = 0;

	for (size_t i = 0; i < count; i++)
		if (marks[i].partitions > partitions)
			partitions = marks[i].partitions;
	for (size_t i = 0; i < count; i++) {
		if (!marks[i].heard_ms || marks[i].partition > next)
			break;
		next = (uint64_t)marks[i].partition + 1;
	}
	return next < partitions ? next : UINT64_MAX;
}

static void wait_for(struct watermark *w, const char *topic, uint32_t partition,
		     int64_t until)
{
	snprintf(w->topic, sizeof(w->topic), "%s", topic);
	w->partition = partition;
	w->complete_until = until;
}

static bool is_awaited(const struct partition_mark *marks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (marks[i].partitions)
			return true;
	return false;
}

void watermark_of(const struct partition_mark *marks, size_t count,
		  struct watermark *ret)
{
	uint64_t silent;
	size_t n;

	for (size_t i = 0; i < count; i += n) {
		for (n = 1; i + n < count; n++)
			if (strcmp(marks[i + n].topic, marks[i].topic) != 0)
				break;
		if (!is_awaited(&marks[i], n))
			continue;
		silent = first_silent(&marks[i], n);
		if (silent != UINT64_MAX) {
			wait_for(ret, marks[i].topic, (uint32_t)silent, 0);
			return;
		}
		for (size_t k = i; k < i + n; k++) {
			if (!*ret->topic ||
			    marks[k].reported_ms < ret->complete_until)
				wait_for(ret, marks[k].topic,
					 marks[k].partition,
					 marks[k].reported_ms);
		}
	}
}
