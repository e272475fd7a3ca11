/*
 * Any bytes as the record of a link in Redis: it is damaged, or the redirector
 * makes an answer in which nothing breaks out of its header line, and the
 * allocator shows, audits and edits it.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "allocator/audit/audit_line.h"
#include "allocator/link/link_view.h"
#include "common/clock.h"
#include "linkstore/link/edit.h"
#include "redirector/visit/cache_entry.h"
#include "tests/unit/allocator/link_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Expects "Location: ...", and at most two lines of ours. */
static void check_lines(const struct cached_link *link)
{
	const char *at = link->lines.data, *end = at + link->lines.len;
	size_t lines = 0;

	for (; at < end; at++) {
		if ((unsigned char)*at >= ' ' && *at != 0x7f)
			continue;
		assert(end - at >= 2 && at[0] == '\r' && at[1] == '\n');
		at++;
		lines++;
	}
	assert(lines >= 1 && lines <= 3 * DEVICES);
	assert(!memcmp(link->lines.data, "Location: ", 10));
}

static void build_cache_entries(const struct link_world *w,
				const Shortloop__Link *link)
{
	static const enum link_outcome outcomes[] = {
		LINK_OUTCOME_REDIRECT, LINK_OUTCOME_GONE, LINK_OUTCOME_BLOCKED,
		LINK_OUTCOME_PAUSED};
	struct cache_entry_builder d = {.store = w->store,
					.times = {1000, 100, 5000}};
	struct link_answer answer = {.link = link, .ttl_left = 10000};
	const struct link_target target = {
		.space = linkstore_space(w->store, 0), .code = "kYq3ZtB"};
	struct cached_link out;
	struct error err = {0};

	for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
		answer.outcome = outcomes[i];
		if (cache_entry_build(&d, &target, &answer, 0, 1, &out, &err) <
		    0)
			assert(err.code == ERROR_PROTOCOL);
		else if (out.outcome == LINK_OUTCOME_REDIRECT)
			check_lines(&out);
	}
	cache_entry_builder_release(&d);
}

static void show_and_audit_link(const struct link_world *w,
				const Shortloop__Link *link)
{
	const struct link_view view = {
		.base_url = link_view_base_url(&w->defaults.rules, link),
		.space = "s7",
		.code = "kYq3ZtB",
		.link = link,
		.expires = DURATION_NEVER};
	const struct audit_source source = {.key = "crm"};
	Shortloop__Link after;
	const struct audit_entry entry = {&source, "s7", "kYq3ZtB", link,
					  &after};
	struct buf text = {0};

	link_view_write(&view, &text);
	assert(!memchr(text.data, '\n', text.len));
	buf_reset(&text);
	link_edit_delete(link, 1, &after);
	assert(after.link_id == link->link_id);
	audit_line_write(AUDIT_DELETED, &entry, 1, &text);
	assert(memchr(text.data, '\n', text.len) == text.data + text.len - 1);
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct link_world *w = link_world_lasting();
	Shortloop__Link *link = shortloop__link__unpack(NULL, size, data);

	if (!link)
		return 0;
	build_cache_entries(w, link);
	show_and_audit_link(w, link);
	shortloop__link__free_unpacked(link, NULL);
	return 0;
}
