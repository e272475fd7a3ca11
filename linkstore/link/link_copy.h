/* link_copy.h - a copy of a link that lives on after its source. */
#ifndef LINKSTORE_LINK_LINK_COPY_H
#define LINKSTORE_LINK_LINK_COPY_H

#include "schemas/link.pb-c.h"

/* Returns a copy for shortloop__link__free_unpacked; NULL: out of memory. */
Shortloop__Link *link_copy(const Shortloop__Link *link);

#endif
