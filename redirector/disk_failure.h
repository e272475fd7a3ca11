/* disk_failure.h - tells a disk that fails from a configuration that is wrong.
 */
#ifndef REDIRECTOR_DISK_FAILURE_H
#define REDIRECTOR_DISK_FAILURE_H

#include <stdbool.h>

#include "common/error.h"

/* Is the disk full, a quota used up, or can it not be read or written?  Then
 * the same call may succeed later, and nobody has to edit a file. */
bool disk_failure_is(const struct error *err);

#endif
