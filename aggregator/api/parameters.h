/*
 * parameters.h - parameters of queries that several routes read in one way.
 *
 * All return -1 with ERROR_INPUT, whose text begins with the parameter's name.
 */
#ifndef AGGREGATOR_API_PARAMETERS_H
#define AGGREGATOR_API_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/zone/zone.h"
#include "common/error.h"
#include "common/http/url.h"

/* The end of ClickHouse's DateTime, 2106-02-07, in seconds. */
#define DATETIME_MAX INT64_C(4294944000)

/* The clicks that are counted. */
enum bots_mode {
	BOTS_EXCLUDE, /* clicks by people */
	BOTS_INCLUDE, /* all */
	BOTS_ONLY,    /* all but those by people */
};
const char *bots_mode_name(enum bots_mode mode);

/* Characters of a code. */
#define CODE_MAX 64

/* Accepts 1 to 64 of [0-9A-Za-z_-]. */
bool code_is_valid(const char *code);

/* Refuses a code of a path that no code can be: ERROR_NOTFOUND. */
int check_path_code(const char *code, struct error *err);

/* Refuses a parameter that is given more than once; `param` is an item of
 * `params`. */
int parameter_check_once(const struct url_params *params,
			 const struct url_param *param, struct error *err);

/* Refuses what is wrong with two parameters: "code, link_id: give one of them"
 * for code and link_id. */
int parameters_refuse_both(const char *one, const char *other,
			   struct error *err);

/* Refuses a parameter that is unknown or given more than once.  `known` ends
 * with NULL. */
int parameter_check_names(const struct url_params *params,
			  const char *const *known, struct error *err);

/* Reads `limit`: 1 to `most`; 100, or `most` if that is less, when it is
 * absent. */
int parameter_read_limit(const struct url_params *params, int64_t most,
			 size_t *ret, struct error *err);

/* Reads a time, in ms since 1970, as rfc3339_parse does. */
int parameter_parse_time(const char *name, const char *text, int64_t *ret_ms,
			 struct error *err);

/* Reads a time from 1970 to `latest_ms`, which is in the year `latest_year`;
 * *ret_ms is -1 when it is absent. */
int parameter_read_time(const struct url_params *params, const char *name,
			int64_t latest_ms, int latest_year, int64_t *ret_ms,
			struct error *err);

/* Reads the start of a quarter of an hour, in seconds since 1970; a bare date
 * is midnight in `zone`.  *ret stays when it is absent. */
int parameter_read_slot(const struct url_params *params, const char *name,
			const struct zone *zone, int64_t *ret,
			struct error *err);

/* Reads `bots`; BOTS_EXCLUDE when it is absent. */
int parameter_read_bots(const struct url_params *params, enum bots_mode *ret,
			struct error *err);

/* Reads "true" or "false"; false when it is absent. */
int parameter_read_flag(const struct url_params *params, const char *name,
			bool *ret, struct error *err);

#endif
