/* visit_click.h - turns a line of a log into the click that the redirector
 * would have reported. */
#ifndef COLLECTOR_TOOLS_IMPORT_VISIT_CLICK_H
#define COLLECTOR_TOOLS_IMPORT_VISIT_CLICK_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/tools/access_log/access_visit.h"
#include "common/arena.h"
#include "schemas/click.pb-c.h"

/* The rules for reading a log's requests. */
struct visit_rules {
	/* Codes are the next segment; "/" by default. */
	const char *path_prefix;
	const char *domain; /* NULL: from the log */
	const char *edge;
	bool pass_path;	   /* a path after the code belongs to the visit */
	uint64_t event_id; /* upper half of ids; the lower half is the offset */
};

enum visit_kind {
	VISIT_CLICK,
	VISIT_NO_REQUEST, /* the request has no path */
	VISIT_ELSEWHERE,  /* the path does not begin with the prefix */
	VISIT_NO_CODE,	  /* the redirector would not take it for a code */
	VISIT_NO_MEMORY,
};

/*
 * Fills *ret_click, whose texts are copied into the arena; the link is left
 * out.  The redirector's rules decide what a code is (codespace/path_code.h).
 * Outcomes follow the status: answers and redirects of GET are visits, of HEAD
 * none; 404, 410 and 451 have the redirector's meaning; any other status is
 * unspecified.
 */
enum visit_kind visit_click(const struct access_visit *visit,
			    const struct visit_rules *rules, uint64_t offset,
			    struct arena *arena, Shortloop__Click *ret_click);

#endif
