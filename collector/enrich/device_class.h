/* device_class.h - what kind of thing a visitor holds. */
#ifndef COLLECTOR_ENRICH_DEVICE_CLASS_H
#define COLLECTOR_ENRICH_DEVICE_CLASS_H

#include <stddef.h>

#include "collector/ua/ua.h"

/*
 * desktop | mobile | tablet | tv | console | wearable | robot | other, from
 * what the rules found and from the words that makers put into user agents.
 */
const char *device_class(const struct ua_result *ua, const char *text,
			 size_t len);

#endif
