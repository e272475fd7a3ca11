/*
 * sessions.h - sessions that outlive a request (URL parameter session_id).
 *
 * A session belongs to one request at a time; it is closed when it is unused
 * for its timeout.  Their number is bounded.  Used on one loop's thread.
 */
#ifndef STACK_CLICKHOUSE_SESSIONS_H
#define STACK_CLICKHOUSE_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/loop/loop.h"
#include "stack/clickhouse/engine.h"

struct sessions;

struct sessions *sessions_new(struct loop *loop, struct engine *engine,
			      size_t max, struct error *err);
/* Closes all; none may be in use.  NULL accepted. */
void sessions_free(struct sessions *s);

/*
 * Takes the session of that name, opening it unless `must_exist`.  A session
 * that is in use by another request, unknown, or one too many is a failure as
 * in failure.h.
 */
struct engine_session *sessions_take(struct sessions *s, const char *id,
				     bool must_exist, struct error *err);

/* Returns the session, which is kept for timeout_ms. */
void sessions_give_back(struct sessions *s, const char *id, int64_t timeout_ms);

#endif
