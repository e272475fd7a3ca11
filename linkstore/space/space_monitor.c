#include "linkstore/space/space_monitor.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "linkstore/target.h"

enum {
	/* Pauses while a space is not ready.  The first is short, since the
	 * first check runs before Redis is connected; each is twice the one
	 * before. */
	FIRST_PAUSE_MS = 10,
	LONGEST_PAUSE_MS = 500
};

struct monitored_space {
	struct space_monitor *monitor;
	const struct link_space *space;
	bool asked; /* the answer is pending */
	_Atomic int state;
};

struct space_monitor {
	struct space_monitor_options options;
	struct redis_async *redis;
	struct loop_timer *timer; /* NULL: not started, or stopped */
	int64_t pause;		  /* ms, while a space is not ready */
	size_t count;
	struct monitored_space spaces[];
};

/* --- states --------------------------------------------------------------- */

const char *space_state_describe(enum space_state state,
				 const struct link_space *space,
				 char text[SPACE_STATE_TEXT_MAX])
{
	const char *name = space->name;

	switch (state) {
	case SPACE_READY:
		snprintf(text, SPACE_STATE_TEXT_MAX, "space %s is ready", name);
		break;
	case SPACE_UNCHECKED:
		snprintf(text, SPACE_STATE_TEXT_MAX,
			 "space %s has not been checked yet: Redis has not "
			 "answered",
			 name);
		break;
	case SPACE_MISSING:
		snprintf(text, SPACE_STATE_TEXT_MAX,
			 "space %s does not exist: create it with `allocator "
			 "create-space --space %s`",
			 name, name);
		break;
	case SPACE_KEY_UNUSED:
		snprintf(
			text, SPACE_STATE_TEXT_MAX,
			"space %s: key version %d is to make new codes, but is "
			"not in use: once every program has the key, add it "
			"with `allocator create-space --space %s`",
			name, linkstore_key_version(space), name);
		break;
	case SPACE_DIFFERS:
		snprintf(text, SPACE_STATE_TEXT_MAX,
			 "space %s was made with another configuration", name);
		break;
	}
	return text;
}

bool space_clock_differs(const struct link_space *space,
			 char text[SPACE_CLOCK_TEXT_MAX])
{
	int64_t apart = linkstore_now_ms(space) - clock_real_ms();
	char by[CLOCK_APART_TEXT_MAX];

	if (!clock_is_apart(apart))
		return false;
	snprintf(text, SPACE_CLOCK_TEXT_MAX, "Redis' clock is %s this host's",
		 clock_apart_format(apart, by));
	return true;
}

/*
 * Every space starts as UNCHECKED.  Then each answer sets the state, whatever
 * it was before:
 *
 *   result of space_check                      state
 *   record, keys and cursor are as configured  READY
 *   ERROR_NOTFOUND: no record, or no cursor    MISSING
 *   ERROR_UNSAFE: the record lacks the key
 *       that is to make codes (to issue only)  KEY_UNUSED
 *   ERROR_CONFIG: another identity or key      DIFFERS
 *   a retriable error: Redis is away           unchanged
 *   any other error: Redis refused, or its
 *       answer cannot be read      - to read   UNCHECKED
 *                                  - to issue  unchanged
 *
 * Only the last case depends on the use.  A program that looks up links must
 * not take a link for absent while the space's record cannot be read.  A
 * program that issues codes goes on: each grant and create is checked by its
 * own script, and blocks already granted stay valid.
 *
 * Returns false if the state is unchanged.
 */
static bool next_state(enum space_use use, const struct error *err,
		       enum space_state *ret_state)
{
	if (!err) {
		*ret_state = SPACE_READY;
		return true;
	}
	if (err->retriable)
		return false;
	switch (err->code) {
	case ERROR_NOTFOUND:
		*ret_state = SPACE_MISSING;
		return true;
	case ERROR_UNSAFE:
		*ret_state = SPACE_KEY_UNUSED;
		return true;
	case ERROR_CONFIG:
		*ret_state = SPACE_DIFFERS;
		return true;
	default:
		*ret_state = SPACE_UNCHECKED;
		return use == SPACE_TO_READ;
	}
}

enum space_state space_monitor_state(const struct space_monitor *m,
				     const struct link_space *space)
{
	return (enum space_state)atomic_load(&m->spaces[space->index].state);
}

bool space_monitor_all_ready(const struct space_monitor *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (atomic_load(&m->spaces[i].state) != SPACE_READY)
			return false;
	return true;
}

/* --- high water ----------------------------------------------------------- */

/* Stores the high water of the record, including that of other programs: these
 * may be gone when Redis has lost it. */
static void remember_high_water(const struct monitored_space *s)
{
	struct high_water_file *file = s->monitor->options.high_water_file;
	const struct high_water high_water =
		linkstore_noted_high_water(s->space);

	if (file && link_space_has_blocks(s->space))
		high_water_file_note(file, s->space, &high_water);
}

static void on_raised(void *arg, const struct error *err)
{
	(void)arg;
	(void)err; /* sent again after the next pause */
}

static void tell_high_water(const struct monitored_space *s,
			    struct redis_async *redis, space_raised_fn *fn,
			    void *arg)
{
	struct high_water_file *file = s->monitor->options.high_water_file;
	struct high_water high_water;
	struct error ignored;

	if (!file || !link_space_has_blocks(s->space))
		return;
	high_water = high_water_file_get(file, s->space);
	if (high_water.cursor || high_water.moves)
		space_raise_cursor_async(redis, s->space, &high_water, fn, arg,
					 &ignored);
}

void space_monitor_tell(const struct space_monitor *m,
			struct redis_async *redis, space_raised_fn *fn,
			void *arg)
{
	for (size_t i = 0; i < m->count; i++)
		tell_high_water(&m->spaces[i], redis, fn, arg);
}

/* --- checks --------------------------------------------------------------- */

static void on_answer(void *arg, const struct error *err)
{
	struct monitored_space *s = arg;
	const struct space_monitor *m = s->monitor;
	enum space_state state;

	s->asked = false;
	if (!m->timer || !next_state(m->options.use, err, &state))
		return;
	atomic_store(&s->state, (int)state);
	if (state == SPACE_READY)
		remember_high_water(s);
	m->options.on_checked(m->options.arg, s->space, state, err);
}

static void start_space_check(struct monitored_space *s)
{
	const struct space_monitor *m = s->monitor;
	struct error ignored;

	if (s->asked)
		return;
	/* This fails while Redis is away, which is reported elsewhere. */
	s->asked = space_check_async(m->redis, s->space, m->options.use,
				     on_answer, s, &ignored) == 0;
	/* Redis may have lost data without a lost connection. */
	tell_high_water(s, m->redis, on_raised, NULL);
}

/* Returns a long pause while all spaces are ready, and a short one while they
 * are not. */
static int64_t next_pause(struct space_monitor *m)
{
	int64_t every = m->options.every,
		longest = every < LONGEST_PAUSE_MS ? every : LONGEST_PAUSE_MS,
		pause = m->pause < longest ? m->pause : longest;

	m->pause = pause * 2;
	return space_monitor_all_ready(m) ? every : pause;
}

static void on_timer(void *arg)
{
	struct space_monitor *m = arg;

	for (size_t i = 0; i < m->count; i++)
		start_space_check(&m->spaces[i]);
	loop_timer_set(m->timer, next_pause(m));
}

/* --- start and stop ------------------------------------------------------- */

struct space_monitor *
space_monitor_new(const struct space_monitor_options *options,
		  struct error *err)
{
	size_t count = linkstore_space_count(options->store);
	struct space_monitor *m =
		calloc(1, sizeof(*m) + count * sizeof(m->spaces[0]));

	if (!m) {
		error_set_nomem(err);
		return NULL;
	}
	m->options = *options;
	m->pause = FIRST_PAUSE_MS;
	m->count = count;
	for (size_t i = 0; i < count; i++) {
		m->spaces[i].monitor = m;
		m->spaces[i].space = linkstore_space(options->store, i);
		atomic_init(&m->spaces[i].state, SPACE_UNCHECKED);
	}
	return m;
}

void space_monitor_free(struct space_monitor *m)
{
	free(m);
}

int space_monitor_start(struct space_monitor *m, struct loop *loop,
			struct redis_async *redis, struct error *err)
{
	m->redis = redis;
	m->timer = loop_timer_new(loop, on_timer, m, err);
	if (!m->timer)
		return -1;
	loop_timer_set(m->timer, 0);
	return 0;
}

void space_monitor_stop(struct space_monitor *m)
{
	loop_timer_free(m->timer);
	m->timer = NULL;
}
