/*
 * robots_config.h - the `robots` section: by which lists robots are known.
 *
 * Redirectors and collectors read this one section of the shared file, so that
 * what uses up no visit of a link is what is counted as no click of a person.
 */
#ifndef COMMON_AGENT_ROBOTS_CONFIG_H
#define COMMON_AGENT_ROBOTS_CONFIG_H

#include "common/config/setting.h"

struct robots_config {
	char *list;		       /* NULL: none */
	char *patterns;		       /* NULL: none */
	struct setting_strings except; /* of both, that are people */
};

extern const struct setting_section robots_section; /* "robots" */

#endif
