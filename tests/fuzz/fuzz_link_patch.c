/* Any bytes as an edit: it is refused with a reason, or makes a link that can
 * be stored, read back and shown. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "allocator/link/link_patch.h"
#include "allocator/link/link_view.h"
#include "common/clock.h"
#include "common/drop_const.h"
#include "linkstore/link/edit.h"
#include "linkstore/link/link_copy.h"
#include "tests/unit/allocator/link_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_shown(const Shortloop__Link *link)
{
	const struct link_view view = {"https://sho.rt", "s7", "kYq3ZtB", link,
				       DURATION_NEVER};
	struct buf text = {0};
	json_error_t why;
	json_t *shown;

	link_view_write(&view, &text);
	assert(!text.failed && !memchr(text.data, '\n', text.len));
	shown = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, &why);
	assert(shown);
	assert(!strcmp(json_string_value(json_object_get(shown, "url")),
		       link->url));
	json_decref(shown);
	buf_free(&text);
}

static void edit_link(const struct link_patch *patch)
{
	Shortloop__Target wechat, *targets[] = {&wechat};
	char *tags[] = {drop_const("a"), drop_const("b")};
	Shortloop__Link before, after, *stored;
	struct error err = {0};

	shortloop__target__init(&wechat);
	wechat.device = SHORTLOOP__DEVICE__DEVICE_WECHAT;
	wechat.url = drop_const("https://wechat.example/");
	shortloop__link__init(&before);
	before.link_id = 7;
	before.version = 1;
	before.url = drop_const("https://a.example/");
	before.targets = targets;
	before.n_targets = 1;
	before.tags = tags;
	before.n_tags = 2;
	if (link_patch_apply(patch, &before, &after, &err) < 0) {
		assert(err.code == ERROR_INPUT && err.text[0]);
		return;
	}
	link_edit_prepare(&before, patch->fields.ttl, &after);
	assert(after.link_id == 7 && after.version == 2);
	assert(*after.url && strlen(after.url) <= LINK_URL_MAX);
	assert(after.n_targets <= LINK_TARGETS_MAX);
	assert(after.state != SHORTLOOP__LINK_STATE__LINK_DELETED);
	stored = link_copy(&after);
	assert(stored);
	check_shown(stored);
	shortloop__link__free_unpacked(stored, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_slice body = {(const char *)data, size};
	struct link_patch patch;
	struct error err = {0};

	if (link_patch_parse(&patch, &link_world_lasting()->defaults.rules,
			     body, &err) < 0)
		assert(err.code == ERROR_INPUT && err.text[0]);
	else
		edit_link(&patch);
	link_patch_release(&patch);
	return 0;
}
