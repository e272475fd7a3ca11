/* path_pass.h - checks whether a link may pass on the path of its visits. */
#ifndef ALLOCATOR_LINK_PATH_PASS_H
#define ALLOCATOR_LINK_PATH_PASS_H

#include "common/error.h"
#include "schemas/link.pb-c.h"

/*
 * The path of a visit is appended to each URL of a link with pass_path.
 * Returns ERROR_INPUT with the URL for which this is unsafe, since the path
 * could become the host (uri_takes_path).
 */
int path_pass_check(const Shortloop__Link *link, struct error *err);

#endif
