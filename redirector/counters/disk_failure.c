#include "redirector/counters/disk_failure.h"

#include <errno.h>

bool disk_failure_is(const struct error *err)
{
	switch (err->sys) {
	case ENOSPC:
	case EDQUOT:
	case EIO:
		return true;
	default:
		return false;
	}
}
