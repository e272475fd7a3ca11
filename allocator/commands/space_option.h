/* space_option.h - --space, and numbers beside it. */
#ifndef ALLOCATOR_COMMANDS_SPACE_OPTION_H
#define ALLOCATOR_COMMANDS_SPACE_OPTION_H

#include <stdint.h>

#include "allocator/allocator_config.h"
#include "common/app/app.h"
#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

/* What a command that works on one space has open. */
struct space_option {
	struct linkstore *store;
	struct redis *redis;
};

/* Returns the space that --space names, or NULL.  `ret` begins as zeroes; end
 * with space_option_close, also after a failure. */
const struct link_space *
space_option_open(struct space_option *ret,
		  const struct allocator_config *config, const struct app *app,
		  struct error *err);
void space_option_close(struct space_option *o);

/* ERROR_USAGE: --space is missing (NULL) or no such space, but these are. */
void space_option_refuse(const struct linkstore *store, const char *given,
			 struct error *err);

/* The value of the option, 0 when it was not given.  ERROR_USAGE: it is no
 * number. */
int space_option_number(const struct app *app, const char *option,
			uint64_t *ret, struct error *err);

#endif
