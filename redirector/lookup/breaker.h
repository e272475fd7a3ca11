/*
 * breaker.h - a circuit breaker for look-ups: decides whether a server may be
 * queried now, and by how many look-ups at once.  (M. Nygard, "Release It!",
 * 2007.)
 *
 *	closed     `failures` look-ups in a row failed     --> open
 *	           `share` per cent of a window failed     --> open (flapping)
 *	open       a wait is over, or a new connection     --> half-open
 *	half-open  a look-up fails                         --> open, twice as
 *	                                                       long
 *	any        a look-up succeeds, unless it is open
 *	           since the server was flapping           --> closed
 *
 * No look-up begins while it is open; while it is half-open, one at a time may.
 * After it has closed, and after a new connection, `first` look-ups may be
 * under way at once; when that many have succeeded the number doubles, at
 * intervals of BREAKER_STEP_MS or more, and above BREAKER_LIMIT_MAX there is no
 * limit any more.  So the requests that gathered while a server was away do not
 * reach it all at once (slow start: V. Jacobson, "Congestion Avoidance and
 * Control", 1988).
 *
 * A server that fails now and then, but rarely many times in a row, is detected
 * by the last BREAKER_WINDOW_MS in which the breaker was closed: the share is
 * evaluated after BREAKER_LEAST look-ups or more, and BREAKER_JUDGE_MS or
 * longer.  Such a server answers many look-ups, so the breaker is not open for
 * longer than it was closed before: the server is in use for at least half of
 * the time.  Successes of look-ups that were under way when the breaker opened
 * are no new information.
 *
 * The breaker is a state and nothing else: it belongs to one thread, and the
 * caller passes the time, in monotonic ms.  A clock that goes back lengthens a
 * wait by at most one wait.
 */
#ifndef REDIRECTOR_LOOKUP_BREAKER_H
#define REDIRECTOR_LOOKUP_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#define BREAKER_STEP_MS	  20
#define BREAKER_LIMIT_MAX 1024
#define BREAKER_WAIT_MIN  100 /* ms: the first wait; up to half is taken off */
#define BREAKER_WINDOW_MS 10000
#define BREAKER_JUDGE_MS  1000
#define BREAKER_LEAST	  100

enum {
	BREAKER_PARTS = 10, /* parts of the window, which slides by one part */
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
	unsigned first;	   /* most look-ups under way after a return */
	unsigned share;	   /* per cent; 0: only failures in a row count */
};

struct breaker_part {
	unsigned ended, failed;
};

struct breaker_window {
	struct breaker_part parts[BREAKER_PARTS];
	struct breaker_part all;
	unsigned current;
	int64_t begun; /* start of the current part */
};

struct breaker {
	struct breaker_rules rules;
	enum breaker_state state;
	unsigned failures; /* in a row */
	unsigned trips;	   /* openings since it was closed */
	int64_t since;	   /* when this state began */
	int64_t wait;	   /* time open, now or the last time */
	bool flapping;	   /* open for a share of failures */
	unsigned flaps;	   /* openings in a row, less than a window apart */
	bool trying;	   /* half-open: a look-up is under way */
	struct breaker_window window; /* filled while it is closed */
	unsigned under_way;
	unsigned limit;	    /* limit of under_way; 0: none */
	unsigned succeeded; /* look-ups since the limit was raised */
	int64_t raised;
};

/* The breaker begins closed, with the limit that follows a return. */
void breaker_init(struct breaker *b, const struct breaker_rules *rules,
		  int64_t now);

enum breaker_word {
	BREAKER_ASK,
	BREAKER_WAIT,	/* wait until another look-up has ended */
	BREAKER_REFUSE, /* no request is to wait for this server */
};

/* After BREAKER_ASK, the caller calls breaker_begin when its look-up begins. */
enum breaker_word breaker_may_ask(struct breaker *b, int64_t now);
void breaker_begin(struct breaker *b);
/* Called when a look-up that had begun is no longer under way. */
void breaker_end(struct breaker *b);

/* Reports the result of a look-up, once for each that has begun.  A look-up
 * that takes too long is reported as failed before it ends.  `random`: 32
 * random bits. */
void breaker_succeeded(struct breaker *b, int64_t now);
void breaker_failed(struct breaker *b, int64_t now, uint32_t random);

/* Called when a new connection to the server is ready: the server has answered
 * the greeting. */
void breaker_connected(struct breaker *b, int64_t now);

/* Returns the ms until an open breaker is half-open; 0 when the wait is
 * over. */
int64_t breaker_wait_left(struct breaker *b, int64_t now);

const char *breaker_state_name(enum breaker_state state);

#endif
