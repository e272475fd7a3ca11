/*
 * click_verdict.h - the verdict of a click: from the request itself
 * (common/agent/verdict.h), and from bursts.
 */
#ifndef COLLECTOR_ENRICH_CLICK_VERDICT_H
#define COLLECTOR_ENRICH_CLICK_VERDICT_H

#include "collector/enrich/bursts.h"
#include "common/agent/verdict.h"
#include "schemas/click.pb-c.h"

enum {
	/* Raise it when rules that are code change.  Rules in a table or a file
	 * are hashed instead (reference.c). */
	VERDICT_VERSION = 3
};

struct verdict verdict_of_click(const Shortloop__Click *click,
				struct verdict by_user_agent);

/* Only clicks whose verdict a burst may change (verdict_leaves_open) count for
 * bursts. */
struct verdict verdict_of_burst(enum burst burst, struct verdict otherwise);

#endif
