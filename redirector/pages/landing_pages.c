#include "redirector/pages/landing_pages.h"

#include <stdlib.h>

/* clang-format off */
static const char app_page[] =
#include "redirector/pages/app.html.inc"
;
static const char mini_program_page[] =
#include "redirector/pages/mini_program.html.inc"
;
/* clang-format on */

static const struct http_slice ours[LANDINGS] = {
	[LANDING_APP] = {app_page, sizeof(app_page) - 1},
	[LANDING_MINI_PROGRAM] = {mini_program_page,
				  sizeof(mini_program_page) - 1},
};

struct page_set {
	struct page_template *pages[LANDINGS]; /* LANDING_NONE has none */
};

static void free_set(void *value)
{
	struct page_set *set = value;

	for (int i = 0; i < LANDINGS; i++)
		page_template_free(set->pages[i]);
	free(set);
}

/* Returns the file of the page; NULL: the built-in page. */
static const char *page_path(const struct redirector_settings *settings,
			     enum landing which)
{
	return which == LANDING_APP ? settings->app_page_file
				    : settings->mini_program_page_file;
}

static void *load_set(const void *settings, struct error *err)
{
	struct page_set *set = calloc(1, sizeof(*set));

	if (!set) {
		error_set_nomem(err);
		return NULL;
	}
	for (enum landing i = LANDING_APP; i < LANDINGS; i++) {
		const char *path = page_path(settings, i);

		set->pages[i] =
			path ? page_template_load(path, err)
			     : page_template_new("our own page", ours[i], err);
		if (!set->pages[i]) {
			free_set(set);
			return NULL;
		}
	}
	return set;
}

static bool any_page_is_file(const void *settings)
{
	return page_path(settings, LANDING_APP) ||
	       page_path(settings, LANDING_MINI_PROGRAM);
}

const struct reloadable_kind landing_pages_kind = {
	.what = "landing pages",
	.load = load_set,
	.free = free_set,
	.has_file = any_page_is_file,
};

const struct page_template *landing_pages_use(struct versions_user *user,
					      enum landing which)
{
	const struct page_set *set = versions_use(user);

	return set->pages[which];
}
