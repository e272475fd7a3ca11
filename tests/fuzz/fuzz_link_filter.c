/* Any bytes as the query string of an edit of many links: it is refused with a
 * reason, or makes a condition with a parameter for each value. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/filter/link_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_parameter(const struct link_filter_params *p, size_t i,
			    const struct buf *sql)
{
	const char *name = p->items[i].name + strlen("param_");

	assert(p->items[i].value);
	/* A host below a public suffix has no domains for the index. */
	if (strcmp(name, "after") != 0 && strcmp(name, "url_host_domains") != 0)
		assert(strstr(sql->data, name));
}

static void check_condition(const struct link_filter *f)
{
	struct link_filter_params params;
	struct buf sql = {0};
	struct error err = {0};

	link_filter_put_sql(f, &sql);
	if (link_filter_fill(&params, f, f->after, &err) < 0 || !buf_cstr(&sql))
		abort();
	assert(params.count > 1 && params.count < LINK_FILTER_PARAMS);
	for (size_t i = 0; i < params.count; i++)
		check_parameter(&params, i, &sql);
	link_filter_params_release(&params);
	buf_free(&sql);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct api_key_info caller = {.account = "crm"};
	struct http_slice query = {(const char *)data, size};
	struct edit_options options = {0};
	struct link_filter filter;
	struct error err = {0};

	if (link_filter_parse(&filter, query, &caller, &options, &err) == 0)
		check_condition(&filter);
	else
		assert(err.code != ERROR_NONE && err.text[0]);
	link_filter_release(&filter);
	return 0;
}
