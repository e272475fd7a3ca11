/*
 * landing_pages.h - the pages that open something for a visitor, as they are
 * now: ours, or those of files, which are read again while servers answer with
 * them.
 */
#ifndef REDIRECTOR_LANDING_PAGES_H
#define REDIRECTOR_LANDING_PAGES_H

#include <stdbool.h>

#include "common/error.h"
#include "common/versions.h"
#include "redirector/page_template.h"
#include "redirector/redirector_config.h"

/* What a target leads to. */
enum landing {
	LANDING_NONE, /* its URL, by a redirect */
	LANDING_APP,
	LANDING_MINI_PROGRAM,
	LANDINGS,
};

struct landing_pages;

/* Reads app_page_file and mini_program_page_file, or takes ours: errors as of
 * page_template_load.  `settings` must outlive it. */
struct landing_pages *
landing_pages_new(const struct redirector_settings *settings,
		  struct error *err);
/* After all users have left.  NULL accepted. */
void landing_pages_free(struct landing_pages *p);

/* Is any of them a file? */
bool landing_pages_has_files(const struct landing_pages *p);

/* Reads the files again; on failure all pages before stay. */
int landing_pages_reload(struct landing_pages *p, struct error *err);

/* Zeroes `user` and makes it one of these pages. */
void landing_pages_join(struct landing_pages *p, struct versions_user *user);

/* The present page, until the user's next call or versions_leave; `which` is
 * not LANDING_NONE. */
const struct page_template *landing_pages_use(struct versions_user *user,
					      enum landing which);

#endif
