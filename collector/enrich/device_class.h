/* device_class.h - the class of a visitor's device. */
#ifndef COLLECTOR_ENRICH_DEVICE_CLASS_H
#define COLLECTOR_ENRICH_DEVICE_CLASS_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/enrich/ua/ua.h"

/*
 * Runs ua_parse, then applies what the table of devices (common/agent/device.h)
 * knows beyond the rules: systems that the rules mistake or do not know, so
 * that a click has the system whose target its visitor got.  The model "K",
 * which all of Chrome's reduced agents have, is dropped.  A system that no rule
 * found has no rule (ua_rule_of).
 */
int device_parse(struct ua_parser *parser, const char *text, size_t len,
		 struct ua_result *result, struct error *err);

/*
 * Returns desktop | mobile | tablet | tv | console | wearable | other, from the
 * result of device_parse and from the words that makers put into user agents.
 */
const char *device_class(const struct ua_result *ua, const char *text,
			 size_t len);

/* Returns whether the rules know the device: a phone, a tablet, a television.
 * Apple's devices do not count, since every program on them has the system's
 * name; generic devices, which are guessed from words, do not count either. */
bool device_is_held(const struct ua_result *ua);

#endif
