#include "redirector/events/backlog.h"

static bool is_low(const struct backlog *b, size_t waiting)
{
	return waiting <= BACKLOG_LEFT || waiting <= b->most / BACKLOG_PART;
}

bool backlog_has_gone(struct backlog *b, size_t waiting)
{
	if (waiting > b->most)
		b->most = waiting;
	if (b->most < BACKLOG_MIN || !is_low(b, waiting)) {
		b->low = 0;
		return false;
	}
	if (++b->low < BACKLOG_LOW)
		return false;
	*b = (struct backlog){.most = waiting};
	return true;
}
