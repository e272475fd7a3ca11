/* Any bytes as the query string of a list of links, and as its cursor: an
 * accepted cursor leads to a place that the list has, and is written as it was
 * read. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "aggregator/api/links/links_query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_place(const struct links_query *q,
			const struct links_place *place)
{
	static const enum links_sort sorts[] = {
		[LINKS_BY_CREATION] = LINKS_SORT_CREATED,
		[LINKS_CLICKED] = LINKS_SORT_CLICKS,
		[LINKS_UNCLICKED] = LINKS_SORT_CLICKS,
		[LINKS_ENDLESS] = LINKS_SORT_ENDS,
		[LINKS_ENDING] = LINKS_SORT_ENDS,
	};

	assert(place->part <= LINKS_ENDING);
	assert(sorts[place->part] == q->sort);
	assert(place->part == LINKS_CLICKED ||
	       place->number <= LINKS_LATEST_MS);
	assert(place->until_day <= UINT16_MAX);
	assert(place->until_slot <=
	       place->until_day * LINKS_DAY_SLOTS + LINKS_SLOTS_MAX);
}

static void try_cursor(const struct links_query *q, const char *text)
{
	struct links_place place;
	struct error err = {0};
	struct buf again = {0};

	if (links_cursor_parse(q, text, &place, &err) < 0) {
		assert(err.code == ERROR_INPUT && err.text[0]);
		return;
	}
	check_place(q, &place);
	links_cursor_put(&again, q, &place);
	assert(buf_cstr(&again) && !strcasecmp(again.data, text));
	buf_free(&again);
}

/* Tries a place of any bytes with a correct digest. */
static void try_place(const struct links_query *q, const uint8_t *data,
		      size_t size)
{
	struct links_place place = {0};
	struct buf text = {0};

	if (size < 25)
		return;
	place.part = (enum links_part)(data[0] % 6);
	memcpy(&place.number, data + 1, 8);
	memcpy(&place.link_id, data + 9, 8);
	memcpy(&place.until_day, data + 17, 4);
	memcpy(&place.until_slot, data + 21, 4);
	links_cursor_put(&text, q, &place);
	assert(buf_cstr(&text));
	try_cursor(q, text.data);
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char zoneinfo[] = "/usr/share/zoneinfo";
	static const struct aggregator_settings settings = {
		.groups_max = 1000, .zoneinfo = zoneinfo};
	struct links_query q;
	struct error err = {0};
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (links_query_parse(&q, (struct http_slice){text, size}, &settings,
			      &err) == 0) {
		assert(q.limit >= 1 && q.limit <= 1000);
		check_place(&q, &q.at);
	} else {
		assert(err.code == ERROR_INPUT && err.text[0]);
	}
	links_query_release(&q);
	links_query_parse(&q, (struct http_slice){"sort=clicks", size % 2 * 11},
			  &settings, &err);
	try_cursor(&q, text);
	try_place(&q, data, size);
	links_query_release(&q);
	free(text);
	return 0;
}
