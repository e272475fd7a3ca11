#include "allocator/link/link_request.h"

#include <string.h>

#include "allocator/link/path_pass.h"
#include "common/unconst.h"

#define CREATE_FIELDS                                                          \
	(FIELD_URL | FIELD_TARGETS | FIELD_TTL | FIELD_SPACE | FIELD_CODE |    \
	 FIELD_DOMAIN | FIELD_OWNER | FIELD_CAMPAIGN | FIELD_TAGS |            \
	 FIELD_DESCRIPTION | FIELD_NOT_BEFORE | FIELD_MAX_VISITS |             \
	 FIELD_REDIRECT_STATUS | FIELD_PASS_QUERY | FIELD_PASS_PATH)

static int refuse_no_space(const struct link_fields *f, struct error *err)
{
	if (*f->code)
		return error_set(err, ERROR_INPUT,
				 "code: cannot be chosen here: there is no "
				 "space for aliases%s%s",
				 f->domain ? " under the domain " : "",
				 f->domain ? f->domain->name : "");
	return error_set(err, ERROR_INPUT,
			 "domain: no space is allowed under %s",
			 f->domain ? f->domain->name : "it");
}

static int choose_space(struct link_fields *f, const struct link_defaults *d,
			struct error *err)
{
	if (!f->space)
		f->space = link_defaults_space(d, f);
	if (!f->space)
		return refuse_no_space(f, err);
	if (f->domain && !domains_allow(f->domain, f->space->name))
		return error_set(err, ERROR_INPUT,
				 "space: %s is not allowed under the domain %s",
				 f->space->name, f->domain->name);
	if (*f->code && f->space->strategy != LINK_ALIAS)
		return error_set(err, ERROR_INPUT,
				 "code: codes of space %s are not chosen; "
				 "leave out code or space",
				 f->space->name);
	if (!*f->code && f->space->strategy == LINK_ALIAS)
		return error_set(err, ERROR_INPUT,
				 "code: is required in space %s",
				 f->space->name);
	return 0;
}

static int check_passing(const struct link_request *request, struct error *err)
{
	Shortloop__Link link;

	link_request_fill(request, &link);
	return path_pass_check(&link, err);
}

int link_request_parse(struct link_request *request,
		       const struct link_defaults *defaults,
		       struct http_slice text, struct error *err)
{
	struct link_fields *f = &request->fields;

	request->root = NULL;
	if (link_fields_parse(text, &request->root, err) ||
	    link_fields_read(f, request->root, &defaults->rules, CREATE_FIELDS,
			     false, err))
		return -1;
	if (!*f->url)
		return error_set(err, ERROR_INPUT, "url: is required");
	if (!f->ttl)
		f->ttl = defaults->ttl;
	if (!f->ttl)
		return link_fields_refuse_ttl(defaults->rules.store, err);
	if (!f->domain)
		f->domain = domains_default(defaults->rules.domains);
	if (check_passing(request, err))
		return -1;
	return choose_space(f, defaults, err);
}

void link_request_release(struct link_request *request)
{
	json_decref(request->root);
	request->root = NULL;
}

void link_request_fill(const struct link_request *request,
		       Shortloop__Link *ret_link)
{
	const struct link_fields *f = &request->fields;

	shortloop__link__init(ret_link);
	ret_link->url = unconst(f->url);
	ret_link->targets = unconst(f->target_list);
	ret_link->n_targets = f->target_count;
	ret_link->domain = unconst(f->domain ? f->domain->name : "");
	ret_link->owner = unconst(f->owner);
	ret_link->campaign = unconst(f->campaign);
	ret_link->tags = unconst(f->tags);
	ret_link->n_tags = f->tag_count;
	ret_link->description = unconst(f->description);
	ret_link->not_before_ms = (uint64_t)f->not_before;
	ret_link->max_visits = f->max_visits;
	ret_link->redirect_status = f->redirect_status;
	ret_link->query_pass = f->pass_query;
	ret_link->path_pass = f->pass_path;
}
