/*
 * robots_config.h - the `robots` section: the lists by which robots are
 * recognized.
 *
 * Redirectors and collectors read this one section of the shared file, so that
 * a visit that uses up none of a link's visits is also not counted as a
 * person's click.
 */
#ifndef COMMON_AGENT_ROBOTS_CONFIG_H
#define COMMON_AGENT_ROBOTS_CONFIG_H

#include "common/config/setting.h"

struct robots_config {
	char *list;		       /* NULL: none */
	char *patterns;		       /* NULL: none */
	struct setting_strings except; /* patterns of both that are people */
};

extern const struct setting_section robots_section; /* "robots" */

#endif
