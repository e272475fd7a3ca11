#include "allocator/link/link_choices.h"

const uint32_t link_redirect_statuses[LINK_REDIRECT_STATUSES] = {301, 302, 307,
								 308};

const Shortloop__QueryPass link_query_passes[LINK_QUERY_PASSES] = {
	SHORTLOOP__QUERY_PASS__QUERY_DROPPED,
	SHORTLOOP__QUERY_PASS__QUERY_ADDED,
	SHORTLOOP__QUERY_PASS__QUERY_OVERRIDES,
};

const char *link_choices_before(size_t i, size_t count)
{
	return i == 0 ? "" : i + 1 < count ? ", " : " or ";
}
