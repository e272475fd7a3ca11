/* device_class.h - what kind of thing a visitor holds. */
#ifndef COLLECTOR_ENRICH_DEVICE_CLASS_H
#define COLLECTOR_ENRICH_DEVICE_CLASS_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/enrich/ua/ua.h"

/*
 * ua_parse, and what the table of devices (common/agent/device.h) knows beyond
 * the rules: systems that they take for others or do not know, so that a click
 * has the system whose target its visitor got.  The model "K" of Chrome's
 * agents, which is everybody's, is none.  A system that is not by a rule has no
 * rule (ua_rule_of).
 */
int device_parse(struct ua_parser *parser, const char *text, size_t len,
		 struct ua_result *result, struct error *err);

/*
 * desktop | mobile | tablet | tv | console | wearable | other, from what
 * device_parse found and from the words that makers put into user agents.
 */
const char *device_class(const struct ua_result *ua, const char *text,
			 size_t len);

/* Do the rules know the device: a phone, a tablet, a television?  Apple's do
 * not count, since every program on them is called by the system's name; nor do
 * generic ones, which are guessed from words. */
bool device_is_held(const struct ua_result *ua);

#endif
