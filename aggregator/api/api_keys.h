/*
 * api_keys.h - the API keys of the aggregator: the file aggregator.keys_file,
 * which has the allocator's format (common/keys/api_keyring.h) and may be the
 * allocator's.  Without one, the API answers anybody.
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

/* Loads the file; *ret_keys is NULL when none is set, which is a warning in the
 * log where others than this host's programs can ask. */
int api_keys_open(const struct aggregator_settings *settings, struct log *log,
		  struct metrics *metrics, struct api_keyring **ret_keys,
		  struct error *err);

/* Reads the file again.  A failure is logged, and the keys stay. */
void api_keys_reload(struct api_keyring *keys, struct log *log);

/* Fills in who asks.  When the key of the request is none, is not known, may
 * read nothing or asks too often, the request is answered and this is false. */
bool api_keys_admit(struct api_keyring *keys, struct http_request *req,
		    struct access *ret_access);

/* For app_spec's check: loads the file as a start does.  `config` is a struct
 * aggregator_config. */
int api_keys_check(const void *config, struct error *err);

#endif
