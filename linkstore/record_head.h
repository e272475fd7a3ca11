/* record_head.h - the first bytes of a stored link, which identify it.  For
 * linkstore/ only. */
#ifndef LINKSTORE_RECORD_HEAD_H
#define LINKSTORE_RECORD_HEAD_H

#include <stdint.h>

#define RECORD_HEAD 9 /* bytes */

/* Field 1 of the record, a fixed64, comes first in its bytes: a tag and the
 * number, little-endian. */
static inline void record_head(uint64_t link_id,
			       unsigned char head[RECORD_HEAD])
{
	head[0] = 1 << 3 | 1;
	for (int i = 0; i < 8; i++)
		head[1 + i] = (unsigned char)(link_id >> 8 * i);
}

#endif
