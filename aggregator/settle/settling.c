#include "aggregator/settle/settling.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "aggregator/migrate/migrate.h"
#include "common/clickhouse/rowbinary.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "common/host_name.h"

#define CHANCE_BITS 20
#define NUMBERS_MAX 12

uint64_t settling_attempt_at(int64_t now_ms)
{
	return now_ms < 0 ? 0 : (uint64_t)now_ms << CHANCE_BITS;
}

int64_t settling_ms_of(uint64_t attempt)
{
	return (int64_t)(attempt >> CHANCE_BITS);
}

uint64_t settling_attempt_next(int64_t now_ms, uint64_t after)
{
	uint32_t chance = 0;
	uint64_t next;

	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		chance = (uint32_t)clock_monotonic_ns();
	next = settling_attempt_at(now_ms) |
	       (chance & ((UINT32_C(1) << CHANCE_BITS) - 1));
	/* Attempts stay ascending when the clock is set back, so that new ones
	 * are read. */
	return next > after ? next : after + 1 + (chance & 0xffff);
}

void settling_take_turn(const struct settling *s)
{
	if (s->turn)
		pthread_mutex_lock(s->turn);
}

void settling_end_turn(const struct settling *s)
{
	if (s->turn)
		pthread_mutex_unlock(s->turn);
}

/* A pass may have read `last` before a statement that took long. */
static int64_t fresh_ms(const struct settling *s)
{
	return s->settings->keep_superseded / 4;
}

int settling_pick(const struct settling *s, const struct progress *last,
		  struct picked *ret, struct error *err)
{
	struct progress now = *last;

	if (clock_monotonic_ms() - last->asked_at >= fresh_ms(s) &&
	    progress_read_last(s->ch, &now, err) < 0)
		return -1;
	*ret = (struct picked){
		settling_attempt_next(settling_now(s), now.attempt),
		now.asked_at};
	return 0;
}

int settling_pick_day(const struct settling *s, const struct progress *last,
		      struct picked *ret, struct error *err)
{
	int status;

	settling_take_turn(s);
	status = settling_pick(s, last, ret, err);
	settling_end_turn(s);
	return status;
}

void settling_set_old(const struct settling *s, struct settling_old *ret)
{
	int64_t kept = settling_now(s) - s->settings->keep_superseded;

	snprintf(ret->before, sizeof(ret->before), "%" PRIu64,
		 settling_attempt_at(kept));
	snprintf(ret->kept, sizeof(ret->kept), "%" PRId64, kept);
}

int64_t settling_attempt_until(const struct settling *s, uint64_t attempt)
{
	return settling_ms_of(attempt) + s->settings->keep_superseded;
}

/* For a number that is not ahead, its own time is the shorter limit. */
int64_t settling_longest(const struct settling *s)
{
	return s->settings->keep_superseded + fresh_ms(s);
}

int64_t settling_picked_until(const struct settling *s,
			      const struct picked *picked)
{
	int64_t of_number = settling_attempt_until(s, picked->attempt);
	int64_t of_time = s->clock.server_ms + picked->since -
			  s->clock.monotonic_ms + settling_longest(s);

	return of_number < of_time ? of_number : of_time;
}

int settling_check_age(const struct settling *s, const struct picked *picked,
		       struct error *err)
{
	if (settling_now(s) < settling_picked_until(s, picked))
		return 0;
	return error_set_retriable(err, ERROR_LATE,
				   "it took longer than aggregator."
				   "keep_superseded: its rows may be deleted");
}

int settling_set_dropped(struct error *err)
{
	return error_set_retriable(err, ERROR_CONFLICT,
				   "the day was dropped meanwhile; computing "
				   "it again");
}

int settling_insert(const struct settling *s, const struct settled_row *rows,
		    size_t count, const struct progress *pass,
		    struct error *err)
{
	static const struct clickhouse_param params[] = {{"async_insert", "0"},
							 {NULL, NULL}};
	int64_t now = settling_now(s);
	struct buf data = {0};
	int status;

	for (size_t i = 0; i < count; i++) {
		rowbinary_u8(&data, rows[i].kind);
		rowbinary_u32(&data, (uint32_t)rows[i].what.start);
		rowbinary_u64(&data, rows[i].attempt);
		rowbinary_u64(&data, rows[i].what.blocks);
		rowbinary_u64(&data, rows[i].what.rows);
		rowbinary_i64(&data, pass->read_until);
		rowbinary_i64(&data, pass->complete_until);
		rowbinary_u64(&data, pass->mended);
		rowbinary_i64(&data, now);
		rowbinary_string(&data, s->settler, strlen(s->settler));
	}
	if (data.failed) {
		buf_free(&data);
		return error_set_nomem(err);
	}
	status = clickhouse_insert(
		s->ch,
		"INSERT INTO settled (kind, unit, attempt, blocks, rows, "
		"read_until, complete_until, mended, settled_at, settler) "
		"FORMAT RowBinary",
		params, data.data, data.len, err);
	buf_free(&data);
	return status < 0 ? error_wrap(err, "settled") : 0;
}

struct number_reader {
	size_t count;
	void (*take)(void *arg, const uint64_t *numbers);
	void *arg;
};

static int read_numbers(void *arg, char **fields, struct error *err)
{
	const struct number_reader *r = arg;
	uint64_t numbers[NUMBERS_MAX];

	(void)err;
	for (size_t i = 0; i < r->count; i++)
		numbers[i] = tsv_u64(fields[i]);
	r->take(r->arg, numbers);
	return 0;
}

int settling_query(struct clickhouse *ch, const char *sql,
		   const struct clickhouse_param *params, size_t count,
		   void (*take)(void *arg, const uint64_t *numbers), void *arg,
		   struct error *err)
{
	struct number_reader reader = {count, take, arg};

	return clickhouse_rows(ch, sql, params,
			       clickhouse_number_columns(count), read_numbers,
			       &reader, err);
}

int settling_read_clock(struct clickhouse *ch, struct server_clock *ret,
			struct error *err)
{
	if (clickhouse_now(ch, &ret->server_ms, err) < 0)
		return -1;
	ret->monotonic_ms = clock_monotonic_ms();
	return 0;
}

int64_t settling_now(const struct settling *s)
{
	return s->clock.server_ms + clock_monotonic_ms() -
	       s->clock.monotonic_ms;
}

int64_t settling_old_by(const struct settling *s, const struct progress *last)
{
	int64_t now = settling_now(s);

	return now < last->complete_until ? now : last->complete_until;
}

static bool app_is_stopping(void *arg)
{
	return app_should_stop(arg, 0);
}

static int needs_no_lease(void *arg, struct error *err)
{
	(void)arg;
	(void)err;
	return 0;
}

int settling_open(struct settling *s, struct settling_session *session,
		  struct app *app, const struct clickhouse_config *config,
		  const char *what, struct error *err)
{
	char host[64];

	host_name(host, sizeof(host), "");
	snprintf(session->name, sizeof(session->name), "%s:%d:%s", host,
		 (int)getpid(), what);
	session->patient = *config;
	session->patient.query_timeout = s->settings->settle_timeout;
	s->settler = session->name;
	s->is_stopping = app_is_stopping;
	s->check_lease = needs_no_lease;
	s->arg = app;
	s->ch = clickhouse_new(&session->patient, err);
	if (!s->ch || migrate_check(s->ch, err) < 0)
		return -1;
	return settling_read_clock(s->ch, &s->clock, err);
}

void settling_close(struct settling *s)
{
	clickhouse_free(s->ch);
	s->ch = NULL;
}

/*
 * Memory limits and priority:
 * - bytes beyond which a GROUP BY or a sort continues on disk: an hour has as
 *   many groups as visitors make up referrers, a day as many as owners have
 *   values
 * - bytes of groups that a GROUP BY in the table's order, which never spills,
 *   passes on at a time: their states are a dozen times as large, so that
 *   ClickHouse's default of 50 MB takes a gigabyte
 * - nice value of the threads: queries of users go first, if the server may set
 *   it (CAP_SYS_NICE); at least a tenth of a processor is left for settling
 */
const struct clickhouse_param settling_how[SETTLING_HOW_COUNT] = {
	{"max_insert_threads", "1"},
	{"max_bytes_before_external_group_by", "400000000"},
	{"max_bytes_before_external_sort", "400000000"},
	{"aggregation_in_order_max_block_bytes", "2000000"},
	{"os_thread_priority", "10"},
};

int settling_params_fill(struct settling_params *p, const struct settling *s,
			 const char *const *names, const uint64_t *numbers,
			 size_t count, struct error *err)
{
	size_t n = 0;

	for (; n < count; n++) {
		snprintf(p->numbers[n], sizeof(p->numbers[n]), "%" PRIu64,
			 numbers[n]);
		p->items[n] =
			(struct clickhouse_param){names[n], p->numbers[n]};
	}
	buf_reset(&p->settler);
	clickhouse_escape(&p->settler, s->settler, strlen(s->settler));
	if (!buf_cstr(&p->settler))
		return error_set_nomem(err);
	p->items[n++] =
		(struct clickhouse_param){"param_settler", p->settler.data};
	for (size_t i = 0; i < SETTLING_HOW_COUNT; i++)
		p->items[n++] = settling_how[i];
	/* A profile in which joins return NULL would hide rows. */
	p->items[n++] = (struct clickhouse_param){"join_use_nulls", "0"};
	p->items[n] = (struct clickhouse_param){NULL, NULL};
	return 0;
}

void settling_params_release(struct settling_params *p)
{
	buf_free(&p->settler);
}

int settling_note(const struct clickhouse *ch, int status, struct error *first,
		  struct error *err)
{
	if (status == 0)
		return 0;
	if (!clickhouse_last_code(ch))
		return -1;
	if (!first->code)
		*first = *err;
	return 0;
}

int settling_noted(const struct error *first, struct error *err)
{
	if (!first->code)
		return 0;
	*err = *first;
	return -1;
}

struct each {
	struct clickhouse *ch;
	clickhouse_row_fn *fn;
	void *arg;
	struct error first;
};

static int do_one(void *arg, char **fields, struct error *err)
{
	struct each *each = arg;

	return settling_note(each->ch, each->fn(each->arg, fields, err),
			     &each->first, err);
}

int settling_for_each(struct clickhouse *ch, const char *sql,
		      const struct clickhouse_param *params,
		      const char *columns, clickhouse_row_fn *fn, void *arg,
		      struct error *err)
{
	struct each each = {.ch = ch, .fn = fn, .arg = arg};

	if (clickhouse_rows(ch, sql, params, columns, do_one, &each, err) < 0)
		return -1;
	return settling_noted(&each.first, err);
}

int settling_delete(struct clickhouse *ch, const char *table,
		    const char *condition, struct error *err)
{
	static const struct clickhouse_param params[] = {
		{"mutations_sync", "1"},
		{"allow_nondeterministic_mutations", "1"},
		{NULL, NULL}};
	struct buf sql = {0};
	uint64_t count = 0;
	int status;

	buf_printf(&sql, "SELECT count() FROM %s WHERE %s", table, condition);
	status = buf_cstr(&sql) ? clickhouse_numbers(ch, sql.data, NULL, &count,
						     1, err)
				: error_set_nomem(err);
	buf_reset(&sql);
	if (status == 0 && count) {
		buf_printf(&sql, "ALTER TABLE %s DELETE WHERE %s", table,
			   condition);
		status = settling_run(ch, &sql, params, err);
	}
	buf_free(&sql);
	return status;
}

int settling_run(struct clickhouse *ch, struct buf *sql,
		 const struct clickhouse_param *params, struct error *err)
{
	const char *text = buf_cstr(sql);
	int status = text ? clickhouse_query(ch, text, params, NULL, err)
			  : error_set_nomem(err);

	buf_reset(sql);
	return status;
}
