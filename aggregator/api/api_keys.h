/*
 * api_keys.h - the API keys of the aggregator: the file aggregator.keys_file.
 * It has the allocator's format (common/keys/api_keyring.h) and may be the
 * allocator's file.  Without a file, the API answers every caller.
 */
#ifndef AGGREGATOR_API_API_KEYS_H
#define AGGREGATOR_API_API_KEYS_H

#include <stdbool.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/api/access.h"
#include "common/http/http_server.h"
#include "common/keys/api_keyring.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

/* Loads the file.  Without the setting, *ret_keys is NULL; a warning is then
 * logged if the API can be reached from other hosts. */
int api_keys_open(const struct aggregator_settings *settings, struct log *log,
		  struct metrics *metrics, struct api_keyring **ret_keys,
		  struct error *err);

/* Reads the file again.  A failure is logged, and the keys stay. */
void api_keys_reload(struct api_keyring *keys, struct log *log);

/* Fills in the caller.  If the request has no key, or its key is unknown, may
 * read nothing or exceeds its rate, the request is answered and this returns
 * false. */
bool api_keys_admit(struct api_keyring *keys, struct http_request *req,
		    struct access *ret_access);

/* The check for app_spec: loads the file as at start.  `config` is a struct
 * aggregator_config. */
int api_keys_check(const void *config, struct error *err);

#endif
