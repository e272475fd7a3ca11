#include "linkstore/scripts.h"

/*
 * A Redis that has reached its maxmemory refuses scripts that may take more of
 * it.  The scripts with this flag end, renew or move things, or add a bounded
 * amount, so they run even then.  Otherwise a link could not be blocked, and
 * would end although it is visited, while Redis is full.  All others are
 * refused then.  (Redis 7.0)
 */
#define WHEN_FULL "#!lua flags=allow-oom\n"

/* A script consists of the texts that it shares with others, then its own. */
/* clang-format off */
static const char space_create[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/lib_check.lua.inc"
#include "linkstore/scripts/lib_space.lua.inc"
#include "linkstore/scripts/space_create.lua.inc"
;
static const char space_read[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/space_read.lua.inc"
;
static const char grant[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/lib_check.lua.inc"
#include "linkstore/scripts/lib_space.lua.inc"
#include "linkstore/scripts/grant.lua.inc"
;
static const char raise_cursor[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/lib_check.lua.inc"
#include "linkstore/scripts/lib_space.lua.inc"
#include "linkstore/scripts/raise_cursor.lua.inc"
;
static const char key_read[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/key_read.lua.inc"
;
static const char key_retire[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/lib_check.lua.inc"
#include "linkstore/scripts/lib_space.lua.inc"
#include "linkstore/scripts/key_retire.lua.inc"
;
static const char confirm[] =
	WHEN_FULL
#include "linkstore/scripts/lib_check.lua.inc"
#include "linkstore/scripts/confirm.lua.inc"
;
static const char hand_back[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/lib_check.lua.inc"
#include "linkstore/scripts/hand_back.lua.inc"
;
static const char lock_take[] =
	WHEN_FULL
#include "linkstore/scripts/lock_take.lua.inc"
;
static const char lock[] =
	WHEN_FULL
#include "linkstore/scripts/lock.lua.inc"
;
static const char due[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/due.lua.inc"
;
static const char unopened[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/lib_check.lua.inc"
#include "linkstore/scripts/lib_space.lua.inc"
#include "linkstore/scripts/unopened.lua.inc"
;
static const char settle[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/lib_check.lua.inc"
#include "linkstore/scripts/lib_space.lua.inc"
#include "linkstore/scripts/settle.lua.inc"
;
static const char ledger[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/ledger.lua.inc"
;
static const char ledger_page[] =
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/ledger_page.lua.inc"
;
static const char count[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/count.lua.inc"
;
static const char hold[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/lib_hold.lua.inc"
#include "linkstore/scripts/lib_check.lua.inc"
#include "linkstore/scripts/hold.lua.inc"
;
static const char release[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/lib_hold.lua.inc"
#include "linkstore/scripts/lib_check.lua.inc"
#include "linkstore/scripts/release.lua.inc"
;
static const char repair[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/lib_hold.lua.inc"
#include "linkstore/scripts/lib_check.lua.inc"
#include "linkstore/scripts/repair.lua.inc"
;
static const char movement[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/movement.lua.inc"
;
static const char open[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_marker.lua.inc"
#include "linkstore/scripts/open.lua.inc"
;
static const char close_own[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_marker.lua.inc"
#include "linkstore/scripts/close_own.lua.inc"
;
static const char create[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_marker.lua.inc"
#include "linkstore/scripts/create.lua.inc"
;
static const char renew[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_marker.lua.inc"
#include "linkstore/scripts/lib_record.lua.inc"
#include "linkstore/scripts/renew.lua.inc"
;
static const char edit[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_marker.lua.inc"
#include "linkstore/scripts/lib_record.lua.inc"
#include "linkstore/scripts/edit.lua.inc"
;
/* The same, for a change that does not make the record longer: see edit.c. */
static const char edit_small[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_marker.lua.inc"
#include "linkstore/scripts/lib_record.lua.inc"
#include "linkstore/scripts/edit.lua.inc"
;
static const char visit[] =
	WHEN_FULL
#include "linkstore/scripts/lib_record.lua.inc"
#include "linkstore/scripts/visit.lua.inc"
;
static const char close[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/close.lua.inc"
;
static const char close_lost[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_marker.lua.inc"
#include "linkstore/scripts/close_lost.lua.inc"
;
static const char judge_link[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_record.lua.inc"
#include "linkstore/scripts/judge_link.lua.inc"
;
static const char standalone_create[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_record.lua.inc"
#include "linkstore/scripts/standalone_create.lua.inc"
;
static const char node_lease[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/node_lease.lua.inc"
;
static const char idem_read[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/idem_read.lua.inc"
;
static const char idem_write[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/idem_write.lua.inc"
;
static const char idem_end[] =
	WHEN_FULL
#include "linkstore/scripts/idem_end.lua.inc"
;
static const char domains[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_check.lua.inc"
#include "linkstore/scripts/domains.lua.inc"
;
static const char quota_take[] =
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_range.lua.inc"
#include "linkstore/scripts/quota_take.lua.inc"
;
static const char quota_give[] =
	WHEN_FULL
#include "linkstore/scripts/quota_give.lua.inc"
;
static const char url_block[] =
	WHEN_FULL
#include "linkstore/scripts/lib_time.lua.inc"
#include "linkstore/scripts/lib_blocked.lua.inc"
#include "linkstore/scripts/url_block.lua.inc"
;
static const char url_let_go[] =
	WHEN_FULL
#include "linkstore/scripts/lib_blocked.lua.inc"
#include "linkstore/scripts/url_let_go.lua.inc"
;
/* clang-format on */

void link_scripts_init(struct redis_script scripts[SCRIPT_COUNT_OF])
{
	static const char *const texts[SCRIPT_COUNT_OF] = {
		[SCRIPT_SPACE_CREATE] = space_create,
		[SCRIPT_SPACE_READ] = space_read,
		[SCRIPT_GRANT] = grant,
		[SCRIPT_RAISE_CURSOR] = raise_cursor,
		[SCRIPT_KEY_READ] = key_read,
		[SCRIPT_KEY_RETIRE] = key_retire,
		[SCRIPT_CONFIRM] = confirm,
		[SCRIPT_HAND_BACK] = hand_back,
		[SCRIPT_LOCK_TAKE] = lock_take,
		[SCRIPT_LOCK] = lock,
		[SCRIPT_DUE] = due,
		[SCRIPT_UNOPENED] = unopened,
		[SCRIPT_SETTLE] = settle,
		[SCRIPT_LEDGER] = ledger,
		[SCRIPT_LEDGER_PAGE] = ledger_page,
		[SCRIPT_COUNT] = count,
		[SCRIPT_HOLD] = hold,
		[SCRIPT_RELEASE] = release,
		[SCRIPT_REPAIR] = repair,
		[SCRIPT_MOVEMENT] = movement,
		[SCRIPT_OPEN] = open,
		[SCRIPT_CLOSE_OWN] = close_own,
		[SCRIPT_CREATE] = create,
		[SCRIPT_RENEW] = renew,
		[SCRIPT_CLOSE] = close,
		[SCRIPT_CLOSE_LOST] = close_lost,
		[SCRIPT_JUDGE_LINK] = judge_link,
		[SCRIPT_EDIT] = edit,
		[SCRIPT_EDIT_SMALL] = edit_small,
		[SCRIPT_VISIT] = visit,
		[SCRIPT_STANDALONE_CREATE] = standalone_create,
		[SCRIPT_NODE_LEASE] = node_lease,
		[SCRIPT_IDEM_READ] = idem_read,
		[SCRIPT_IDEM_WRITE] = idem_write,
		[SCRIPT_IDEM_END] = idem_end,
		[SCRIPT_DOMAINS] = domains,
		[SCRIPT_QUOTA_TAKE] = quota_take,
		[SCRIPT_QUOTA_GIVE] = quota_give,
		[SCRIPT_URL_BLOCK] = url_block,
		[SCRIPT_URL_LET_GO] = url_let_go,
	};

	for (int i = 0; i < SCRIPT_COUNT_OF; i++)
		redis_script_init(&scripts[i], texts[i]);
}
