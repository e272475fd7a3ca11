#include "collector/tools/import/journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rowbinary.h"
#include "common/clickhouse/rows.h"
#include "schemas/ingest_progress.h"

int journal_set_name(struct journal *j, const char *option, const char *name,
		     struct error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._:-";
	size_t len = strlen(name);

	if (!len || len > IMPORT_NAME_MAX || strspn(name, allowed) != len)
		return error_set(
			err, ERROR_USAGE,
			"%s: '%s': expected 1 to %d of letters, digits, '.', "
			"'_', ':' and '-'",
			option, name, IMPORT_NAME_MAX);
	memcpy(j->name, name, len + 1);
	snprintf(j->topic, sizeof(j->topic), PROGRESS_TOPIC_IMPORT "%s", name);
	return 0;
}

/*
 * A row has no token: after a lost answer it is written again without checking
 * whether it is stored.  A row that is stored twice, or late, does no harm:
 * - head: the longest head of a log counts.
 * - run: it belongs to a run that began and did not get on, since the next try
 *   draws another number.  If it appears later, it may stop this import
 *   (journal_announce), and the next one goes on.
 * - batch: of the batches that are not done, all that may have been sent are
 *   the same.  A run announces another batch only when the one before it is
 *   done, and the next run begins with that one.  A batch that was announced
 *   and refused was never sent; announcements of newer runs replace it.
 * - undo, taken, undone: they belong to one epoch, and what they record has
 *   happened, or is about to happen, whenever they are written.
 */
int journal_write(struct journal *j, enum journal_what what,
		  const struct log_head *head, uint64_t first, uint64_t last,
		  const char *file, struct error *err)
{
	static const char sql[] = "INSERT INTO import_journal (identity, what, "
				  "run, number, epoch, head, first, "
				  "last, file) FORMAT RowBinary";
	static const struct clickhouse_param params[] = {{"async_insert", "0"},
							 {NULL, NULL}};
	struct buf row = {0};
	int status;

	rowbinary_string(&row, j->name, strlen(j->name));
	rowbinary_u8(&row, (uint8_t)what);
	rowbinary_u64(&row, j->run);
	rowbinary_u64(&row, j->number);
	rowbinary_u32(&row, j->epoch);
	rowbinary_count(&row, head ? head->count : 0);
	for (size_t i = 0; head && i < head->count; i++)
		rowbinary_u64(&row, head->numbers[i]);
	rowbinary_u64(&row, first);
	rowbinary_u64(&row, last);
	rowbinary_string(&row, file, strlen(file));
	status = row.failed ? error_set_nomem(err)
			    : clickhouse_insert(j->ch, sql, params, row.data,
						row.len, err);
	buf_free(&row);
	return status < 0 ? error_wrap(err, "import_journal") : 0;
}

/* --- identity of a log ---------------------------------------------------- */

/* A log that begins with the same line. */
struct known_log {
	char name[IMPORT_NAME_MAX + 1];
	uint64_t *numbers;
	size_t count;
};

static int read_numbers(const char *text, struct known_log *log,
			struct error *err)
{
	size_t max = 1;

	for (const char *c = text; *c; c++)
		max += *c == ' ';
	log->numbers = calloc(max, sizeof(*log->numbers));
	if (!log->numbers)
		return error_set_nomem(err);
	for (char *end; *text; text = *end ? end + 1 : end)
		log->numbers[log->count++] = strtoull(text, &end, 10);
	return 0;
}

struct log_search {
	const struct log_head *head;
	struct known_log *found;
};

/* Stores the log in *found if it may be the searched one. */
static int take_fitting_log(void *arg, char **fields, struct error *err)
{
	const struct log_search *search = arg;
	const struct log_head *head = search->head;
	struct known_log *found = search->found;
	struct known_log log = {0};
	int status = 0;

	snprintf(log.name, sizeof(log.name), "%s", fields[0]);
	if (read_numbers(fields[1], &log, err) < 0)
		return -1;
	if (!log_head_fits(head, log.numbers, log.count))
		goto out;
	if (!found->numbers) {
		*found = log;
		return 0;
	}
	/* Two logs that fit are one log, registered twice at the same moment;
	 * unless they differ after the end of this one. */
	if (log.count > head->count && found->count > head->count &&
	    log.numbers[head->count] != found->numbers[head->count])
		status = error_set(err, ERROR_INPUT,
				   "it is too short to distinguish several "
				   "logs; name it with --identity");
out:
	free(log.numbers);
	return status;
}

static int find_log(struct journal *j, const struct log_head *head,
		    struct known_log *found, struct error *err)
{
	static const char sql[] =
		"SELECT identity, arrayStringConcat(argMax(head, "
		"length(head)), "
		"' ') FROM import_journal WHERE what = 'head' AND "
		"head[1] = {first:UInt64} GROUP BY identity "
		"ORDER BY min(at), identity FORMAT TabSeparated";
	char first[24];
	const struct clickhouse_param params[] = {{"param_first", first},
						  {NULL, NULL}};
	struct log_search search = {head, found};

	snprintf(first, sizeof(first), "%" PRIu64, head->numbers[0]);
	if (clickhouse_rows(j->ch, sql, params, "ss", take_fitting_log, &search,
			    err) < 0)
		return error_wrap(err, "import_journal");
	return 0;
}

int journal_find_name(struct journal *j, const struct log_head *head,
		      const char *file, struct error *err)
{
	struct known_log known = {0}, again = {0};
	int status = find_log(j, head, &known, err);
	bool fresh = !known.count;

	if (status == 0)
		status = journal_set_name(j, "name",
					  fresh ? head->name : known.name, err);
	if (status == 0 && head->count > known.count)
		status = journal_write(j, JOURNAL_HEAD, head, 0, 0, file, err);
	/* Another run may have registered the log just before, when it was
	 * shorter: the first name counts. */
	if (status == 0 && fresh)
		status = find_log(j, head, &again, err);
	if (status == 0 && again.count)
		status = journal_set_name(j, "name", again.name, err);
	free(known.numbers);
	free(again.numbers);
	return status;
}

/* --- position in the log -------------------------------------------------- */

/* `table` is used in error messages. */
static int query_import_rows(struct journal *j, const char *table,
			     const char *sql, const char *from,
			     const char *columns, clickhouse_row_fn *fn,
			     void *arg, struct error *err)
{
	char epoch[16];
	const struct clickhouse_param params[] = {{"param_name", j->name},
						  {"param_topic", j->topic},
						  {"param_from", from},
						  {"param_epoch", epoch},
						  {NULL, NULL}};

	snprintf(epoch, sizeof(epoch), "%" PRIu32, j->epoch);
	if (clickhouse_rows(j->ch, sql, params, columns, fn, arg, err) < 0)
		return error_wrap(err, "%s", table);
	return 0;
}

static int take_number(void *arg, char **fields, struct error *err)
{
	uint64_t *ret = arg;

	(void)err;
	*ret = tsv_u64(fields[0]);
	return 0;
}

/* Queries a number of import_journal; *ret is unchanged if there is no row. */
static int ask_number(struct journal *j, const char *sql, uint64_t *ret,
		      struct error *err)
{
	return query_import_rows(j, "import_journal", sql, "0", "n",
				 take_number, ret, err);
}

struct place {
	uint64_t rows, highest, epoch;
};

static int take_place(void *arg, char **f, struct error *err)
{
	struct place *place = arg;

	(void)err;
	*place = (struct place){tsv_u64(f[0]), tsv_u64(f[1]), tsv_u64(f[2])};
	return 0;
}

int journal_find_place(struct journal *j, bool *ret, struct error *err)
{
	struct place place = {0};

	if (query_import_rows(
		    j, "import_journal",
		    "SELECT count(), max(number), maxIf(toUInt64(epoch) + 1, "
		    "what = 'undone') FROM import_journal "
		    "WHERE identity = {name:String} FORMAT TabSeparated",
		    "0", "nnn", take_place, &place, err) < 0)
		return -1;
	j->number = place.highest + 1;
	j->epoch = (uint32_t)place.epoch;
	*ret = place.rows > 0;
	return 0;
}

int journal_begin(struct journal *j, const char *file, struct error *err)
{
	uint64_t undo = 0;
	bool known;

	if (journal_find_place(j, &known, err) < 0 ||
	    ask_number(j,
		       "SELECT count() FROM import_journal "
		       "WHERE " JOURNAL_SQL_UNDO " FORMAT TabSeparated",
		       &undo, err) < 0)
		return -1;
	if (undo)
		return error_set(err, ERROR_BUSY,
				 "an import of this log is being taken back, "
				 "or that was begun and did not end: "
				 "import --undo %s",
				 j->name);
	return journal_write(j, JOURNAL_RUN, NULL, 0, 0, file, err);
}

static int take_done(void *arg, char **fields, struct error *err)
{
	struct journal_state *s = arg;

	(void)err;
	s->begun = tsv_u64(fields[0]) > 0;
	s->done = tsv_u64(fields[1]);
	return 0;
}

static int read_done(struct journal *j, struct journal_state *s,
		     struct error *err)
{
	return query_import_rows(
		j, "ingest_progress",
		"SELECT count(), max(last) FROM ingest_progress "
		"WHERE topic = {topic:String} AND epoch = {epoch:UInt32} "
		"FORMAT TabSeparated",
		"0", "nn", take_done, s, err);
}

/* Writes the first line that may not be imported yet. */
static void put_from(const struct journal_state *s, char from[24])
{
	snprintf(from, 24, "%" PRIu64, s->begun ? s->done + 1 : 0);
}

static int take_pending(void *arg, char **fields, struct error *err)
{
	struct journal_state *s = arg;

	(void)err;
	s->pending = true;
	s->first = tsv_u64(fields[0]);
	s->last = tsv_u64(fields[1]);
	return 0;
}

/* Reads the last batch that the newest run recorded. */
static int read_pending(struct journal *j, struct journal_state *s,
			struct error *err)
{
	char from[24];

	put_from(s, from);
	return query_import_rows(
		j, "import_journal",
		"SELECT first, last FROM import_journal WHERE "
		"identity = {name:String} AND what = 'block' AND "
		"epoch = {epoch:UInt32} AND "
		"first >= {from:UInt64} ORDER BY number DESC, "
		"run DESC, first DESC LIMIT 1 FORMAT TabSeparated",
		from, "nn", take_pending, s, err);
}

struct stored_list {
	struct journal_state *state;
	size_t cap;
};

static int take_stored(void *arg, char **fields, struct error *err)
{
	struct stored_list *list = arg;
	struct journal_state *s = list->state;

	if (s->stored_count == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 1024;
		uint64_t *more = realloc(s->stored, cap * sizeof(*more));

		if (!more)
			return error_set_nomem(err);
		s->stored = more;
		list->cap = cap;
	}
	s->stored[s->stored_count++] = tsv_u64(fields[0]);
	return 0;
}

static int read_stored(struct journal *j, struct journal_state *s,
		       struct error *err)
{
	struct stored_list list = {.state = s};
	char from[24];

	put_from(s, from);
	return query_import_rows(
		j, "clicks",
		"SELECT DISTINCT offset FROM clicks WHERE "
		"topic = {topic:String} AND epoch = {epoch:UInt32} AND "
		"offset >= {from:UInt64} "
		"ORDER BY offset FORMAT TabSeparated",
		from, "n", take_stored, &list, err);
}

int journal_read(struct journal *j, struct journal_state *ret_state,
		 struct error *err)
{
	struct journal_state s = {0};

	if (read_done(j, &s, err) < 0 || read_pending(j, &s, err) < 0 ||
	    read_stored(j, &s, err) < 0) {
		journal_state_release(&s);
		return -1;
	}
	*ret_state = s;
	return 0;
}

void journal_state_release(struct journal_state *s)
{
	free(s->stored);
	*s = (struct journal_state){0};
}

static int compare_offsets(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

bool journal_is_stored(const struct journal_state *s, uint64_t offset)
{
	return s->stored_count && bsearch(&offset, s->stored, s->stored_count,
					  sizeof(offset), compare_offsets);
}

int journal_announce(struct journal *j, uint64_t first, uint64_t last,
		     const char *file, struct error *err)
{
	uint64_t newest = 0;

	if (journal_write(j, JOURNAL_BATCH, NULL, first, last, file, err) < 0 ||
	    ask_number(j,
		       "SELECT if(countIf(" JOURNAL_SQL_UNDO ") > 0, 0, "
		       "argMaxIf(run, (number, run), what = 'run')) "
		       "FROM import_journal WHERE identity = {name:String} "
		       "FORMAT TabSeparated",
		       &newest, err) < 0)
		return -1;
	if (newest != j->run)
		return error_set(err, ERROR_BUSY,
				 "another import of this log has begun, or it "
				 "is being taken back");
	return 0;
}

struct late {
	uint64_t first, last, age_ms;
	bool any;
};

static int take_late(void *arg, char **f, struct error *err)
{
	struct late *late = arg;

	(void)err;
	*late = (struct late){tsv_u64(f[0]), tsv_u64(f[1]), tsv_u64(f[2]),
			      true};
	return 0;
}

int journal_read_late(struct journal *j, uint64_t *ret_first,
		      uint64_t *ret_last, int64_t *ret_age_ms,
		      struct error *err)
{
	struct journal_state s = {0};
	struct late late = {0};
	char from[24];

	if (read_done(j, &s, err) < 0)
		return -1;
	put_from(&s, from);
	if (query_import_rows(
		    j, "import_journal",
		    "SELECT first, last, greatest(0, "
		    "toUnixTimestamp64Milli(now64(3, 'UTC')) - "
		    "toUnixTimestamp64Milli(toDateTime64(at, 3, 'UTC'))) "
		    "FROM import_journal WHERE identity = {name:String} AND "
		    "what = 'block' AND epoch = {epoch:UInt32} AND "
		    "first >= {from:UInt64} ORDER BY at DESC LIMIT 1 "
		    "FORMAT TabSeparated",
		    from, "nnn", take_late, &late, err) < 0)
		return -1;
	*ret_first = late.first;
	*ret_last = late.last;
	*ret_age_ms = late.any ? (int64_t)late.age_ms : -1;
	return 0;
}
