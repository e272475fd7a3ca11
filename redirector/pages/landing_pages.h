/*
 * landing_pages.h - the present pages that open something for a visitor: the
 * built-in ones, or those of files, which can be read again while servers
 * answer with them.
 */
#ifndef REDIRECTOR_PAGES_LANDING_PAGES_H
#define REDIRECTOR_PAGES_LANDING_PAGES_H

#include <stdbool.h>

#include "common/error.h"
#include "common/versions.h"
#include "redirector/pages/page_template.h"
#include "redirector/redirector_config.h"

/* The kind of page that a target leads to. */
enum landing {
	LANDING_NONE, /* no page: a redirect to its URL */
	LANDING_APP,
	LANDING_MINI_PROGRAM,
	LANDINGS,
};

struct landing_pages;

/* Reads app_page_file and mini_program_page_file, or takes the built-in pages;
 * errors are those of page_template_load.  `settings` must outlive it. */
struct landing_pages *
landing_pages_new(const struct redirector_settings *settings,
		  struct error *err);
/* Called after all users have left.  NULL accepted. */
void landing_pages_free(struct landing_pages *p);

/* True if any page is a file. */
bool landing_pages_has_files(const struct landing_pages *p);

/* Reads the files again; on failure all former pages stay. */
int landing_pages_reload(struct landing_pages *p, struct error *err);

/* Zeroes `user` and makes it a user of these pages. */
void landing_pages_join(struct landing_pages *p, struct versions_user *user);

/* Returns the present page, valid until the user's next call or versions_leave;
 * `which` must not be LANDING_NONE. */
const struct page_template *landing_pages_use(struct versions_user *user,
					      enum landing which);

#endif
