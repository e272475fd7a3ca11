#include "aggregator/settle/watermark_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"
#include "common/clock.h"

/* A partition that was silent for this long before its topic's newest report is
 * ignored, so that no more than this of the table is read. */
#define READ_MS CLOCK_DAY

/* Length of a step of the search for topics that were silent for longer. */
#define LOOK_MS (30 * CLOCK_DAY)

/* `ahead_ms` covers the reports of this long. */
#define AHEAD_MS (10 * CLOCK_MINUTE)

struct watermark_reader {
	const struct setting_strings *retired;
	int64_t overlap_ms, recheck_ms;
	int64_t recheck_at; /* monotonic ms */
	uint64_t mended;
	struct partition_mark *marks; /* by topic and partition */
	size_t count, capacity;
	size_t at; /* the mark of the last row: rows come in the same order */
	/* Newest report of any partition; 0: read everything. */
	int64_t newest_ms;
	bool silent_known;  /* topics that have only older reports are known */
	int64_t reached_ms; /* newest report in this reading */
	int64_t ahead_ms, server_ms; /* clocks in this reading */
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
	r->retired = &settings->retired_topics;
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

static int compare_mark(const struct partition_mark *m, const char *topic,
			uint32_t partition)
{
	int order = strcmp(m->topic, topic);

	if (order)
		return order;
	return m->partition < partition ? -1 : m->partition > partition;
}

/* Returns the partition's mark, inserted in its place if there is none. */
static struct partition_mark *mark_of(struct watermark_reader *r,
				      const char *topic, uint32_t partition)
{
	struct partition_mark *more;
	size_t at = r->at;

	while (at && compare_mark(&r->marks[at - 1], topic, partition) >= 0)
		at--;
	while (at < r->count &&
	       compare_mark(&r->marks[at], topic, partition) < 0)
		at++;
	r->at = at;
	if (at < r->count && !compare_mark(&r->marks[at], topic, partition))
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

/* Reports from an epoch that is over no longer count. */
static void update_mark(struct partition_mark *m,
			const struct partition_mark *now)
{
	if (now->epoch < m->epoch)
		return;
	if (now->epoch > m->epoch) {
		m->epoch = now->epoch;
		m->partitions = m->link_partitions = 0;
		m->reported_ms = m->heard_ms = 0;
	}
	if (now->partitions > m->partitions)
		m->partitions = now->partitions;
	if (now->link_partitions > m->link_partitions)
		m->link_partitions = now->link_partitions;
	if (now->reported_ms > m->reported_ms)
		m->reported_ms = now->reported_ms;
	if (now->heard_ms > m->heard_ms)
		m->heard_ms = now->heard_ms;
}

/* A row is: topic, partition, epoch, partitions, reported, heard, beyond,
 * server's clock, partitions of links.  The last one has no topic. */
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
			.link_partitions = tsv_u64(f[8]),
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
	update_mark(mark, &now);
	return 0;
}

/* Writes the query of the reports of all topics, or of the one that the
 * parameter `topic` names. */
static void put_marks_query(struct buf *sql, bool of_topic)
{
	static const char text[] =
#include "aggregator/sql/partition_marks.sql.inc"
		;
	const struct statement_blank blanks[] = {
		{"of_topic", of_topic ? "AND topic = {topic:String}" : NULL},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
}

/* Reads the reports stored since `newest_ms` less `back_ms`; for all topics if
 * `topic` is NULL. */
static int read_rows(struct watermark_reader *r, struct clickhouse *ch,
		     const char *topic, int64_t newest_ms, int64_t back_ms,
		     struct error *err)
{
	char newest[24], back[24], ahead[24];
	const struct clickhouse_param params[] = {
		{"param_newest", newest},
		{"param_back", back},
		{"param_ahead", ahead},
		{topic ? "param_topic" : NULL, topic},
		{NULL, NULL}};
	struct buf sql = {0};
	int status;

	snprintf(newest, sizeof(newest), "%" PRId64, newest_ms);
	snprintf(back, sizeof(back), "%" PRId64, back_ms);
	snprintf(ahead, sizeof(ahead), "%" PRId64, (int64_t)AHEAD_MS);
	r->at = 0;
	put_marks_query(&sql, topic != NULL);
	status = buf_cstr(&sql) ? clickhouse_rows(ch, sql.data, params,
						  "snnnnnnnn", take_row, r, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

/* --- reading all topics ----------------------------------------------------
 */

/* A topic, and the time of its newest report (ms; 0: only beyond the server's
 * clock). */
struct heard_topic {
	char name[TOPIC_MAX];
	int64_t newest_ms;
};

struct topic_list {
	struct heard_topic *items;
	size_t count;
};

/* A row is: topic, time of its newest report. */
static int take_topic(void *arg, char **f, struct error *err)
{
	struct topic_list *list = arg;
	struct heard_topic *more =
		realloc(list->items, (list->count + 1) * sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	list->items = more;
	more[list->count].newest_ms = tsv_i64(f[1]);
	snprintf(more[list->count].name, sizeof(more->name), "%s", f[0]);
	list->count++;
	return 0;
}

static int ask_topics(struct clickhouse *ch, const char *sql, int64_t from_ms,
		      int64_t to_ms, const char *known, struct topic_list *ret,
		      struct error *err)
{
	char from[24], to[24];
	const struct clickhouse_param params[] = {{"param_from", from},
						  {"param_to", to},
						  {"param_known", known},
						  {NULL, NULL}};

	snprintf(from, sizeof(from), "%" PRId64, from_ms);
	snprintf(to, sizeof(to), "%" PRId64, to_ms);
	return clickhouse_rows(ch, sql, params, "sn", take_topic, ret, err);
}

static void put_known(struct buf *out, const struct topic_list *topics)
{
	buf_putc(out, '[');
	for (size_t i = 0; i < topics->count; i++) {
		const char *name = topics->items[i].name;

		/* Kafka has no such names; such a topic is found twice. */
		if (!name[strcspn(name, "'\\")])
			buf_printf(out, "%s'%s'", out->len > 1 ? "," : "",
				   name);
	}
	buf_putc(out, ']');
}

/*
 * Lists topics whose newest report is between `oldest_ms` and `until_ms`, some
 * weeks at a time.  For rows of topics found before, only the topic column is
 * read.
 */
static int list_silent(struct clickhouse *ch, int64_t oldest_ms,
		       int64_t until_ms, struct topic_list *ret,
		       struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/topics_silent.sql.inc"
		;
	struct buf known = {0};
	int status = 0;

	for (; status == 0 && until_ms >= oldest_ms; until_ms -= LOOK_MS) {
		buf_reset(&known);
		put_known(&known, ret);
		status = buf_cstr(&known)
				 ? ask_topics(ch, sql, until_ms - LOOK_MS,
					      until_ms, known.data, ret, err)
				 : error_set_nomem(err);
	}
	buf_free(&known);
	return status;
}

/* Lists the topics that have reports of the last READ_MS, and all others unless
 * they were listed before. */
static int list_topics(struct watermark_reader *r, struct clickhouse *ch,
		       struct topic_list *ret, struct error *err)
{
	static const char ends[] =
#include "aggregator/sql/progress_ends.sql.inc"
		;
	static const char recent[] =
#include "aggregator/sql/topics_heard.sql.inc"
		;
	uint64_t n[3] = {0};
	int64_t since;

	if (clickhouse_numbers(ch, ends, NULL, n, 3, err) < 0)
		return -1;
	since = (int64_t)n[0] - READ_MS;
	r->server_ms = (int64_t)n[2];
	if (ask_topics(ch, recent, since, 0, "[]", ret, err) < 0)
		return -1;
	if (r->silent_known || !n[0])
		return 0;
	return list_silent(ch, (int64_t)n[1], since, ret, err);
}

static void drop_topic(struct watermark_reader *r, const char *topic)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++)
		if (strcmp(r->marks[i].topic, topic) != 0)
			r->marks[kept++] = r->marks[i];
	r->count = kept;
}

/* The marks of topics that are known to be silent stay unchanged. */
static int read_all(struct watermark_reader *r, struct clickhouse *ch,
		    struct error *err)
{
	struct topic_list topics = {0};
	int status = list_topics(r, ch, &topics, err);

	for (size_t i = 0; status == 0 && i < topics.count; i++) {
		drop_topic(r, topics.items[i].name);
		status = read_rows(r, ch, topics.items[i].name,
				   topics.items[i].newest_ms, READ_MS, err);
	}
	free(topics.items);
	/* A topic whose marks were dropped may be silent at the next
	 * listing. */
	if (status < 0)
		r->silent_known = false;
	return status;
}

static void drop_all_marks(struct watermark_reader *r)
{
	r->count = 0;
	r->newest_ms = 0;
	r->silent_known = false;
}

static int read_new(struct watermark_reader *r, struct clickhouse *ch,
		    struct error *err)
{
	r->reached_ms = r->ahead_ms = r->server_ms = 0;
	if (r->newest_ms && clock_monotonic_ms() < r->recheck_at)
		return read_rows(r, ch, NULL, r->newest_ms, r->overlap_ms, err);
	if (read_all(r, ch, err) < 0)
		return -1;
	r->recheck_at = clock_monotonic_ms() + r->recheck_ms;
	return 0;
}

/* --- topics -----------------------------------------------------------------
 */

/* Returns how many of the sorted marks belong to the first one's topic. */
static size_t topic_size(const struct partition_mark *marks, size_t count)
{
	size_t n = 1;

	while (n < count && !strcmp(marks[n].topic, marks[0].topic))
		n++;
	return n;
}

static int64_t last_heard(const struct partition_mark *marks, size_t count)
{
	int64_t last = 0;

	for (size_t i = 0; i < count; i++)
		if (marks[i].heard_ms > last)
			last = marks[i].heard_ms;
	return last;
}

static bool is_named(const struct setting_strings *names, const char *topic)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], topic))
			return true;
	return false;
}

/* Reports that lay beyond the server's clock are read again. */
static void drop_unheard(struct watermark_reader *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++)
		if (r->marks[i].heard_ms)
			r->marks[kept++] = r->marks[i];
	r->count = kept;
}

/* Drops partitions that reported long before their topic's newest report, and
 * sets which topics are retired: those that are named, and silent. */
static void judge_topics(struct watermark_reader *r)
{
	int64_t newest = last_heard(r->marks, r->count);
	size_t kept = 0, n;

	for (size_t i = 0; i < r->count; i += n) {
		struct partition_mark *of = &r->marks[i];
		int64_t last;
		bool retired;

		n = topic_size(of, r->count - i);
		last = last_heard(of, n);
		retired = last <= newest - WATERMARK_SILENT_MS &&
			  is_named(r->retired, of->topic);
		for (size_t k = 0; k < n; k++) {
			if (of[k].heard_ms && of[k].heard_ms <= last - READ_MS)
				continue;
			of[k].retired = retired;
			r->marks[kept++] = of[k];
		}
	}
	r->count = kept;
}

int watermark_read(struct watermark_reader *r, struct clickhouse *ch,
		   uint64_t mended, struct watermark *ret, struct error *err)
{
	int status;

	if (mended != r->mended)
		drop_all_marks(r);
	r->mended = mended;
	drop_unheard(r);
	status = read_new(r, ch, err);
	if (status == 0 && r->reached_ms < r->newest_ms) {
		drop_all_marks(r);
		status = read_new(r, ch, err);
	}
	if (status < 0) {
		r->recheck_at = 0;
		return error_wrap(err, "watermark");
	}
	r->newest_ms = r->reached_ms;
	r->silent_known = r->newest_ms > 0;
	*ret = (struct watermark){
		.server_ms = r->server_ms,
		.ahead_ms = r->ahead_ms,
	};
	judge_topics(r);
	watermark_of(r->marks, r->count, ret);
	return 0;
}

/* --- the promise -----------------------------------------------------------
 */

/* Returns the first partition number without a report, in the sorted marks of
 * one topic; UINT64_MAX: there is none. */
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

static bool is_awaited(const struct partition_mark *marks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (marks[i].partitions && !marks[i].retired)
			return true;
	return false;
}

static void wait_for(struct watermark *w, const struct partition_mark *of,
		     uint32_t partition, int64_t until)
{
	snprintf(w->topic, sizeof(w->topic), "%s", of->topic);
	w->partition = partition;
	w->complete_until = until;
}

/* Finds the partition that is furthest behind, among a topic's and *w. */
static void wait_for_least(const struct partition_mark *marks, size_t count,
			   struct watermark *w)
{
	for (size_t i = 0; i < count; i++)
		if (!*w->topic || marks[i].reported_ms < w->complete_until)
			wait_for(w, &marks[i], marks[i].partition,
				 marks[i].reported_ms);
}

static void find_awaited(const struct partition_mark *marks, size_t count,
			 struct watermark *ret)
{
	uint64_t silent;
	size_t n;

	for (size_t i = 0; i < count; i += n) {
		n = topic_size(&marks[i], count - i);
		if (!is_awaited(&marks[i], n))
			continue;
		silent = first_silent(&marks[i], n);
		if (silent != UINT64_MAX) {
			wait_for(ret, &marks[i], (uint32_t)silent, 0);
			return;
		}
		wait_for_least(&marks[i], n, ret);
	}
}

void watermark_of(const struct partition_mark *marks, size_t count,
		  struct watermark *ret)
{
	int64_t newest = last_heard(marks, count), last;
	size_t n;

	find_awaited(marks, count, ret);
	for (size_t i = 0; i < count; i += n) {
		n = topic_size(&marks[i], count - i);
		last = last_heard(&marks[i], n);
		if (!strcmp(marks[i].topic, ret->topic) &&
		    last <= newest - WATERMARK_SILENT_MS)
			ret->silent_since = last;
	}
}
