/*
 * scripts.h - the Lua scripts, each of one slot.  Their texts are in
 * linkstore/scripts/ and say what they guarantee.  scripts.c combines each with
 * the lib_ texts that it calls, and indexes it by its number.
 */
#ifndef LINKSTORE_SCRIPTS_H
#define LINKSTORE_SCRIPTS_H

#include "common/redis/redis.h"

enum link_script {
	/* in {space} */
	SCRIPT_SPACE_CREATE,
	SCRIPT_SPACE_READ,
	SCRIPT_GRANT,
	SCRIPT_RAISE_CURSOR,
	SCRIPT_KEY_READ,
	SCRIPT_KEY_RETIRE,
	SCRIPT_CONFIRM,
	SCRIPT_HAND_BACK,
	SCRIPT_LOCK_TAKE,
	SCRIPT_LOCK,
	SCRIPT_DUE,
	SCRIPT_UNOPENED,
	SCRIPT_SETTLE,
	SCRIPT_LEDGER,
	SCRIPT_LEDGER_PAGE,
	SCRIPT_COUNT,
	SCRIPT_HOLD,
	SCRIPT_RELEASE,
	SCRIPT_REPAIR,
	SCRIPT_MOVEMENT,
	/* in {space:block} */
	SCRIPT_OPEN,
	SCRIPT_CLOSE_OWN,
	SCRIPT_CREATE,
	SCRIPT_CLOSE,
	SCRIPT_CLOSE_LOST,
	SCRIPT_JUDGE_LINK,
	/* in the slot of a link, with a block or without */
	SCRIPT_RENEW,
	SCRIPT_EDIT,
	SCRIPT_EDIT_SMALL,
	SCRIPT_VISIT,
	SCRIPT_STANDALONE_CREATE,
	/* in {n} and in {key} */
	SCRIPT_NODE_LEASE,
	SCRIPT_IDEM_READ,
	SCRIPT_IDEM_WRITE,
	SCRIPT_IDEM_END,
	/* the key "domains" */
	SCRIPT_DOMAINS,
	/* in {account} */
	SCRIPT_QUOTA_TAKE,
	SCRIPT_QUOTA_GIVE,
	SCRIPT_URL_BLOCK,
	SCRIPT_URL_LET_GO,
	SCRIPT_COUNT_OF,
};

/* Fills all scripts: texts and sums. */
void link_scripts_init(struct redis_script scripts[SCRIPT_COUNT_OF]);

#endif
