#include "linkstore/link/link_copy.h"

#include <stdlib.h>

Shortloop__Link *link_copy(const Shortloop__Link *link)
{
	size_t len = shortloop__link__get_packed_size(link);
	uint8_t *packed = malloc(len ? len : 1);
	Shortloop__Link *copy;

	if (!packed)
		return NULL;
	shortloop__link__pack(link, packed);
	copy = shortloop__link__unpack(NULL, len, packed);
	free(packed);
	return copy;
}
