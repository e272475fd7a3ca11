/*
 * yaml_load.h - one YAML document as libyaml's tree, within bounds, so that no
 * text takes more than a time in proportion to its length.
 *
 * libyaml takes a quadratic time for lists within lists and for %TAG
 * directives, and looks through all anchors at each anchor and alias.  So the
 * document is parsed twice: first event by event, up to the first bound that
 * it breaks, then as a tree.
 */
#ifndef COMMON_YAML_LOAD_H
#define COMMON_YAML_LOAD_H

#include <stddef.h>
#include <yaml.h>

#include "common/error.h"

#define YAML_DEPTH_MAX 64      /* lists and mappings within each other */
#define YAML_NODES_MAX 2000000 /* texts, lists and mappings */

/* Where a text is wrong; both from 1. */
struct yaml_place {
	size_t line, column;
};

/*
 * Fills *ret_document, which the caller ends with yaml_document_delete.
 * `anchors`: how many anchors and aliases there may be.  The text is UTF-8.
 * What is no YAML, a second document and what is beyond the bounds are
 * ERROR_INPUT, with the place in *ret_place and not in the error's text.
 */
int yaml_load(const char *text, size_t len, size_t anchors,
	      yaml_document_t *ret_document, struct yaml_place *ret_place,
	      struct error *err);

#endif
