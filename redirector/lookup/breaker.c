#include "redirector/lookup/breaker.h"

#include "common/backoff.h"

/* Returns the time since *then.  If the clock went back, *then becomes the
 * present. */
static int64_t elapsed_ms_since(int64_t *then, int64_t now)
{
	if (now < *then)
		*then = now;
	return now - *then;
}

/* --- the window ----------------------------------------------------------- */

static void window_begin(struct breaker_window *w, int64_t now)
{
	*w = (struct breaker_window){.begun = now};
}

static void window_drop_part(struct breaker_window *w)
{
	struct breaker_part *oldest;

	w->current = (w->current + 1) % BREAKER_PARTS;
	oldest = &w->parts[w->current];
	w->all.ended -= oldest->ended;
	w->all.failed -= oldest->failed;
	*oldest = (struct breaker_part){0};
}

static void window_slide(struct breaker_window *w, int64_t now)
{
	const int64_t part = BREAKER_WINDOW_MS / BREAKER_PARTS;
	int64_t parts = elapsed_ms_since(&w->begun, now) / part;

	if (parts >= BREAKER_PARTS) {
		window_begin(w, now);
		return;
	}
	w->begun += parts * part;
	while (parts--)
		window_drop_part(w);
}

static void window_note(struct breaker_window *w, int64_t now, unsigned failed)
{
	struct breaker_part *part;

	window_slide(w, now);
	part = &w->parts[w->current];
	part->ended++;
	part->failed += failed;
	w->all.ended++;
	w->all.failed += failed;
}

/* --- states --------------------------------------------------------------- */

static void begin_slowly(struct breaker *b, int64_t now)
{
	b->limit = b->rules.first <= BREAKER_LIMIT_MAX ? b->rules.first : 0;
	b->succeeded = 0;
	b->raised = now;
}

static void close_it(struct breaker *b, int64_t now)
{
	b->state = BREAKER_CLOSED;
	b->since = now;
	b->trips = 0;
	window_begin(&b->window, now);
	begin_slowly(b, now);
}

void breaker_init(struct breaker *b, const struct breaker_rules *rules,
		  int64_t now)
{
	*b = (struct breaker){.rules = *rules};
	close_it(b, now);
}

int64_t breaker_wait_left(struct breaker *b, int64_t now)
{
	int64_t left = b->wait - elapsed_ms_since(&b->since, now);

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
	    elapsed_ms_since(&b->raised, now) < BREAKER_STEP_MS)
		return;
	b->limit = b->limit * 2 <= BREAKER_LIMIT_MAX ? b->limit * 2 : 0;
	b->succeeded = 0;
	b->raised = now;
}

void breaker_succeeded(struct breaker *b, int64_t now)
{
	b->failures = 0;
	if (b->state == BREAKER_CLOSED) {
		window_note(&b->window, now, 0);
		raise_limit(b, now);
	} else if (b->state != BREAKER_OPEN || !b->flapping) {
		close_it(b, now);
	}
}

static void open_for(struct breaker *b, int64_t now, uint32_t random)
{
	b->state = BREAKER_OPEN;
	b->flapping = false;
	b->since = now;
	b->wait = backoff_delay(BREAKER_WAIT_MIN, b->rules.wait_max, ++b->trips,
				random);
}

static bool is_flapping(struct breaker *b, int64_t now)
{
	const struct breaker_part *all = &b->window.all;

	return b->rules.share && all->ended >= BREAKER_LEAST &&
	       elapsed_ms_since(&b->since, now) >= BREAKER_JUDGE_MS &&
	       (uint64_t)all->failed * 100 >=
		       (uint64_t)all->ended * b->rules.share;
}

static void open_flapping(struct breaker *b, int64_t now, uint32_t random)
{
	int64_t closed = elapsed_ms_since(&b->since, now);
	unsigned flaps = closed < BREAKER_WINDOW_MS ? b->flaps + 1 : 1;

	open_for(b, now, random);
	b->flapping = true;
	b->flaps = flaps;
	b->wait = backoff_delay(BREAKER_WAIT_MIN, b->rules.wait_max, flaps,
				random);
	if (b->wait > closed)
		b->wait = closed;
}

/* Look-ups that fail together with the one that opened the breaker are not
 * counted again. */
void breaker_failed(struct breaker *b, int64_t now, uint32_t random)
{
	b->failures++;
	if (b->state == BREAKER_HALF_OPEN) {
		open_for(b, now, random);
	} else if (b->state == BREAKER_CLOSED) {
		window_note(&b->window, now, 1);
		if (b->failures >= b->rules.failures)
			open_for(b, now, random);
		else if (is_flapping(b, now))
			open_flapping(b, now, random);
	}
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
