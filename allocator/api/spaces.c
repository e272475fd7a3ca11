/* GET /v1/spaces and /v1/spaces/{name}: the ledger as of its last reading. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/handlers.h"
#include "allocator/ledger/ledger_watch.h"
#include "common/keys/key_access.h"

/* Answers with `root`, and releases it. */
static void reply_json(struct http_request *req, json_t *root)
{
	static const struct http_field fields[] = {
		{"Content-Type", "application/json"},
		{"Cache-Control", "no-store"},
		{0}};
	char *text =
		root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(12))
		     : NULL;

	json_decref(root);
	if (text)
		http_reply(req, 200, fields, text, strlen(text));
	else
		http_reply_problem(req, 500, NULL, "out of memory");
	free(text);
}

/* Returns the entries; the caller frees them.  Returns NULL if there are none;
 * the request has been answered then. */
static struct ledger_entry *read_entries(const struct api_call *call,
					 size_t *ret_count)
{
	const struct linkstore *store = call->api->defaults->rules.store;
	size_t count = linkstore_space_count(store);
	struct ledger_entry *entries;
	struct error err = {0};

	*ret_count = count;
	entries = calloc(count, sizeof(*entries));
	if (!entries) {
		http_reply_problem(call->req, 500, NULL, "out of memory");
		return NULL;
	}
	if (ledger_watch_copy(call->api->ledger, entries, &err) == 0)
		return entries;
	api_reply_failure(call->api, call->req, &err);
	free(entries);
	return NULL;
}

void handle_spaces(const struct api_call *call)
{
	size_t count;
	struct ledger_entry *entries = read_entries(call, &count);

	if (entries)
		reply_json(call->req, ledger_json(entries, count));
	free(entries);
}

static const struct ledger_entry *entry_named(const struct ledger_entry *list,
					      size_t count,
					      struct http_slice name)
{
	for (size_t i = 0; i < count; i++) {
		if (http_slice_is(name, list[i].space->name))
			return &list[i];
	}
	return NULL;
}

void handle_space(const struct api_call *call)
{
	size_t count;
	struct ledger_entry *entries = read_entries(call, &count);
	const struct ledger_entry *entry;

	if (!entries)
		return;
	entry = entry_named(entries, count, call->name);
	if (entry)
		reply_json(call->req, ledger_entry_json(entry));
	else
		http_reply_problem(call->req, 404, NULL,
				   "there is no space of this name; GET "
				   "/v1/spaces lists them");
	free(entries);
}
