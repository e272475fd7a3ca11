#include "redirector/space_guard.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "linkstore/space/missing_keys.h"
#include "linkstore/space/record.h"

/* Soon after a start, since Redis is asked before it is connected; then less
 * and less, until all spaces are known. */
enum {
	FIRST_PAUSE_MS = 10
};

struct watched {
	struct space_guard *watch;
	const struct link_space *space;
	bool asked; /* the answer is on its way */
	_Atomic int state;
	struct metric *missing;
	bool lacks; /* a key that codes were made with */
	char why[MISSING_KEYS_TEXT_MAX];
};

struct space_guard {
	struct health_check *check;
	space_fatal_fn *on_fatal;
	void *arg;
	struct redis_async *redis;
	struct loop_timer *timer;
	int64_t every; /* ms */
	int64_t pause; /* ms, while one is not ready */
	size_t count;
	struct watched spaces[];
};

struct space_guard *space_guard_new(const struct linkstore *store,
				    struct health_check *check,
				    struct metrics *metrics,
				    space_fatal_fn *on_fatal, void *arg,
				    struct error *err)
{
	size_t count = linkstore_space_count(store);
	struct space_guard *w;

	w = calloc(1, sizeof(*w) + count * sizeof(w->spaces[0]));
	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->check = check;
	w->on_fatal = on_fatal;
	w->arg = arg;
	w->count = count;
	for (size_t i = 0; i < count; i++) {
		struct watched *s = &w->spaces[i];

		s->watch = w;
		s->space = linkstore_space(store, i);
		s->missing = missing_keys_register(metrics, s->space);
		atomic_init(&s->state, SPACE_WAITING);
	}
	return w;
}

void space_guard_free(struct space_guard *w)
{
	free(w);
}

static bool all_ready(const struct space_guard *w)
{
	for (size_t i = 0; i < w->count; i++) {
		if (atomic_load(&w->spaces[i].state) != SPACE_READY)
			return false;
	}
	return true;
}

/* Links of a key that others have: it is for them to redirect these. */
static const struct watched *without_key(const struct space_guard *w)
{
	for (size_t i = 0; i < w->count; i++) {
		if (w->spaces[i].lacks)
			return &w->spaces[i];
	}
	return NULL;
}

static void on_found_right(struct watched *s)
{
	struct space_guard *w = s->watch;
	const struct watched *lacking;

	atomic_store(&s->state, SPACE_READY);
	s->lacks = missing_keys_tell(s->space, s->missing, s->why);
	lacking = without_key(w);
	if (lacking)
		health_down(w->check, lacking->why);
	else if (all_ready(w))
		health_up(w->check);
}

static void on_checked(void *arg, const struct error *err)
{
	struct watched *s = arg;
	struct space_guard *w = s->watch;

	s->asked = false;
	if (!err) {
		on_found_right(s);
		return;
	}
	if (err->code == ERROR_CONFIG) {
		w->on_fatal(w->arg, err);
		return;
	}
	/* A Redis that is away says nothing of the space; one that has lost it
	 * would make every link look unknown. */
	if (err->retriable)
		return;
	atomic_store(&s->state, SPACE_WAITING);
	health_down(w->check, err->text);
}

static void look(void *arg)
{
	struct space_guard *w = arg;
	struct error ignored;

	for (size_t i = 0; i < w->count; i++) {
		struct watched *s = &w->spaces[i];

		if (s->asked)
			continue;
		/* Refused while Redis is away, which others report. */
		if (space_check_async(w->redis, s->space, SPACE_TO_READ,
				      on_checked, s, &ignored) == 0)
			s->asked = true;
	}
	loop_timer_set(w->timer, all_ready(w) || w->pause > w->every
					 ? w->every
					 : w->pause);
	w->pause = w->pause < w->every ? w->pause * 2 : w->every;
}

int space_guard_start(struct space_guard *w, struct loop *loop,
		      struct redis_async *redis, int64_t every,
		      struct error *err)
{
	w->redis = redis;
	w->every = every;
	w->pause = FIRST_PAUSE_MS;
	w->timer = loop_timer_new(loop, look, w, err);
	if (!w->timer)
		return -1;
	loop_timer_set(w->timer, 0);
	return 0;
}

void space_guard_stop(struct space_guard *w)
{
	if (w->timer)
		loop_timer_free(w->timer);
	w->timer = NULL;
}

enum space_state space_guard_state(const struct space_guard *w,
				   const struct link_space *space)
{
	return (enum space_state)atomic_load(&w->spaces[space->index].state);
}
