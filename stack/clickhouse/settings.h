/* settings.h - converts URL parameters to SQL: SET, USE and query parameters.
 * Pure. */
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
 * `comment` (NULL: not) unless a parameter sets it; `readonly` comes last, so
 * that it binds the query and not the other settings.  An invalid name is
 * ClickHouse's UNKNOWN_SETTING.
 */
int settings_set(const struct url_params *params, size_t max_result_bytes,
		 const char *comment, bool readonly, struct buf *out,
		 struct error *err);

/* Appends the SET that resets these settings. */
void settings_unset(const struct url_params *params, struct buf *out);

/* Returns the parameters called param_x.  The strings belong to `params`. */
int settings_params(const struct url_params *params, struct engine_params *ret,
		    struct error *err);
void settings_params_free(struct engine_params *params);

#endif
