#include "stack/clickhouse/sessions.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "stack/clickhouse/failure.h"

struct named_session {
	char *id; /* NULL: a free place */
	struct engine_session *session;
	bool in_use;
	int64_t end; /* monotonic ms; when not in use */
};

struct sessions {
	struct loop *loop;
	struct loop_timer *timer;
	struct engine *engine;
	struct named_session *entries;
	size_t max;
};

static void drop_session(struct sessions *s, struct named_session *e)
{
	engine_close(s->engine, e->session);
	free(e->id);
	memset(e, 0, sizeof(*e));
}

static void drop_old(void *arg)
{
	struct sessions *s = arg;
	int64_t now = loop_now_ms(s->loop);

	for (size_t i = 0; i < s->max; i++) {
		struct named_session *e = &s->entries[i];

		if (e->id && !e->in_use && e->end <= now)
			drop_session(s, e);
	}
	loop_timer_set(s->timer, CLOCK_SECOND);
}

struct sessions *sessions_new(struct loop *loop, struct engine *engine,
			      size_t max, struct error *err)
{
	struct sessions *s = calloc(1, sizeof(*s));

	if (s)
		s->entries = calloc(max, sizeof(*s->entries));
	if (!s || !s->entries) {
		free(s);
		error_set_nomem(err);
		return NULL;
	}
	s->loop = loop;
	s->engine = engine;
	s->max = max;
	s->timer = loop_timer_new(loop, drop_old, s, err);
	if (!s->timer) {
		sessions_free(s);
		return NULL;
	}
	loop_timer_set(s->timer, CLOCK_SECOND);
	return s;
}

void sessions_free(struct sessions *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->max; i++)
		if (s->entries[i].id)
			drop_session(s, &s->entries[i]);
	if (s->timer)
		loop_timer_free(s->timer);
	free(s->entries);
	free(s);
}

/* Returns the entry of that name, or else a free one with a NULL id, or
 * NULL. */
static struct named_session *find_session_entry(struct sessions *s,
						const char *id)
{
	struct named_session *spare = NULL;

	for (size_t i = 0; i < s->max; i++) {
		struct named_session *e = &s->entries[i];

		if (!e->id)
			spare = e;
		else if (strcmp(e->id, id) == 0)
			return e;
	}
	return spare;
}

static int open_entry(struct sessions *s, struct named_session *e,
		      const char *id, struct error *err)
{
	e->id = strdup(id);
	if (!e->id)
		return error_set_nomem(err);
	e->session = engine_open(s->engine, err);
	if (e->session)
		return 0;
	free(e->id);
	e->id = NULL;
	return -1;
}

struct engine_session *sessions_take(struct sessions *s, const char *id,
				     bool must_exist, struct error *err)
{
	struct named_session *e = find_session_entry(s, id);

	if (!e) {
		failure_set(err, FAILURE_TOO_MANY_QUERIES,
			    "Too many sessions: %zu are open", s->max);
		return NULL;
	}
	if (e->in_use) {
		failure_set(err, FAILURE_SESSION_IS_LOCKED,
			    "Session %.100s is locked by a concurrent client",
			    id);
		return NULL;
	}
	if (!e->id && must_exist) {
		failure_set(err, FAILURE_SESSION_NOT_FOUND,
			    "Session %.100s not found", id);
		return NULL;
	}
	if (!e->id && open_entry(s, e, id, err) < 0)
		return NULL;
	e->in_use = true;
	return e->session;
}

void sessions_give_back(struct sessions *s, const char *id, int64_t timeout_ms)
{
	struct named_session *e = find_session_entry(s, id);

	e->in_use = false;
	e->end = loop_now_ms(s->loop) + timeout_ms;
}
