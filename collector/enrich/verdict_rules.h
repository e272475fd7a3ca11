/*
 * verdict_rules.h - a number for all that verdicts are decided by.
 *
 * The column `verdict_version`: the upper 8 bits are VERDICT_VERSION, the lower
 * 24 come from a SHA-256 of the robots' patterns (ours and the lists'), the
 * forms of agents, the user-agent rules' file and the limits of bursts.  The
 * same rules have the same number everywhere; when it differs, rows were judged
 * by others.
 */
#ifndef COLLECTOR_ENRICH_VERDICT_RULES_H
#define COLLECTOR_ENRICH_VERDICT_RULES_H

#include <stdint.h>

#include "collector/enrich/bots/bots.h"
#include "collector/collector_config.h"
#include "common/error.h"

/* Reads the file of user-agent rules.  One that cannot be read is ERROR_CONFIG
 * naming it. */
int verdict_rules_number(const struct collector_settings *settings,
			 const struct bots *bots, uint32_t *ret_number,
			 struct error *err);

#endif
