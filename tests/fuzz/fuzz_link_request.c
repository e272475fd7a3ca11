/* Whatever is sent as a link: it is read or refused with a reason, and what is
 * read keeps its promises. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/link/link_request.h"
#include "allocator/api/link_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct link_defaults *some_defaults(void)
{
	static char class_name[] = "10d", *classes[] = {class_name};
	static char secret[] = "0123456789abcdef", name[] = "s7",
		    strategy[] = "sequence";
	static struct links_key_config key = {.key = secret};
	static struct links_space_config space = {
		.name = name,
		.number = 1,
		.length = 7,
		.strategy = strategy,
		.block_size = 1000,
		.keys = {&key, 1},
	};
	static const struct links_config config = {
		.ttl_classes = {classes, 1},
		.grant_blocks = 1,
		.spaces = {&space, 1},
	};
	static struct link_defaults defaults;
	struct error err = {0};

	if (!defaults.rules.store) {
		defaults.rules.store = linkstore_new(&config, &err);
		if (!defaults.rules.store)
			abort();
		defaults.space = linkstore_space(defaults.rules.store, 0);
		defaults.ttl = linkstore_class(defaults.rules.store, 0);
	}
	return &defaults;
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
