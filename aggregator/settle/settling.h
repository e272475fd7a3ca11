/*
 * settling.h - the parts that the settling of hours and of days share:
 * connection, lease, attempts and rules.
 *
 * Rows of `clicks` are deleted only by hand, so an hour or day is never settled
 * from fewer rows than before, nor while rows that collectors reported have
 * gone since: it is held back, and the counts published before stay.
 *
 * Only counted rows are published: the statement that inserts into `settled`
 * does so only for hours and days for which the server finds as many events
 * under the attempt as when they were compared with `clicks`.  So a request
 * that is late, or is carried out twice, publishes nothing else.
 */
#ifndef AGGREGATOR_SETTLE_SETTLING_H
#define AGGREGATOR_SETTLE_SETTLING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/progress.h"
#include "common/app/app.h"
#include "common/clickhouse/clickhouse.h"
#include "common/clickhouse/rows.h"
#include "common/error.h"

/* An hour or day some of whose rows are gone. */
struct shortage {
	bool day;
	bool held;     /* not published; false: published, and reported once */
	int64_t start; /* seconds since 1970 */
	uint64_t before;   /* events that were published before */
	uint64_t reported; /* rows that collectors reported */
	uint64_t rows;	   /* rows that exist */
};

/* ClickHouse's clock (ms since 1970) and our monotonic clock (ms), at the last
 * query of the server's clock. */
struct server_clock {
	int64_t server_ms, monotonic_ms;
};
int settling_read_clock(struct clickhouse *ch, struct server_clock *ret,
			struct error *err);

struct repeats_removed;

struct settling {
	struct clickhouse *ch;
	const struct aggregator_settings *settings;
	const char *settler; /* name of this process, for `settled` */
	bool allow_fewer;    /* publish even from fewer rows */
	struct server_clock clock;
	/* Called between statements; true ends settling with ERROR_STOPPED. */
	bool (*is_stopping)(void *arg);
	/* See settling_take_turn.  NULL: no other thread of this process
	 * settles. */
	pthread_mutex_t *turn;
	/* Called right before anything is published; -1 ends settling. */
	int (*check_lease)(void *arg, struct error *err);
	void (*on_shortage)(void *arg, const struct shortage *s);
	/* Rows are no longer clicks (repeats.h).  NULL: they are not
	 * reported. */
	void (*on_repeats)(void *arg, const struct repeats_removed *removed);
	void *arg;
};

/* Data of a command that settles; it must outlive the `struct settling`. */
struct settling_session {
	char name[96];
	struct clickhouse_config patient;
};

/*
 * Sets all members but settings, allow_fewer and on_shortage: connects, with
 * settle_timeout, and checks that the tables exist.  Settling stops when `app`
 * is stopped.  It needs no lease: it has attempts of its own, and an aggregator
 * that settles the same hours at the same time counts the same rows.  `what` is
 * the name of the command.  The caller calls settling_close also after a
 * failure.
 */
int settling_open(struct settling *s, struct settling_session *session,
		  struct app *app, const struct clickhouse_config *config,
		  const char *what, struct error *err);
void settling_close(struct settling *s);

struct settle_count {
	/* number of hours tried, from the first one on */
	size_t done;
	size_t published;
	size_t added; /* hours published by adding to an earlier attempt */
};

/* Returns ms since 1970 by ClickHouse's clock, never by this host's clock,
 * because old attempts are deleted by any aggregator. */
int64_t settling_now(const struct settling *s);

/*
 * Returns the time by which days and months are old (ms since 1970):
 * ClickHouse's clock, but never later than counts are complete.  What is
 * dropped is lost, and a clock that is a year ahead for a minute must not drop
 * a year: the watermark moves by reports about partitions of Kafka.  0: not
 * known.
 */
int64_t settling_old_by(const struct settling *s, const struct progress *last);

/*
 * Returns an attempt number that is greater than `after` and that no other
 * settler picks: the time (ms since 1970, ClickHouse's) is in its upper bits, a
 * random number in its lower bits.
 */
uint64_t settling_attempt_next(int64_t now_ms, uint64_t after);

/* Returns the least number that is picked at that time or later. */
uint64_t settling_attempt_at(int64_t now_ms);

/* Returns the time (ms since 1970) in a number. */
int64_t settling_ms_of(uint64_t attempt);

/*
 * Parameters `before` and `kept`: an attempt was published longer than
 * keep_superseded ago if its number is less than `before`; or, should all
 * numbers be ahead of time because ClickHouse's clock once was, if the time of
 * the publication is not after `kept`.
 */
struct settling_old {
	char before[24], kept[24];
};

void settling_set_old(const struct settling *s, struct settling_old *ret);

/* Returns the number's time (ms since 1970) plus keep_superseded. */
int64_t settling_attempt_until(const struct settling *s, uint64_t attempt);

/*
 * A number that was picked.  Unless it is published, its rows may be deleted
 * once its time is long ago; or, because its time may be ahead, once a greater
 * number has long been in use (superseded.h).  It is greater than all numbers
 * that were in use at `since`, so a monotonic clock can measure that.
 */
struct picked {
	uint64_t attempt;
	int64_t since; /* our monotonic ms */
};

/* Called in turn (settling_take_turn).  Reads `last` again if it was read long
 * ago. */
int settling_pick(const struct settling *s, const struct progress *last,
		  struct picked *ret, struct error *err);

/* The same; takes the turn itself. */
int settling_pick_day(const struct settling *s, const struct progress *last,
		      struct picked *ret, struct error *err);

/* Nothing is published later than this (ms) after its `since`. */
int64_t settling_longest(const struct settling *s);

/* Returns the deadline for publishing it (ms since 1970, ClickHouse's). */
int64_t settling_picked_until(const struct settling *s,
			      const struct picked *picked);

/* ERROR_LATE after that deadline, or after the same time by our clock. */
int settling_check_age(const struct settling *s, const struct picked *picked,
		       struct error *err);

/*
 * Sets ERROR_CONFLICT, retriable: the day was dropped after it was listed as
 * stale.  Nothing of it was published; the caller lists it again.  Returns -1.
 */
int settling_set_dropped(struct error *err);

/*
 * Two threads of a process settle hours and days, and take turns with this.
 * Hours keep the turn from picking an attempt until it is published; days take
 * it when an attempt is picked, and again when it is published.  So no hour is
 * published at the same time as the drop of its day, and an hour that is
 * published after its day was copied has the greater attempt.  Days are
 * computed without the turn, because that takes long.
 */
void settling_take_turn(const struct settling *s);
void settling_end_turn(const struct settling *s);

/* --- `settled` -------------------------------------------------------------
 */

/* The numbers are those of schemas/clickhouse/settled.sql; derived_tables.h has
 * those of copies. */
enum settled_kind {
	SETTLED_PASS = 2,
	SETTLED_HELD_HOUR = 4,
	SETTLED_HELD_DAY = 5,
};

/* A row of `settled` that publishes no counts, to be inserted with others. */
struct settled_row {
	uint8_t kind; /* enum settled_kind, or a marker's number */
	struct stale what;
	uint64_t attempt;
};

int settling_insert(const struct settling *s, const struct settled_row *rows,
		    size_t count, const struct progress *pass,
		    struct error *err);

/* --- counts of rows by hour or day -----------------------------------------
 */

/* Runs a query that returns `count` numbers in each row, and passes each row to
 * `take`. */
int settling_query(struct clickhouse *ch, const char *sql,
		   const struct clickhouse_param *params, size_t count,
		   void (*take)(void *arg, const uint64_t *numbers), void *arg,
		   struct error *err);

/* Most bytes of a block, which becomes a part. */
#define SETTLING_BLOCK_BYTES "400000000"

/* Settings of ClickHouse for statements that insert. */
#define SETTLING_HOW_COUNT 5
extern const struct clickhouse_param settling_how[SETTLING_HOW_COUNT];

/* Parameters of the statements about a day: numbers, and `settler`. */
struct settling_params {
	struct buf settler;
	char numbers[16][24];
	struct clickhouse_param items[25];
};

/* Sets `count` numbers, at most sixteen, by their names, and the settings that
 * are sent with every insert. */
int settling_params_fill(struct settling_params *p, const struct settling *s,
			 const char *const *names, const uint64_t *numbers,
			 size_t count, struct error *err);
void settling_params_release(struct settling_params *p);

/* Runs a statement that changes data; clears the buffer. */
int settling_run(struct clickhouse *ch, struct buf *sql,
		 const struct clickhouse_param *params, struct error *err);

/*
 * Collects the errors of independent tasks, so that one that always fails does
 * not stop the others.  The caller passes the status of each: its error goes to
 * *first, unless that has one.  Returns -1, with `err` unchanged, if the other
 * tasks should be skipped because the server did not answer at all.
 */
int settling_note(const struct clickhouse *ch, int status, struct error *first,
		  struct error *err);

/* Call it after all tasks: returns -1 with the first error, if there was
 * one. */
int settling_noted(const struct error *first, struct error *err);

/* clickhouse_rows for an `fn` that runs such a task for each row. */
int settling_for_each(struct clickhouse *ch, const char *sql,
		      const struct clickhouse_param *params,
		      const char *columns, clickhouse_row_fn *fn, void *arg,
		      struct error *err);

/* Deletes the rows of a table that meet a condition, if there are some, and
 * waits until they are gone.  The condition may have sub-queries. */
int settling_delete(struct clickhouse *ch, const char *table,
		    const char *condition, struct error *err);

#endif
