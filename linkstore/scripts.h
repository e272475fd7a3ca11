/*
 * scripts.h - the Lua scripts, each of one slot.  Their texts are in
 * linkstore/scripts/ and say what they guarantee.
 *
 * The first line of a text names the texts that the build puts before it, and
 * the flags that Redis has for it:
 *	-- uses: lib_time lib_marker; flags: allow-oom
 *
 * A Redis that has reached its maxmemory refuses scripts that may take more of
 * it.  The scripts with the flag allow-oom (Redis 7.0) end, renew or move
 * things, or add a bounded amount, so they run even then.  Otherwise a link
 * could not be blocked, and would end although it is visited, while Redis is
 * full.
 */
#ifndef LINKSTORE_SCRIPTS_H
#define LINKSTORE_SCRIPTS_H

#include "common/redis/redis.h"

/* SCRIPT_GRANT for grant.lua: one for each text that is no lib_ text.  The
 * build generates the list from the folder. */
enum link_script {
#include "linkstore/scripts/numbers.inc"
	SCRIPT_COUNT_OF,
};

/* Fills all scripts: texts and sums. */
void link_scripts_init(struct redis_script scripts[SCRIPT_COUNT_OF]);

#endif
