/*
 * session.h - the common start of most commands: options, configured spaces and
 * a connection to Redis.
 */
#ifndef RECLAIMER_SESSION_H
#define RECLAIMER_SESSION_H

#include <stddef.h>

#include "common/app/app.h"
#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"
#include "reclaimer/options.h"
#include "reclaimer/reclaimer_config.h"

struct session {
	struct app *app;
	const struct reclaimer_config *config;
	struct options options;
	struct linkstore *store;
	struct redis *redis; /* not connected yet */
	/* Spaces with blocks: all of them, or the one that --space names. */
	const struct link_space **spaces;
	size_t space_count;
};

/* ERROR_USAGE if an option is invalid, or --space names no space with blocks.
 * The caller calls session_close in any case. */
int session_open(struct session *s, struct app *app,
		 const struct reclaimer_config *config, struct error *err);
void session_close(struct session *s);

/* For commands that need one space.  ERROR_USAGE, returning NULL, if --space is
 * needed to choose one. */
const struct link_space *session_one_space(const struct session *s,
					   struct error *err);

#endif
