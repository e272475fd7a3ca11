/*
 * yaml_load.h - loads one YAML document as libyaml's tree, within bounds, so
 * that the time for any text is proportional to its length.
 *
 * libyaml needs quadratic time for nested lists and for %TAG directives, and
 * searches all anchors at each anchor and alias.  So the document is parsed
 * twice: first event by event, up to the first bound that it exceeds, then as a
 * tree.
 */
#ifndef COMMON_YAML_LOAD_H
#define COMMON_YAML_LOAD_H

#include <stddef.h>
#include <yaml.h>

#include "common/error.h"

#define YAML_DEPTH_MAX 64      /* nested lists and mappings */
#define YAML_NODES_MAX 2000000 /* texts, lists and mappings */

/* The place of an error in a text; both from 1. */
struct yaml_place {
	size_t line, column;
};

/*
 * Fills *ret_document, which the caller frees with yaml_document_delete.
 * `anchors` is the maximum of anchors and aliases.  The text is UTF-8.  Invalid
 * YAML, a second document and an exceeded bound are ERROR_INPUT, with the place
 * in *ret_place and not in the error's text.
 */
int yaml_load(const char *text, size_t len, size_t anchors,
	      yaml_document_t *ret_document, struct yaml_place *ret_place,
	      struct error *err);

#endif
