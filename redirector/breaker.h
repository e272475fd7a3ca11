/*
 * breaker.h - a circuit breaker for look-ups: may a server be asked now, and by
 * how many at once?  (M. Nygard, "Release It!", 2007.)
 *
 *	closed     `failures` look-ups in a row failed     --> open
 *	           `share` per cent of a window failed     --> open (flapping)
 *	open       a wait is over, or a new connection     --> half-open
 *	half-open  a look-up fails                         --> open, twice as
 *	                                                       long
 *	any        a look-up succeeds, unless it is open
 *	           since the server was flapping           --> closed
 *
 * Open, nobody asks; half-open, one at a time.  When it has closed, or a
 * connection is new, `first` may be under way at once; when as many have
 * succeeded the number doubles, BREAKER_STEP_MS apart at least, until it is
 * without a bound beyond BREAKER_LIMIT_MAX.  So what gathered while a server
 * was away does not come upon it all at once (slow start: V. Jacobson,
 * "Congestion Avoidance and Control", 1988).
 *
 * A server that fails now and then, and never often in a row, is told by the
 * last BREAKER_WINDOW_MS while it was closed: of BREAKER_LEAST look-ups or more
 * within BREAKER_JUDGE_MS or longer.  It answers many of them, so it is not
 * left alone for longer than it was asked before: at least half of the time it
 * goes on answering.  Successes of look-ups that were under way when it opened
 * say nothing new.
 *
 * Nothing but a state: it belongs to one thread, and is told the time, in
 * monotonic ms.  A clock that goes back makes waits longer by at most one wait.
 */
#ifndef REDIRECTOR_BREAKER_H
#define REDIRECTOR_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#define BREAKER_STEP_MS	  20
#define BREAKER_LIMIT_MAX 1024
#define BREAKER_WAIT_MIN  100 /* ms: the first wait; less up to half of it */
#define BREAKER_WINDOW_MS 10000
#define BREAKER_JUDGE_MS  1000
#define BREAKER_LEAST	  100

enum {
	BREAKER_PARTS = 10, /* of the window, which slides by one at a time */
};

enum breaker_state {
	BREAKER_CLOSED,
	BREAKER_OPEN,
	BREAKER_HALF_OPEN,
	BREAKER_STATES,
};

struct breaker_rules {
	unsigned failures; /* in a row */
	int64_t wait_max;  /* ms */
	unsigned first;	   /* look-ups under way after a return */
	unsigned share;	   /* per cent; 0: only failures in a row count */
};

struct breaker_part {
	unsigned ended, failed;
};

struct breaker_window {
	struct breaker_part parts[BREAKER_PARTS];
	struct breaker_part all;
	unsigned current;
	int64_t begun; /* the current part */
};

struct breaker {
	struct breaker_rules rules;
	enum breaker_state state;
	unsigned failures;	      /* in a row */
	unsigned trips;		      /* since it was closed */
	int64_t since;		      /* it is as it is; also of a closed one */
	int64_t wait;		      /* open, or the last time that it was */
	bool flapping;		      /* open for a share of failures */
	unsigned flaps;		      /* with less than a window in between */
	bool trying;		      /* half-open: one is under way */
	struct breaker_window window; /* while it is closed */
	unsigned under_way;
	unsigned limit;	    /* of these; 0: none */
	unsigned succeeded; /* since the limit was raised */
	int64_t raised;
};

/* Closed, as after a return. */
void breaker_init(struct breaker *b, const struct breaker_rules *rules,
		  int64_t now);

enum breaker_word {
	BREAKER_ASK,
	BREAKER_WAIT,	/* until another has ended */
	BREAKER_REFUSE, /* nobody is to wait for this server */
};

/* Whoever is told to ask says so by breaker_begin. */
enum breaker_word breaker_may_ask(struct breaker *b, int64_t now);
void breaker_begin(struct breaker *b);
/* One that had begun is no longer under way. */
void breaker_end(struct breaker *b);

/* What became of it; before its end, when it takes too long.  Once for each
 * that has begun.  `random`: 32 random bits. */
void breaker_succeeded(struct breaker *b, int64_t now);
void breaker_failed(struct breaker *b, int64_t now, uint32_t random);

/* A connection to the server is new: it has answered what it was greeted with.
 */
void breaker_connected(struct breaker *b, int64_t now);

/* ms until an open one is half-open; 0 when the wait is over. */
int64_t breaker_wait_left(struct breaker *b, int64_t now);

const char *breaker_state_name(enum breaker_state state);

#endif
