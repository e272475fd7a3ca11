/* Whatever is sent as a link: it is read or refused with a reason, and what is
 * read keeps its promises. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/link/link_request.h"
#include "tests/unit/allocator/link_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct link_defaults *some_defaults(void)
{
	static struct link_world world;
	struct error err = {0};

	if (!world.store && link_world_open(&world, &err) < 0)
		abort();
	return &world.defaults;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_slice body = {(const char *)data, size};
	struct link_request request;
	struct error err = {0};

	if (link_request_parse(&request, some_defaults(), body, &err) < 0) {
		assert(err.code == ERROR_INPUT && err.text[0]);
	} else {
		assert(request.fields.ttl && request.fields.space);
		assert(strlen(request.fields.url) <= LINK_URL_MAX);
		assert(strlen(request.fields.owner) <= LINK_TEXT_MAX);
		assert(request.fields.tag_count <= LINK_TAGS_MAX);
	}
	link_request_release(&request);
	return 0;
}
