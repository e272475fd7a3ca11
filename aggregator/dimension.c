#include "aggregator/dimension.h"

#include <string.h>

const struct dimension dimensions[] = {
	{"total", "''", DIMENSION_VISITORS},
	{"country", "toString(country)", DIMENSION_VISITORS},
	{"device_class", "toString(device_class)", DIMENSION_VISITORS},
	{"verdict", "toString(verdict)", DIMENSION_VISITORS},
	{"outcome", "toString(outcome)", DIMENSION_VISITORS},
	{"channel", "toString(channel)", DIMENSION_VISITORS},
	{"city", "toString(city)", DIMENSION_BUSIEST},
	{"os_family", "toString(os_family)", DIMENSION_BUSIEST},
	{"ua_family", "toString(ua_family)", DIMENSION_BUSIEST},
	{"language", "toString(language)", DIMENSION_BUSIEST},
	{"referrer_host", "toString(referrer_host)", DIMENSION_BUSIEST},
	{"domain", "toString(domain)", DIMENSION_BUSIEST},
	{"edge", "toString(edge)", DIMENSION_BUSIEST},
	{"owner", "toString(owner)", DIMENSION_BUSIEST},
	{"campaign", "toString(campaign)", DIMENSION_BUSIEST},
	{"tag", "toString(arrayJoin(tags))", DIMENSION_MANY},
	{"link", "toString(link_id)", DIMENSION_BUSIEST},
};
const size_t dimension_count = sizeof(dimensions) / sizeof(dimensions[0]);

const struct dimension *dimension_find(const char *name)
{
	for (size_t i = 1; i < dimension_count; i++) {
		if (!strcmp(dimensions[i].name, name))
			return &dimensions[i];
	}
	return NULL;
}
