/* settings.h - URL parameters as SQL: SET, USE and query parameters.  Pure. */
#ifndef STACK_CLICKHOUSE_SETTINGS_H
#define STACK_CLICKHOUSE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/http/url.h"
#include "stack/clickhouse/engine.h"

/* Appends "USE `database`", nothing for NULL. */
int settings_use(const char *database, struct buf *out, struct error *err);

/*
 * Appends one SET of all parameters that are settings, and of log_comment to
 * `comment` (NULL: not) unless they have one; with `readonly` as the
 * last of them, so that it binds the query and not the others.  A name that
 * cannot be one is ClickHouse's UNKNOWN_SETTING.
 */
int settings_set(const struct url_params *params, size_t max_result_bytes,
		 const char *comment, bool readonly, struct buf *out,
		 struct error *err);

/* Appends the SET that undoes it. */
void settings_unset(const struct url_params *params, struct buf *out);

/* The parameters called param_x.  Strings stay the params'. */
int settings_params(const struct url_params *params, struct engine_params *ret,
		    struct error *err);
void settings_params_free(struct engine_params *params);

#endif
