/* disk_failure.h - tells a disk that fails from a configuration that is
 * wrong. */
#ifndef REDIRECTOR_COUNTERS_DISK_FAILURE_H
#define REDIRECTOR_COUNTERS_DISK_FAILURE_H

#include <stdbool.h>

#include "common/error.h"

/* True if the disk is full, a quota is used up, or the disk cannot be read or
 * written.  Then the same call may succeed later, and no file has to be
 * edited. */
bool disk_failure_is(const struct error *err);

#endif
