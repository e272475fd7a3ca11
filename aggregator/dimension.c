#include "aggregator/dimension.h"

#include <string.h>

const struct dimension dimensions[] = {
	{"total", "''", DIMENSION_FEW},
	{"country", "toString(country)", DIMENSION_VISITORS},
	{"device_class", "toString(device_class)", DIMENSION_VISITORS},
	{"verdict", "toString(verdict)", DIMENSION_WHOLE},
	{"outcome", "toString(outcome)", DIMENSION_FEW},
	{"channel", "toString(channel)", DIMENSION_VISITORS},
	{"city", "toString(city)", DIMENSION_BUSIEST},
	{"os_family", "toString(os_family)", DIMENSION_BUSIEST},
	{"ua_family", "toString(ua_family)", DIMENSION_BUSIEST},
	{"language", "toString(language)", DIMENSION_BUSIEST},
	{"referrer_host", "toString(referrer_host)", DIMENSION_BUSIEST},
	{"referrer_site", "toString(referrer_site)", DIMENSION_BUSIEST},
	{"domain", "toString(domain)", DIMENSION_BUSIEST},
	{"edge", "toString(edge)", DIMENSION_BUSIEST},
	{"account", "toString(account)", DIMENSION_BUSIEST},
	{"owner", "toString(owner)", DIMENSION_OF_ACCOUNT},
	{"campaign", "toString(campaign)", DIMENSION_BUSIEST},
	{"tag", "toString(arrayJoin(" DIMENSION_MANY_VALUES "))",
	 DIMENSION_MANY},
	{"link", "toString(link_id)", DIMENSION_BUSIEST},
	{"continent", "toString(continent)", DIMENSION_DAILY},
	{"region", "toString(region)", DIMENSION_DAILY},
	{"asn", "if(asn = 0, '', toString(asn))", DIMENSION_DAILY},
	{"device_brand", "toString(device_brand)", DIMENSION_DAILY},
	{"device_model", "toString(device_model)", DIMENSION_DAILY},
	/* A version needs the name of its product. */
	{"os_version",
	 "trimRight(concat(toString(os_family), ' ', toString(os_version)))",
	 DIMENSION_DAILY},
	{"ua_version",
	 "trimRight(concat(toString(ua_family), ' ', toString(ua_version)))",
	 DIMENSION_DAILY},
	{"verdict_reason", "toString(verdict_reason)", DIMENSION_DAILY},
	{"utm_source", "toString(utm_source)", DIMENSION_DAILY},
	{"utm_medium", "toString(utm_medium)", DIMENSION_DAILY},
	{"utm_campaign", "toString(utm_campaign)", DIMENSION_DAILY},
	{"utm_term", "utm_term", DIMENSION_DAILY},
	{"utm_content", "utm_content", DIMENSION_DAILY},
	{"url",
	 "if(url_digest = toFixedString('', 16), '', lower(hex(url_digest)))",
	 DIMENSION_DAILY},
};
const size_t dimension_count = sizeof(dimensions) / sizeof(dimensions[0]);

/* A space's strategy never changes: it is in the configuration. */
#define STRATEGY                                                               \
	"transform(toString(space), splitByChar('\n', "                        \
	"{strategy_spaces:String}), splitByChar('\n', {strategies:String}), "  \
	"'')"

const struct dimension creation_dimensions[] = {
	{"space", "space", DIMENSION_BUSIEST},
	{"code_length", "toString(code_length)", DIMENSION_BUSIEST},
	{"ttl", "ttl_class", DIMENSION_BUSIEST},
	{"account", "account", DIMENSION_BUSIEST},
	{"owner", "owner", DIMENSION_OF_ACCOUNT},
	{"domain", "domain", DIMENSION_BUSIEST},
	{"strategy", STRATEGY, DIMENSION_BUSIEST},
	{"source", "source", DIMENSION_BUSIEST},
};
const size_t creation_dimension_count =
	sizeof(creation_dimensions) / sizeof(creation_dimensions[0]);

static const struct dimension *find_named(const struct dimension *list,
					  size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(list[i].name, name))
			return &list[i];
	}
	return NULL;
}

const struct dimension *dimension_find(const char *name)
{
	return find_named(dimensions + 1, dimension_count - 1, name);
}

const struct dimension *creation_dimension_find(const char *name)
{
	return find_named(creation_dimensions, creation_dimension_count, name);
}

static const struct dimension *first_of_kind(enum dimension_kind kind)
{
	size_t i = 0;

	while (dimensions[i].kind != kind)
		i++;
	return &dimensions[i];
}

const struct dimension *dimension_of_many(void)
{
	return first_of_kind(DIMENSION_MANY);
}

const struct dimension *dimension_of_whole(void)
{
	return first_of_kind(DIMENSION_WHOLE);
}

bool dimension_keeps_all(const struct dimension *d)
{
	return d->kind == DIMENSION_WHOLE || d->kind == DIMENSION_VISITORS ||
	       d->kind == DIMENSION_FEW;
}

bool dimension_is_of_hours(const struct dimension *d)
{
	return dimension_keeps_all(d) || d->kind == DIMENSION_BUSIEST;
}

bool dimension_has_hundreds(const struct dimension *d)
{
	return !strcmp(d->name, "country");
}

bool dimension_is_url(const struct dimension *d)
{
	return !strcmp(d->name, "url");
}

const struct dimension *dimension_find_filter(const char *name)
{
	return strcmp(name, "link") ? dimension_find(name) : NULL;
}
