/*
 * breaker.h - a circuit breaker for look-ups: may a server be asked now, and by
 * how many at once?  (M. Nygard, "Release It!", 2007.)
 *
 *	closed --> `failures` look-ups in a row failed --> open
 *	open --> a wait is over, or the server was connected to anew -->
 *half-open half-open --> a look-up fails --> open, and the wait is twice as
 *long any --> a look-up succeeds --> closed
 *
 * Open, nobody asks; half-open, one at a time.  When it has closed, or a
 * connection is new, `first` may be under way at once; when as many have
 * succeeded the number doubles, BREAKER_STEP_MS apart at least, until it is
 * without a bound beyond BREAKER_LIMIT_MAX.  So what gathered while a server
 *was away does not come upon it all at once (slow start: V. Jacobson,
 *"Congestion Avoidance and Control", 1988).
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
};

struct breaker {
	struct breaker_rules rules;
	enum breaker_state state;
	unsigned failures; /* in a row */
	unsigned trips;	   /* since it was closed */
	int64_t since;	   /* open */
	int64_t wait;
	bool trying; /* half-open: one is under way */
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
