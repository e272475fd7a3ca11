/*
 * landing_pages.h - the present pages that open something for a visitor: the
 * built-in ones, or those of files, which can be read again while servers
 * answer with them.
 */
#ifndef REDIRECTOR_PAGES_LANDING_PAGES_H
#define REDIRECTOR_PAGES_LANDING_PAGES_H

#include "common/app/reloadable.h"
#include "common/versions.h"
#include "linkstore/visit/visit_rule.h"
#include "redirector/pages/page_template.h"
#include "redirector/redirector_config.h"

/* The source is a struct redirector_settings: app_page_file and
 * mini_program_page_file are read, or the built-in pages are taken; errors are
 * those of page_template_load. */
extern const struct reloadable_kind landing_pages_kind;

/* Returns the present page, valid until the user's next call or versions_leave;
 * `which` must not be LANDING_NONE. */
const struct page_template *landing_pages_use(struct versions_user *user,
					      enum landing which);

#endif
