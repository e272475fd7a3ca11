/* visit_click.h - a line of a log as the click that the redirector would have
 * reported. */
#ifndef COLLECTOR_TOOLS_IMPORT_VISIT_CLICK_H
#define COLLECTOR_TOOLS_IMPORT_VISIT_CLICK_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/tools/access_log/access_visit.h"
#include "common/arena.h"
#include "schemas/click.pb-c.h"

/* How a log's requests are to be understood. */
struct visit_rules {
	const char *path_prefix; /* "/": codes are the first segment behind */
	const char *domain;	 /* NULL: as the log says */
	const char *edge;
	bool pass_path;	   /* a path behind the code belongs to the visit */
	uint64_t event_id; /* upper half of ids; the lower is the offset */
};

enum visit_kind {
	VISIT_CLICK,
	VISIT_NO_REQUEST, /* nothing was asked that has a path */
	VISIT_ELSEWHERE,  /* the path does not begin with the prefix */
	VISIT_NO_CODE,	  /* it is none that the redirector takes for a code */
	VISIT_NO_MEMORY,
};

/*
 * Fills *ret_click, whose texts are copied into the arena; the link is left
 * out.  A code is what the redirector would read as one
 * (codespace/path_code.h).  Outcomes follow the status: answers and redirects
 * of GET are visits, of HEAD none; 404, 410 and 451 say what they say to the
 * redirector; whatever else is unspecified.
 */
enum visit_kind visit_click(const struct access_visit *visit,
			    const struct visit_rules *rules, uint64_t offset,
			    struct arena *arena, Shortloop__Click *ret_click);

#endif
