#include "aggregator/dimension.h"

#include <string.h>

const struct dimension dimensions[] = {
	{"total", "''", .visitors = true},
	{"country", "toString(country)", .visitors = true},
	{"device_class", "toString(device_class)", .visitors = true},
	{"verdict", "toString(verdict)", .visitors = true},
	{"outcome", "toString(outcome)", .visitors = true},
	{"channel", "toString(channel)", .visitors = true},
	{"city", "toString(city)", .capped = true},
	{"os_family", "toString(os_family)", .capped = true},
	{"ua_family", "toString(ua_family)", .capped = true},
	{"language", "toString(language)", .capped = true},
	{"referrer_host", "toString(referrer_host)", .capped = true},
	{"domain", "toString(domain)", .capped = true},
	{"edge", "toString(edge)", .capped = true},
	{"owner", "toString(owner)", .capped = true},
	{"campaign", "toString(campaign)", .capped = true},
	{"tag", "toString(arrayJoin(tags))", .capped = true, .many = true,
	 .array = "arrayMap(x -> toString(x), tags)"},
	{"link", "toString(link_id)", .capped = true},
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
