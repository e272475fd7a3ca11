#include "redirector/backlog.h"

bool backlog_has_gone(struct backlog *b, size_t waiting)
{
	if (waiting > b->most)
		b->most = waiting;
	if (b->most < BACKLOG_MIN || waiting > b->most / BACKLOG_PART) {
		b->low = 0;
		return false;
	}
	if (++b->low < BACKLOG_LOW)
		return false;
	*b = (struct backlog){.most = waiting};
	return true;
}
