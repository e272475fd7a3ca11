/* Any bytes as a new link: it is read or refused with a reason, and what is
 * read is within its limits. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "allocator/link/link_request.h"
#include "tests/unit/allocator/link_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A page opens only schemes that link_world lists, or a URL Link; a redirector
 * without pages redirects to https. */
static void check_target(const Shortloop__Target *target)
{
	assert(strlen(target->url) <= LINK_URL_MAX && *target->url);
	if (*target->app)
		assert(!strncmp(target->app, "myapp:", 6) ||
		       !strncmp(target->app, "weixin:", 7));
	if (*target->mini_program)
		assert(!strncmp(target->mini_program, "myapp:", 6) ||
		       !strncmp(target->mini_program, "weixin:", 7) ||
		       !strncmp(target->mini_program, "https://", 8));
	assert(!*target->app || !*target->mini_program);
	if (*target->app || *target->mini_program)
		assert(!strncmp(target->url, "https://", 8));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_slice body = {(const char *)data, size};
	/* The first byte selects the caller. */
	const struct api_key_info caller = {
		.account = "crm",
		.roles = size && (data[0] & 1) ? API_ADMIN : API_CREATE};
	struct link_request request;
	struct error err = {0};

	if (link_request_parse(&request, &link_world_lasting()->defaults,
			       &caller, body, &err) < 0) {
		assert(err.text[0]);
		assert(err.code == ERROR_INPUT ||
		       (err.code == ERROR_NOT_OWNER &&
			!(caller.roles & API_ADMIN)));
	} else {
		assert(request.fields.ttl && request.fields.space);
		assert(strlen(request.fields.url) <= LINK_URL_MAX);
		assert(strlen(request.fields.owner) <= LINK_TEXT_MAX);
		assert(request.fields.tag_count <= LINK_TAGS_MAX);
		for (size_t i = 0; i < request.fields.target_count; i++)
			check_target(request.fields.target_list[i]);
	}
	link_request_release(&request);
	return 0;
}
