#include "allocator/space_watch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "linkstore/space/missing_keys.h"
#include "linkstore/space/raise_cursor.h"
#include "linkstore/space/record.h"
#include "linkstore/target.h"

enum {
	/* Pauses while a space is not ready.  The first is short, since Redis
	 * is asked before it is connected; each is twice the one before. */
	FIRST_PAUSE_MS = 10,
	EVERY_WHILE_WRONG_MS = 500
};

struct watched_space {
	struct space_watch *watch;
	const struct link_space *space;
	struct health_check *check;
	_Atomic int state;
	struct metric *missing;
};

struct space_watch {
	struct loop *loop;
	struct loop_timer *timer;
	struct redis_async *redis; /* NULL: stopped */
	struct seen_file *seen;	   /* NULL: cursors are not remembered */
	int64_t every_ms;
	int64_t pause_ms; /* while one is not ready */
	void (*on_differs)(void *arg, const struct error *err);
	void *arg;
	size_t count;
	struct watched_space spaces[];
};

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

static enum space_state state_of(const struct watched_space *ws)
{
	return (enum space_state)atomic_load(&ws->state);
}

static void set_state(struct watched_space *ws, enum space_state state)
{
	char text[SPACE_STATE_TEXT_MAX];

	atomic_store(&ws->state, (int)state);
	if (state == SPACE_READY)
		health_up(ws->check);
	else
		health_down(ws->check,
			    space_state_describe(state, ws->space, text));
}

/* Remembers the cursor in Redis, which other allocators have moved, too: they
 * may be gone when Redis has forgotten it. */
static void remember_cursor(const struct watched_space *ws)
{
	const struct space_seen seen = linkstore_noted_seen(ws->space);

	if (ws->watch->seen && link_space_has_blocks(ws->space))
		seen_file_note(ws->watch->seen, ws->space, &seen);
}

static void on_checked(void *arg, const struct error *err)
{
	struct watched_space *ws = arg;
	struct space_watch *w = ws->watch;
	char lacks[MISSING_KEYS_TEXT_MAX];

	if (!w->redis)
		return;
	if (!err) {
		set_state(ws, SPACE_READY);
		remember_cursor(ws);
		if (missing_keys_tell(ws->space, ws->missing, lacks))
			health_down(ws->check, lacks);
	} else if (err->code == ERROR_UNSAFE) {
		set_state(ws, SPACE_KEY_UNUSED);
	} else if (err->code == ERROR_NOTFOUND) {
		set_state(ws, SPACE_MISSING);
	} else if (err->code == ERROR_CONFIG && state_of(ws) != SPACE_DIFFERS) {
		set_state(ws, SPACE_DIFFERS);
		w->on_differs(w->arg, err);
	}
	/* Without Redis the state stays: Redis has a health check of its own.
	 */
}

static void on_raised(void *arg, const struct error *err)
{
	(void)arg;
	(void)err; /* told again at the next connection */
}

/* Tells Redis the highest block that was seen: it may have lost data without a
 * connection being lost. */
static void tell_seen(const struct watched_space *ws)
{
	struct space_watch *w = ws->watch;
	struct space_seen seen;
	struct error ignored;

	if (!w->seen || !link_space_has_blocks(ws->space))
		return;
	seen = seen_file_get(w->seen, ws->space);
	if (seen.cursor || seen.moves)
		space_raise_cursor_async(w->redis, ws->space, &seen, on_raised,
					 NULL, &ignored);
}

static bool all_ready(const struct space_watch *w)
{
	for (size_t i = 0; i < w->count; i++) {
		if (state_of(&w->spaces[i]) != SPACE_READY)
			return false;
	}
	return true;
}

static void on_timer(void *arg)
{
	struct space_watch *w = arg;
	struct error err = {0};

	for (size_t i = 0; i < w->count; i++) {
		space_check_async(w->redis, w->spaces[i].space, SPACE_TO_ISSUE,
				  on_checked, &w->spaces[i], &err);
		tell_seen(&w->spaces[i]);
	}
	loop_timer_set(w->timer, all_ready(w) ? w->every_ms : w->pause_ms);
	w->pause_ms *= 2;
	if (w->pause_ms > EVERY_WHILE_WRONG_MS)
		w->pause_ms = EVERY_WHILE_WRONG_MS;
}

struct space_watch *
space_watch_new(const struct linkstore *store, struct health *health,
		struct metrics *metrics, int64_t every_ms,
		void (*on_differs)(void *arg, const struct error *err),
		void *arg, struct error *err)
{
	size_t count = linkstore_space_count(store);
	struct space_watch *w =
		calloc(1, sizeof(*w) + count * sizeof(w->spaces[0]));
	char name[64];

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->every_ms = every_ms;
	w->pause_ms = FIRST_PAUSE_MS;
	w->on_differs = on_differs;
	w->arg = arg;
	w->count = count;
	for (size_t i = 0; i < count; i++) {
		w->spaces[i].watch = w;
		w->spaces[i].space = linkstore_space(store, i);
		snprintf(name, sizeof(name), "space %s",
			 w->spaces[i].space->name);
		w->spaces[i].check = health_register(health, name);
		w->spaces[i].missing =
			missing_keys_register(metrics, w->spaces[i].space);
		set_state(&w->spaces[i], SPACE_UNCHECKED);
	}
	return w;
}

void space_watch_remember(struct space_watch *w, struct seen_file *seen)
{
	w->seen = seen;
}

int space_watch_start(struct space_watch *w, struct loop *loop,
		      struct redis_async *redis, struct error *err)
{
	w->loop = loop;
	w->redis = redis;
	w->timer = loop_timer_new(loop, on_timer, w, err);
	if (!w->timer)
		return -1;
	loop_timer_set(w->timer, 0);
	return 0;
}

void space_watch_stop(struct space_watch *w)
{
	loop_timer_free(w->timer);
	w->timer = NULL;
	w->redis = NULL;
}

void space_watch_free(struct space_watch *w)
{
	free(w);
}

enum space_state space_watch_state(const struct space_watch *w,
				   const struct link_space *space)
{
	return state_of(&w->spaces[space->index]);
}
