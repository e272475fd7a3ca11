/*
 * Any bytes as a record of the topic of live events: they are refused, or sent
 * as one server-sent event of three lines and a blank one, whose data is an
 * object of texts.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/live/live_event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the text from after `prefix` to the end of the line, and moves *at
 * beyond the line. */
static const char *take_line(const char **at, const char *end,
			     const char *prefix, size_t *ret_len)
{
	size_t len = strlen(prefix);
	const char *start = *at, *stop;

	if ((size_t)(end - start) < len || memcmp(start, prefix, len) != 0)
		abort();
	start += len;
	stop = memchr(start, '\n', (size_t)(end - start));
	if (!stop || memchr(start, '\r', (size_t)(stop - start)))
		abort();
	*ret_len = (size_t)(stop - start);
	*at = stop + 1;
	return start;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {0};
	struct live_event *e = live_event_parse(data, size, &err);
	const char *at, *end, *text;
	json_t *object;
	size_t len;

	if (!e) {
		if (err.code != ERROR_INPUT)
			abort();
		return 0;
	}
	at = e->text;
	end = at + e->len;
	take_line(&at, end, "event: click", &len);
	if (len)
		abort();
	take_line(&at, end, "id: ", &len);
	text = take_line(&at, end, "data: ", &len);
	object = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(object) || json_object_size(object) > 16)
		abort();
	json_decref(object);
	take_line(&at, end, "", &len);
	if (len || at != end)
		abort();
	live_event_release(e);
	return 0;
}
