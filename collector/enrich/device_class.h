/* device_class.h - what kind of thing a visitor holds. */
#ifndef COLLECTOR_ENRICH_DEVICE_CLASS_H
#define COLLECTOR_ENRICH_DEVICE_CLASS_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/enrich/ua/ua.h"

/*
 * desktop | mobile | tablet | tv | console | wearable | other, from what the
 * rules found and from the words that makers put into user agents.
 */
const char *device_class(const struct ua_result *ua, const char *text,
			 size_t len);

/* Do the rules know the device: a phone, a tablet, a television?  Apple's do
 * not count, since every program on them is called by the system's name; nor do
 * generic ones, which are guessed from words. */
bool device_is_held(const struct ua_result *ua);

#endif
