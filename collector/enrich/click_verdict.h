/*
 * click_verdict.h - is a click a person's?  What the request says of itself
 * (common/agent/verdict.h), and what bursts say of it.
 */
#ifndef COLLECTOR_ENRICH_CLICK_VERDICT_H
#define COLLECTOR_ENRICH_CLICK_VERDICT_H

#include "collector/enrich/bursts.h"
#include "common/agent/verdict.h"
#include "schemas/click.pb-c.h"

enum {
	/* Counted up when rules change that are code.  Rules in a table or a
	 * file are hashed instead (reference.c). */
	VERDICT_VERSION = 3
};

struct verdict verdict_of_click(const Shortloop__Click *click,
				struct verdict by_user_agent);

/* Only clicks whose verdict bursts may change (verdict_leaves_open) make up
 * bursts, too. */
struct verdict verdict_of_burst(enum burst burst, struct verdict otherwise);

#endif
