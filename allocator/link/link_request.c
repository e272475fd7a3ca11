#include "allocator/link/link_request.h"

#include <string.h>

#include "allocator/link/link_place.h"
#include "allocator/link/path_pass.h"
#include "common/drop_const.h"

#define CREATE_FIELDS                                                          \
	(FIELD_URL | FIELD_TARGETS | FIELD_TTL | FIELD_SPACE | FIELD_CODE |    \
	 FIELD_DOMAIN | FIELD_OWNER | FIELD_CAMPAIGN | FIELD_TAGS |            \
	 FIELD_DESCRIPTION | FIELD_NOT_BEFORE | FIELD_MAX_VISITS |             \
	 FIELD_REDIRECT_STATUS | FIELD_PASS_QUERY | FIELD_PASS_PATH)

static int check_passing(const struct link_request *request, struct error *err)
{
	Shortloop__Link link;

	link_request_fill(request, &link);
	return path_pass_check(&link, err);
}

/* Adds the fields that are missing to the mistakes.  A field that was given
 * wrongly is one already. */
static void check_required(struct link_fields *f,
			   const struct link_defaults *defaults)
{
	struct error err = {0};

	if (!*f->url &&
	    !(f->mistakes.count && f->given & (FIELD_URL | FIELD_TARGETS))) {
		error_set_field(&err, "url", "is required");
		link_fields_add_mistake(f, &err);
	}
	if (!f->ttl && !(f->given & FIELD_TTL))
		f->ttl = defaults->ttl;
	if (!f->ttl && !(f->given & FIELD_TTL)) {
		link_fields_refuse_ttl(defaults->rules.store, &err);
		link_fields_add_mistake(f, &err);
	}
}

int link_request_parse(struct link_request *request,
		       const struct link_defaults *defaults,
		       const struct api_key_info *caller,
		       struct http_slice text, struct error *err)
{
	struct link_fields *f = &request->fields;

	request->root = NULL;
	f->mistakes = (struct field_mistakes){0};
	if (link_fields_parse(text, &request->root, err))
		return -1;
	if (link_fields_read(f, request->root, &defaults->rules, CREATE_FIELDS,
			     false, err) &&
	    !f->mistakes.count)
		return -1;
	check_required(f, defaults);
	if (field_mistakes_result(&f->mistakes, err))
		return -1;
	if (link_place_choose(f, defaults, caller, err) == 0 &&
	    check_passing(request, err) == 0)
		return 0;
	link_fields_add_mistake(f, err);
	return -1;
}

void link_request_release(struct link_request *request)
{
	json_decref(request->root);
	field_mistakes_release(&request->fields.mistakes);
	request->root = NULL;
}

void link_request_fill(const struct link_request *request,
		       Shortloop__Link *ret_link)
{
	const struct link_fields *f = &request->fields;

	shortloop__link__init(ret_link);
	ret_link->url = drop_const(f->url);
	ret_link->targets = drop_const(f->target_list);
	ret_link->n_targets = f->target_count;
	ret_link->domain = drop_const(f->domain ? f->domain->name : "");
	ret_link->owner = drop_const(f->owner);
	ret_link->campaign = drop_const(f->campaign);
	ret_link->tags = drop_const(f->tags);
	ret_link->n_tags = f->tag_count;
	ret_link->description = drop_const(f->description);
	ret_link->not_before_ms = (uint64_t)f->not_before;
	ret_link->max_visits = f->max_visits;
	ret_link->redirect_status = f->redirect_status;
	ret_link->query_pass = f->pass_query;
	ret_link->path_pass = f->pass_path;
}
