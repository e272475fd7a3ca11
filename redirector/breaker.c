#include "redirector/breaker.h"

#include "common/backoff.h"

/* Time since *then, which a clock that went back brings to the present. */
static int64_t elapsed(int64_t *then, int64_t now)
{
	if (now < *then)
		*then = now;
	return now - *then;
}

static void begin_slowly(struct breaker *b, int64_t now)
{
	b->limit = b->rules.first <= BREAKER_LIMIT_MAX ? b->rules.first : 0;
	b->succeeded = 0;
	b->raised = now;
}

void breaker_init(struct breaker *b, const struct breaker_rules *rules,
		  int64_t now)
{
	*b = (struct breaker){.rules = *rules};
	begin_slowly(b, now);
}

int64_t breaker_wait_left(struct breaker *b, int64_t now)
{
	int64_t left = b->wait - elapsed(&b->since, now);

	return b->state == BREAKER_OPEN && left > 0 ? left : 0;
}

static void half_open(struct breaker *b)
{
	b->state = BREAKER_HALF_OPEN;
	b->trying = false;
}

enum breaker_word breaker_may_ask(struct breaker *b, int64_t now)
{
	if (b->state == BREAKER_OPEN && breaker_wait_left(b, now) == 0)
		half_open(b);
	switch (b->state) {
	case BREAKER_HALF_OPEN:
		return b->trying ? BREAKER_REFUSE : BREAKER_ASK;
	case BREAKER_CLOSED:
		return !b->limit || b->under_way < b->limit ? BREAKER_ASK
							    : BREAKER_WAIT;
	default:
		return BREAKER_REFUSE;
	}
}

void breaker_begin(struct breaker *b)
{
	b->under_way++;
	b->trying = b->state == BREAKER_HALF_OPEN;
}

void breaker_end(struct breaker *b)
{
	b->under_way--;
}

static void raise_limit(struct breaker *b, int64_t now)
{
	if (!b->limit || ++b->succeeded < b->limit ||
	    elapsed(&b->raised, now) < BREAKER_STEP_MS)
		return;
	b->limit = b->limit * 2 <= BREAKER_LIMIT_MAX ? b->limit * 2 : 0;
	b->succeeded = 0;
	b->raised = now;
}

void breaker_succeeded(struct breaker *b, int64_t now)
{
	b->failures = 0;
	if (b->state == BREAKER_CLOSED) {
		raise_limit(b, now);
		return;
	}
	b->state = BREAKER_CLOSED;
	b->trips = 0;
	begin_slowly(b, now);
}

static void open_for(struct breaker *b, int64_t now, uint32_t random)
{
	b->state = BREAKER_OPEN;
	b->since = now;
	b->wait = backoff_delay(BREAKER_WAIT_MIN, b->rules.wait_max, ++b->trips,
				random);
}

void breaker_failed(struct breaker *b, int64_t now, uint32_t random)
{
	b->failures++;
	/* Those that fail together with the one that opened it count once. */
	if (b->state == BREAKER_HALF_OPEN ||
	    (b->state == BREAKER_CLOSED && b->failures >= b->rules.failures))
		open_for(b, now, random);
}

void breaker_connected(struct breaker *b, int64_t now)
{
	if (b->state == BREAKER_OPEN)
		half_open(b);
	else if (b->state == BREAKER_CLOSED)
		begin_slowly(b, now);
}

const char *breaker_state_name(enum breaker_state state)
{
	static const char *const names[BREAKER_STATES] = {"closed", "open",
							  "half-open"};

	return names[state];
}
