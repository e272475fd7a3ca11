/*
 * yaml_json.h - converts YAML to JSON, for documents written as one and served
 * as the other.
 */
#ifndef COMMON_YAML_JSON_H
#define COMMON_YAML_JSON_H

#include "common/buf.h"
#include "common/error.h"

/* Appends one YAML document as JSON; null, if it contains only comments.
 * Anchors and tags are not supported; they are ERROR_INPUT, like invalid YAML,
 * names that are given twice and a second document. */
int yaml_to_json(const char *yaml, struct buf *out, struct error *err);

#endif
