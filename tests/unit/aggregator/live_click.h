/* live_click.h - a click in the format of the topic kafka.topic_live. */
#ifndef TESTS_UNIT_AGGREGATOR_LIVE_CLICK_H
#define TESTS_UNIT_AGGREGATOR_LIVE_CLICK_H

#include "tests/unit/unit.h"

#include <inttypes.h>
#include <string.h>

#include "aggregator/api/live/live_event.h"

#define LIVE_CLICK_TEXT_MAX 400

/* Returns `text`. */
static inline const char *live_click_write(uint64_t link_id, const char *owner,
					   char text[LIVE_CLICK_TEXT_MAX])
{
	snprintf(text, LIVE_CLICK_TEXT_MAX,
		 "{\"id\":\"01234567-89ab-cdef-0000-00000000002a\","
		 "\"link_id\":\"%" PRIu64 "\",\"ts\":\"\",\"code\":\"\","
		 "\"domain\":\"\",\"account\":\"acme\",\"owner\":\"%s\","
		 "\"country\":\"\","
		 "\"verdict\":\"\",\"human\":true}",
		 link_id, owner);
	return text;
}

static inline struct live_event *live_click_make(uint64_t link_id,
						 const char *owner)
{
	char text[LIVE_CLICK_TEXT_MAX];
	struct error err = {0};
	struct live_event *e;

	live_click_write(link_id, owner, text);
	e = live_event_parse(text, strlen(text), &err);
	if (!e)
		fail_msg("%s", err.text);
	return e;
}

#endif
