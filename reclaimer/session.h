/* session.h - what most commands begin with: the options, the configured spaces
 * and a connection to Redis. */
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

/* ERROR_USAGE when an option makes no sense, or --space names no space with
 * blocks.  session_close in any case. */
int session_open(struct session *s, struct app *app,
		 const struct reclaimer_config *config, struct error *err);
void session_close(struct session *s);

/* For commands that need one space.  ERROR_USAGE when --space has to say
 * which; NULL then. */
const struct link_space *session_one_space(const struct session *s,
					   struct error *err);

#endif
