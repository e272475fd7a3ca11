/* path_pass.h - may a link hand on the path of its visits? */
#ifndef ALLOCATOR_LINK_PATH_PASS_H
#define ALLOCATOR_LINK_PATH_PASS_H

#include "common/error.h"
#include "schemas/link.pb-c.h"

/*
 * A path that a visitor chooses is put behind that of each URL of a link with
 * pass_path.  ERROR_INPUT names the URL where that cannot be, as the path could
 * become the host (uri_takes_path).
 */
int path_pass_check(const Shortloop__Link *link, struct error *err);

#endif
