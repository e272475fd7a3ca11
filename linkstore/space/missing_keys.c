#include "linkstore/space/missing_keys.h"
#include "linkstore/target.h"

#include <stdio.h>

struct metric *missing_keys_register(struct metrics *m,
				     const struct link_space *space)
{
	char labels[64];

	snprintf(labels, sizeof(labels), "space=\"%s\"", space->name);
	return metrics_gauge(m, "shortloop_space_keys_missing", labels,
			     "Key versions of the space that are not "
			     "configured here");
}

bool missing_keys_tell(const struct link_space *space, struct metric *gauge,
		       char ret_text[MISSING_KEYS_TEXT_MAX])
{
	unsigned missing = linkstore_missing_keys(space, false),
		 used = linkstore_missing_keys(space, true), version = 0;

	metric_set(gauge, __builtin_popcount(missing));
	if (!used)
		return false;
	while (!(used >> version & 1))
		version++;
	snprintf(ret_text, MISSING_KEYS_TEXT_MAX,
		 "space %s has codes of key version %u, which is not "
		 "configured here: they are answered 503",
		 space->name, version);
	return true;
}
