/* Any bytes as the body of a new share, and as a share in Redis: it is refused
 * with a reason, or is one that is stored and read again as the same. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/shares/share_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_request(const struct share_request *r)
{
	const struct share *s = &r->share;
	size_t password = strlen(r->password);

	assert((*s->code != '\0') + (s->link_id != 0) <= 1);
	assert(json_is_object(s->filters));
	assert(json_object_size(s->filters) <= SHARE_FILTERS_MAX);
	assert(s->from < 0 || s->to < 0 || s->from < s->to);
	assert(!s->last_days || (s->from < 0 && s->to < 0));
	assert(!password || (password >= SHARE_PASSWORD_MIN &&
			     password <= SHARE_PASSWORD_MAX));
}

static void check_stored(const char *data, size_t size)
{
	struct error err = {0};
	struct share *share = share_parse(data, size, &err), *again;
	json_t *json;
	char *text;

	if (!share) {
		assert(err.code == ERROR_DAMAGED);
		return;
	}
	json = share_to_json(share);
	text = json ? json_dumps(json, 0) : NULL;
	assert(text);
	again = share_parse(text, strlen(text), &err);
	assert(again && !strcmp(again->id, share->id) &&
	       again->link_id == share->link_id &&
	       json_equal(again->filters, share->filters));
	share_free(again);
	share_free(share);
	json_decref(json);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct share_request r;
	struct error err = {0};
	char *copy = malloc(size + 1);

	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	if (share_request_parse(&r, (struct http_slice){copy, size},
				INT64_C(1796040000000), &err) == 0)
		check_request(&r);
	else
		assert(err.code == ERROR_INPUT && err.text[0]);
	share_request_release(&r);
	check_stored(copy, size);
	free(copy);
	return 0;
}
