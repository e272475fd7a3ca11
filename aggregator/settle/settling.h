/*
 * settling.h - what the settling of hours and of days share: where, on whose
 * behalf and by which rule.
 *
 * Rows of `clicks` never go but by hand, so an hour or day is never settled
 * from fewer rows than it was before, nor while rows that collectors reported
 * have gone since: it is held back, and what was published before stays.
 *
 * What is published was counted: the statement that inserts into `settled` does
 * so only for those hours and days of which the server finds as many events
 * under the attempt as were found there when they were compared with `clicks`.
 * No request that is late, or was carried out twice, publishes anything else.
 */
#ifndef AGGREGATOR_SETTLE_SETTLING_H
#define AGGREGATOR_SETTLE_SETTLING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/settle/progress.h"
#include "common/app/app.h"
#include "common/clickhouse/clickhouse.h"
#include "common/clickhouse/rows.h"
#include "common/error.h"

/* An hour or day of which rows are gone. */
struct shortage {
	bool day;
	bool held;     /* not published; false: published, and reported once */
	int64_t start; /* seconds since 1970 */
	uint64_t before;   /* events published before */
	uint64_t reported; /* rows that collectors reported */
	uint64_t rows;	   /* there are */
};

/* ClickHouse's clock (ms since 1970) and ours that only counts on (ms), when
 * the server was last asked. */
struct server_clock {
	int64_t server_ms, monotonic_ms;
};
int settling_read_clock(struct clickhouse *ch, struct server_clock *ret,
			struct error *err);

struct repeats_removed;

struct settling {
	struct clickhouse *ch;
	const struct aggregator_settings *settings;
	const char *settler; /* names this process, for `settled` */
	bool allow_fewer;    /* hold nothing back */
	struct server_clock clock;
	/* Asked between statements: true ends it with ERROR_STOPPED. */
	bool (*is_stopping)(void *arg);
	/* See settling_take_turn.  NULL: nothing else of this process settles.
	 */
	pthread_mutex_t *turn;
	/* Asked right before anything is published; -1 ends it. */
	int (*check_lease)(void *arg, struct error *err);
	void (*on_shortage)(void *arg, const struct shortage *s);
	/* Rows are clicks no more (repeats.h).  NULL: nobody counts them. */
	void (*on_repeats)(void *arg, const struct repeats_removed *removed);
	void *arg;
};

/* What a command that settles needs to live as long as its `struct settling`.
 */
struct settling_session {
	char name[96];
	struct clickhouse_config patient;
};

/*
 * Fills in all but settings, allow_fewer and on_shortage: connects, patient for
 * settle_timeout, and checks that the tables are there.  It stops when `app` is
 * told to, and needs no lease: attempts are its own, and an aggregator that
 * settles the same meanwhile counts the same rows.  `what` names the command.
 * Close also after a failure.
 */
int settling_open(struct settling *s, struct settling_session *session,
		  struct app *app, const struct clickhouse_config *config,
		  const char *what, struct error *err);
void settling_close(struct settling *s);

struct settle_count {
	size_t done; /* of those asked for, from the first on; or tried */
	size_t published;
	size_t added; /* of the published: an attempt and what arrived since */
};

/* ms since 1970 by ClickHouse's clock, and never by this host's: what is old is
 * deleted by any aggregator there is. */
int64_t settling_now(const struct settling *s);

/*
 * By when days and months are judged old (ms since 1970): ClickHouse's clock,
 * but never later than counts are complete.  What is dropped is gone, and a
 * clock that is a year ahead for a minute must not take a year with it: the
 * watermark moves by what partitions of Kafka tell.  0: it is not known.
 */
int64_t settling_old_by(const struct settling *s, const struct progress *last);

/* A number greater than `after`, that no other settler picks: the time (ms
 * since 1970, ClickHouse's) in its upper bits, chance in its lower ones. */
uint64_t settling_attempt_next(int64_t now_ms, uint64_t after);

/* The least number picked at that time or later. */
uint64_t settling_attempt_at(int64_t now_ms);

/* The time (ms since 1970) in a number. */
int64_t settling_ms_of(uint64_t attempt);

/*
 * Was what has that number published longer than keep_superseded ago?  The
 * number tells, unless all are ahead of time since ClickHouse's clock once was:
 * then the time of the publication does.  With settling_set_old's parameters.
 */
#define SQL_LONG_AGO(attempt, settled_at)                                      \
	"(" attempt " < {before:UInt64} OR " settled_at " <= "                 \
	"fromUnixTimestamp64Milli({kept:Int64}, 'UTC'))"

struct settling_old {
	char before[24], kept[24];
};

void settling_set_old(const struct settling *s, struct settling_old *ret);

/* The number's time (ms since 1970) and keep_superseded. */
int64_t settling_attempt_until(const struct settling *s, uint64_t attempt);

/*
 * A number that was picked.  Its rows may be deleted, unless it is published,
 * once its time is long ago; or, as that may be ahead, once a greater one than
 * it is long in use (superseded.h).  It is greater than all that were in use at
 * `since`, so that can be told by a clock that only counts on.
 */
struct picked {
	uint64_t attempt;
	int64_t since; /* our monotonic ms */
};

/* In turn.  What `last` says is asked for anew if it was read long ago. */
int settling_pick(const struct settling *s, const struct progress *last,
		  struct picked *ret, struct error *err);

/* The same, taking the turn for it. */
int settling_pick_day(const struct settling *s, const struct progress *last,
		      struct picked *ret, struct error *err);

/* Nothing is published longer (ms) after its `since`. */
int64_t settling_longest(const struct settling *s);

/* When it must be published (ms since 1970, ClickHouse's). */
int64_t settling_picked_until(const struct settling *s,
			      const struct picked *picked);

/* ERROR_LATE when that has come, or so much time has passed. */
int settling_check_age(const struct settling *s, const struct picked *picked,
		       struct error *err);

/* ERROR_CONFLICT, retriable: the day was dropped after it was listed as to be
 * settled.  Nothing of it was published; list it again.  Returns -1. */
int settling_set_dropped(struct error *err);

/*
 * Hours and days are settled by two threads of a process, which take turns in
 * this: hours from when an attempt is picked until it is published, days when
 * an attempt is picked, and when it is published.  So no hour is published
 * beside the drop of its day, and what is published of an hour after its day
 * was copied has the greater attempt.  Days are computed out of turn: it takes
 * long.
 */
void settling_take_turn(const struct settling *s);
void settling_end_turn(const struct settling *s);

/* --- `settled` -------------------------------------------------------------
 */

/* The numbers are those of schemas/clickhouse/settled.sql. */
enum settled_kind {
	SETTLED_PASS = 2,
	SETTLED_HELD_HOUR = 4,
	SETTLED_HELD_DAY = 5,
	SETTLED_SEALING = 7,   /* rows of sealed_slots may be there */
	SETTLED_COPYING = 14,  /* rows of owners' tables may be there */
	SETTLED_VALUING = 16,  /* rows of day_values may be there */
	SETTLED_SPANNING = 19, /* rows of stats_spans may be there */
};

/* One row of `settled` that publishes no counts, to be inserted with others. */
struct settled_row {
	enum settled_kind kind;
	struct stale what;
	uint64_t attempt;
};

int settling_insert(const struct settling *s, const struct settled_row *rows,
		    size_t count, const struct progress *pass,
		    struct error *err);

/* --- counts of rows by hour or day -----------------------------------------
 */

/* Runs a query that answers with `count` numbers a row and gives each row to
 * `take`. */
int settling_query(struct clickhouse *ch, const char *sql,
		   const struct clickhouse_param *params, size_t count,
		   void (*take)(void *arg, const uint64_t *numbers), void *arg,
		   struct error *err);

/* Bytes of a block, which becomes a part. */
#define SETTLING_BLOCK_BYTES "400000000"

/* How ClickHouse is to compute what is inserted. */
#define SETTLING_HOW_COUNT 5
extern const struct clickhouse_param settling_how[SETTLING_HOW_COUNT];

/* What the statements about a day may name: numbers, and `settler`. */
struct settling_params {
	struct buf settler;
	char numbers[12][24];
	struct clickhouse_param items[21];
};

/* Fills in `count` numbers, twelve at most, by their names, and what every
 * insert is sent with. */
int settling_params_fill(struct settling_params *p, const struct settling *s,
			 const char *const *names, const uint64_t *numbers,
			 size_t count, struct error *err);
void settling_params_release(struct settling_params *p);

/* Runs a statement that changes something; clears the buffer. */
int settling_run(struct clickhouse *ch, struct buf *sql,
		 const struct clickhouse_param *params, struct error *err);

/*
 * For things that do not need each other, so that one which fails always does
 * not keep the others from being done for ever.  Say of each how it went: its
 * error goes to *first, unless there is one.  Returns -1, with `err` as it is,
 * when the others should be left, as the server did not answer at all.
 */
int settling_note(const struct clickhouse *ch, int status, struct error *first,
		  struct error *err);

/* When all are done: -1 with the first error, if there was one. */
int settling_noted(const struct error *first, struct error *err);

/* clickhouse_rows, where `fn` does such a thing for each row. */
int settling_for_each(struct clickhouse *ch, const char *sql,
		      const struct clickhouse_param *params,
		      const char *columns, clickhouse_row_fn *fn, void *arg,
		      struct error *err);

/* Deletes the rows of a table that meet a condition, if there are some, and
 * waits until they are gone.  Sub-queries may be in it. */
int settling_delete(struct clickhouse *ch, const char *table,
		    const char *condition, struct error *err);

#endif
