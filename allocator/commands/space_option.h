/* space_option.h - the option --space, and options that are numbers. */
#ifndef ALLOCATOR_COMMANDS_SPACE_OPTION_H
#define ALLOCATOR_COMMANDS_SPACE_OPTION_H

#include <stdint.h>

#include "allocator/allocator_config.h"
#include "common/app/app.h"
#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

/* The connections of a command that works on one space. */
struct space_option {
	struct linkstore *store;
	struct redis *redis;
};

/* Returns the space that --space names, or NULL.  Initialize `ret` with zeroes;
 * end with space_option_close, also after a failure. */
const struct link_space *
space_option_open(struct space_option *ret,
		  const struct allocator_config *config, const struct app *app,
		  struct error *err);
void space_option_close(struct space_option *o);

/* Sets ERROR_USAGE with the list of spaces: --space is missing (NULL) or names
 * no space. */
void space_option_refuse(const struct linkstore *store, const char *given,
			 struct error *err);

/* Returns the value of the option, 0 if it was not given.  ERROR_USAGE: it is
 * not a number. */
int space_option_number(const struct app *app, const char *option,
			uint64_t *ret, struct error *err);

#endif
