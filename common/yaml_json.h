/*
 * yaml_json.h - YAML as JSON, for what is written as one and served as the
 * other.
 */
#ifndef COMMON_YAML_JSON_H
#define COMMON_YAML_JSON_H

#include "common/buf.h"
#include "common/error.h"

/* Appends one YAML document as JSON; null, when there is nothing but comments.
 * Anchors and tags are not understood; they are ERROR_INPUT like anything that
 * is no YAML, names that are given twice and a second document. */
int yaml_to_json(const char *yaml, struct buf *out, struct error *err);

#endif
