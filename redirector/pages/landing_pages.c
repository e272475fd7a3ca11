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

struct landing_pages {
	const char *paths[LANDINGS]; /* NULL: the built-in page */
	struct versions *sets;
};

static void set_free(void *value)
{
	struct page_set *set = value;

	for (int i = 0; i < LANDINGS; i++)
		page_template_free(set->pages[i]);
	free(set);
}

static struct page_set *set_new(const struct landing_pages *p,
				struct error *err)
{
	struct page_set *set = calloc(1, sizeof(*set));

	if (!set) {
		error_set_nomem(err);
		return NULL;
	}
	for (int i = LANDING_APP; i < LANDINGS; i++) {
		set->pages[i] = p->paths[i]
					? page_template_load(p->paths[i], err)
					: page_template_new("our own page",
							    ours[i], err);
		if (!set->pages[i]) {
			set_free(set);
			return NULL;
		}
	}
	return set;
}

struct landing_pages *
landing_pages_new(const struct redirector_settings *settings, struct error *err)
{
	struct landing_pages *p = calloc(1, sizeof(*p));
	struct page_set *first;

	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	p->paths[LANDING_APP] = settings->app_page_file;
	p->paths[LANDING_MINI_PROGRAM] = settings->mini_program_page_file;
	first = set_new(p, err);
	if (first)
		p->sets = versions_new(first, set_free, err);
	if (p->sets)
		return p;
	free(p);
	return NULL;
}

void landing_pages_free(struct landing_pages *p)
{
	if (!p)
		return;
	versions_free(p->sets);
	free(p);
}

bool landing_pages_has_files(const struct landing_pages *p)
{
	for (int i = 0; i < LANDINGS; i++) {
		if (p->paths[i])
			return true;
	}
	return false;
}

int landing_pages_reload(struct landing_pages *p, struct error *err)
{
	struct page_set *fresh = set_new(p, err);

	return fresh ? versions_replace(p->sets, fresh, err) : -1;
}

void landing_pages_join(struct landing_pages *p, struct versions_user *user)
{
	*user = (struct versions_user){.of = p->sets};
}

const struct page_template *landing_pages_use(struct versions_user *user,
					      enum landing which)
{
	const struct page_set *set = versions_use(user);

	return set->pages[which];
}
