#include "allocator/link/link_patch.h"

#include "allocator/link/path_pass.h"
#include "common/drop_const.h"

#define PATCH_FIELDS                                                           \
	(FIELD_URL | FIELD_TARGETS | FIELD_TTL | FIELD_STATE | FIELD_TAGS |    \
	 FIELD_DESCRIPTION | FIELD_CAMPAIGN | FIELD_NOT_BEFORE | FIELD_OWNER | \
	 FIELD_ACCOUNT | FIELD_DOMAIN | FIELD_MAX_VISITS |                     \
	 FIELD_REDIRECT_STATUS | FIELD_PASS_QUERY | FIELD_PASS_PATH)

/* Adds the fields that null may not reset to the mistakes. */
static void check_kept(struct link_fields *f, const struct link_rules *rules)
{
	struct error err = {0};

	if ((f->given & FIELD_URL) && !*f->url) {
		error_set_field(&err, "url", "a link cannot be without");
		link_fields_add_mistake(f, &err);
	}
	if ((f->given & FIELD_ACCOUNT) && !*f->account) {
		error_set_field(&err, "account", "a link cannot be without");
		link_fields_add_mistake(f, &err);
	}
	if ((f->given & FIELD_TTL) && !f->ttl) {
		link_fields_refuse_ttl(rules->store, &err);
		link_fields_add_mistake(f, &err);
	}
}

/* Reads the fields of `root`, which the patch has. */
static int read_patch(struct link_patch *patch, const struct link_rules *rules,
		      struct error *err)
{
	struct link_fields *f = &patch->fields;

	if (link_fields_read(f, patch->root, rules, PATCH_FIELDS, true, err))
		return -1;
	if (!f->given)
		return error_set(err, ERROR_INPUT,
				 "nothing is to be changed: give at least one "
				 "field");
	check_kept(f, rules);
	return field_mistakes_result(&f->mistakes, err);
}

int link_patch_parse(struct link_patch *patch, const struct link_rules *rules,
		     struct http_slice text, struct error *err)
{
	patch->root = NULL;
	patch->fields.mistakes = (struct field_mistakes){0};
	if (link_fields_parse(text, &patch->root, err) < 0)
		return -1;
	return read_patch(patch, rules, err);
}

int link_patch_read(struct link_patch *patch, const struct link_rules *rules,
		    json_t *root, struct error *err)
{
	patch->root = json_incref(root);
	patch->fields.mistakes = (struct field_mistakes){0};
	if (!json_is_object(root))
		return error_set(err, ERROR_INPUT,
				 "expected an object of the fields to change");
	return read_patch(patch, rules, err);
}

void link_patch_release(struct link_patch *patch)
{
	json_decref(patch->root);
	patch->root = NULL;
	field_mistakes_release(&patch->fields.mistakes);
}

static void apply_lists(const struct link_fields *f, Shortloop__Link *link)
{
	if (f->given & FIELD_TARGETS) {
		link->targets = drop_const(f->target_list);
		link->n_targets = f->target_count;
	}
	if (f->given & FIELD_TAGS) {
		link->tags = drop_const(f->tags);
		link->n_tags = f->tag_count;
	}
}

static void apply_passing(const struct link_fields *f, Shortloop__Link *link)
{
	if (f->given & FIELD_PASS_QUERY)
		link->query_pass = f->pass_query;
	if (f->given & FIELD_PASS_PATH)
		link->path_pass = f->pass_path;
}

static void apply_fields(const struct link_patch *patch,
			 const Shortloop__Link *link, Shortloop__Link *ret_link)
{
	const struct link_fields *f = &patch->fields;

	*ret_link = *link;
	apply_lists(f, ret_link);
	apply_passing(f, ret_link);
	if (f->given & FIELD_URL)
		ret_link->url = drop_const(f->url);
	if (f->given & FIELD_DESCRIPTION)
		ret_link->description = drop_const(f->description);
	if (f->given & FIELD_CAMPAIGN)
		ret_link->campaign = drop_const(f->campaign);
	if (f->given & FIELD_NOT_BEFORE)
		ret_link->not_before_ms = (uint64_t)f->not_before;
	if (f->given & FIELD_MAX_VISITS)
		ret_link->max_visits = f->max_visits;
	if (f->given & FIELD_REDIRECT_STATUS)
		ret_link->redirect_status = f->redirect_status;
	if (f->given & FIELD_STATE)
		ret_link->state = f->state;
}

int link_patch_apply(const struct link_patch *patch,
		     const Shortloop__Link *link, Shortloop__Link *ret_link,
		     struct error *err)
{
	apply_fields(patch, link, ret_link);
	/* An existing link that breaks the rule may still be blocked or
	 * described. */
	if (!(patch->fields.given &
	      (FIELD_URL | FIELD_TARGETS | FIELD_PASS_PATH)))
		return 0;
	return path_pass_check(ret_link, err);
}
