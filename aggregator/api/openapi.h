/*
 * openapi.h - the description of the API, compiled in as YAML and served as
 * JSON.
 */
#ifndef AGGREGATOR_API_OPENAPI_H
#define AGGREGATOR_API_OPENAPI_H

#include "common/buf.h"
#include "common/error.h"

/* schemas/openapi/aggregator.yaml. */
extern const char openapi_yaml[];

/* One YAML document as JSON.  Anchors and tags are not understood; they are
 * ERROR_INPUT like anything that is no YAML. */
int yaml_to_json(const char *yaml, struct buf *out, struct error *err);

#endif
