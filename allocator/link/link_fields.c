#include "allocator/link/link_fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "allocator/link/link_choices.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/drop_const.h"
#include "common/keys/key_line.h"
#include "common/unseen.h"
#include "linkstore/link/names.h"

/* A field of the JSON object that is about to be read into `fields`. */
struct field_reader {
	struct link_fields *fields;
	const struct link_rules *rules;
	const char *name;
	json_t *value;
};

/* --- types of values ------------------------------------------------------ */

/* Sets "name: expected ..." and returns -1. */
static int refuse_value(const struct field_reader *r, const char *expected,
			struct error *err)
{
	return error_set(err, ERROR_INPUT, "%s: expected %s", r->name,
			 expected);
}

static int read_text(const struct field_reader *r, json_t *value, size_t max,
		     const char **ret, struct error *err)
{
	enum unseen kind;

	if (!json_is_string(value))
		return refuse_value(r, "a string", err);
	if (json_string_length(value) > max)
		return error_set(err, ERROR_INPUT,
				 "%s: has %zu bytes, at most %zu are allowed",
				 r->name, json_string_length(value), max);
	unseen_find(json_string_value(value), json_string_length(value),
		    UNSEEN_IN_TEXT, &kind);
	if (kind == UNSEEN_FORMAT)
		return error_set(err, ERROR_INPUT,
				 "%s: has an invisible character that changes "
				 "how the others are read",
				 r->name);
	if (kind != UNSEEN_NONE)
		return error_set(err, ERROR_INPUT,
				 "%s: has a control character", r->name);
	*ret = json_string_value(value);
	return 0;
}

static int read_whole(const struct field_reader *r, int64_t min, int64_t max,
		      int64_t *ret, struct error *err)
{
	double number = json_number_value(r->value);

	/* 3.0 is a whole number, too: some languages write 3 this way. */
	if (!json_is_number(r->value) || number != floor(number))
		return refuse_value(r, "a whole number", err);
	if (number < (double)min || number > (double)max)
		return error_set(err, ERROR_INPUT,
				 "%s: expected a whole number from %lld to "
				 "%lld",
				 r->name, (long long)min, (long long)max);
	*ret = (int64_t)number;
	return 0;
}

/* --- url and targets ------------------------------------------------------ */

/* url_policy_check, or a function like it. */
typedef int check_fn(struct url_policy *policy, const char *url, size_t len,
		     struct buf *ret_normalised, struct error *err);

/* Replaces the URL in `value` by its normal form. */
static int check_url_by(const struct field_reader *r, check_fn *check,
			json_t *value, const char **ret, struct error *err)
{
	const char *url = json_string_value(value);
	size_t len = json_string_length(value);
	struct buf normal = {0};
	int status;

	if (!json_is_string(value))
		return error_set(err, ERROR_INPUT, "expected a string");
	status = check(r->rules->urls, url, len, &normal, err);
	if (status == 0 && (normal.len != len || memcmp(normal.data, url, len)))
		status = json_string_setn(value, normal.data, normal.len)
				 ? error_set_nomem(err)
				 : 0;
	buf_free(&normal);
	if (status)
		return -1;
	*ret = json_string_value(value);
	return 0;
}

static int check_url(const struct field_reader *r, json_t *value,
		     const char **ret, struct error *err)
{
	return check_url_by(r, url_policy_check, value, ret, err);
}

static int set_url(const struct field_reader *r, const char *url,
		   struct error *err)
{
	struct link_fields *f = r->fields;

	if (*f->url && strcmp(f->url, url) != 0)
		return error_set(err, ERROR_INPUT,
				 "targets: default: is the same as url; give "
				 "one of them");
	f->url = url;
	f->given |= FIELD_URL;
	return 0;
}

static int read_url(struct field_reader *r, struct error *err)
{
	const char *url = "";

	if (check_url(r, r->value, &url, err))
		return error_wrap(err, "url");
	return set_url(r, url, err);
}

static const struct {
	const char *name;
	Shortloop__Device device;
} devices[] = {
	{"default", SHORTLOOP__DEVICE__DEVICE_ANY},
	{"ios", SHORTLOOP__DEVICE__DEVICE_IOS},
	{"android", SHORTLOOP__DEVICE__DEVICE_ANDROID},
	{"wechat", SHORTLOOP__DEVICE__DEVICE_WECHAT},
};

/* Accepts a URL Link, which is https, or a URL with the scheme of the mini
 * program's app. */
static int check_mini_program(const struct field_reader *r, json_t *value,
			      const char **ret, struct error *err)
{
	const char *url = json_string_value(value);
	bool is_link = url && !strncasecmp(url, "https:", 6);

	return check_url_by(
		r, is_link ? url_policy_check_https : url_policy_check_app,
		value, ret, err);
}

static int read_part(const struct field_reader *r, const char *name,
		     json_t *value, Shortloop__Target *target,
		     struct error *err)
{
	const char *url = "";
	int status;

	if (!strcmp(name, "app")) {
		status =
			check_url_by(r, url_policy_check_app, value, &url, err);
		target->app = drop_const(url);
	} else if (!strcmp(name, "mini_program")) {
		status = check_mini_program(r, value, &url, err);
		target->mini_program = drop_const(url);
	} else if (!strcmp(name, "fallback")) {
		status = check_url_by(r, url_policy_check_https, value, &url,
				      err);
		target->url = drop_const(url);
	} else {
		return error_set(err, ERROR_INPUT,
				 "%.64s: expected app or mini_program, and "
				 "fallback",
				 name);
	}
	return status ? error_wrap(err, "%s", name) : 0;
}

static int check_parts(const Shortloop__Target *target, struct error *err)
{
	if (!*target->app == !*target->mini_program)
		return error_set(err, ERROR_INPUT,
				 "expected one of app and mini_program");
	if (!*target->url)
		return error_set(err, ERROR_INPUT,
				 "fallback: is required: where visitors go who "
				 "do not have the app");
	return 0;
}

/* Reads {"app": ..., "fallback": ...}. */
static int read_parts(const struct field_reader *r, json_t *value,
		      Shortloop__Target *target, struct error *err)
{
	const char *name;
	json_t *part;

	json_object_foreach(value, name, part)
	{
		if (read_part(r, name, part, target, err))
			return -1;
	}
	return check_parts(target, err);
}

static int add_target(const struct field_reader *r, Shortloop__Device device,
		      json_t *value, struct error *err)
{
	struct link_fields *f = r->fields;
	Shortloop__Target *target = &f->targets[f->target_count];
	const char *url = "";

	shortloop__target__init(target);
	target->device = device;
	if (json_is_object(value)) {
		if (read_parts(r, value, target, err))
			return -1;
	} else if (!json_is_string(value)) {
		return error_set(err, ERROR_INPUT,
				 "expected a URL, or an object with app or "
				 "mini_program, and fallback");
	} else {
		if (check_url(r, value, &url, err))
			return -1;
		target->url = drop_const(url);
	}
	f->target_list[f->target_count++] = target;
	return 0;
}

static int read_default(const struct field_reader *r, json_t *value,
			struct error *err)
{
	const char *url = "";

	if (json_is_object(value))
		return error_set(err, ERROR_INPUT,
				 "targets: default: expected a URL: apps are "
				 "opened on ios, android and wechat only");
	if (check_url(r, value, &url, err))
		return error_wrap(err, "targets: default");
	return set_url(r, url, err);
}

static int read_target(const struct field_reader *r, const char *name,
		       json_t *value, struct error *err)
{
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		if (strcmp(devices[i].name, name) != 0)
			continue;
		if (devices[i].device == SHORTLOOP__DEVICE__DEVICE_ANY)
			return read_default(r, value, err);
		if (add_target(r, devices[i].device, value, err))
			return error_wrap(err, "targets: %s", name);
		return 0;
	}
	return error_set(err, ERROR_INPUT,
			 "targets: %.64s: expected ios, android, wechat or "
			 "default",
			 name);
}

static int read_targets(struct field_reader *r, struct error *err)
{
	const char *name;
	json_t *value;

	if (!json_is_object(r->value))
		return refuse_value(r, "an object of URLs by device", err);
	json_object_foreach(r->value, name, value)
	{
		if (read_target(r, name, value, err))
			return -1;
	}
	return 0;
}

/* --- ttl, space, code and domain ------------------------------------------ */

int link_fields_refuse_ttl(const struct linkstore *store, struct error *err)
{
	struct buf list = {0};
	const char *text;

	for (size_t i = 0; i < linkstore_class_count(store); i++)
		buf_printf(&list, "%s%s", i ? ", " : "",
			   linkstore_class(store, i)->name);
	text = buf_cstr(&list);
	error_set_field(err, "ttl", "expected one of %s",
			text ? text : "those configured");
	buf_free(&list);
	return -1;
}

static int read_ttl(struct field_reader *r, struct error *err)
{
	const struct linkstore *store = r->rules->store;

	if (!json_is_string(r->value))
		return refuse_value(r, "a string", err);
	r->fields->ttl =
		linkstore_class_named(store, json_string_value(r->value));
	return r->fields->ttl ? 0 : link_fields_refuse_ttl(store, err);
}

/* link_place.h checks whether the space exists. */
static int read_space(struct field_reader *r, struct error *err)
{
	if (!json_is_string(r->value))
		return refuse_value(r, "a string", err);
	r->fields->space_name = json_string_value(r->value);
	return 0;
}

static int read_code(struct field_reader *r, struct error *err)
{
	if (read_text(r, r->value, LINK_ALIAS_MAX, &r->fields->code, err))
		return -1;
	return *r->fields->code
		       ? 0
		       : refuse_value(r, "1 to 64 of [0-9A-Za-z_-]", err);
}

static int read_domain(struct field_reader *r, struct error *err)
{
	return read_text(r, r->value, LINK_TEXT_MAX, &r->fields->domain_name,
			 err);
}

/* --- owner, campaign, description and tags -------------------------------- */

static int read_account(struct field_reader *r, struct error *err)
{
	const char *text =
		json_is_string(r->value) ? json_string_value(r->value) : "";

	r->fields->account = text;
	return key_line_name_is_valid(text)
		       ? 0
		       : refuse_value(r, "1 to 64 of [0-9A-Za-z._-]", err);
}

static int read_owner(struct field_reader *r, struct error *err)
{
	return read_text(r, r->value, LINK_TEXT_MAX, &r->fields->owner, err);
}

static int read_campaign(struct field_reader *r, struct error *err)
{
	return read_text(r, r->value, LINK_TEXT_MAX, &r->fields->campaign, err);
}

static int read_description(struct field_reader *r, struct error *err)
{
	return read_text(r, r->value, LINK_DESCRIPTION_MAX,
			 &r->fields->description, err);
}

static int read_tags(struct field_reader *r, struct error *err)
{
	struct link_fields *f = r->fields;
	const char *text = "";
	size_t i;
	json_t *tag;

	if (!json_is_array(r->value))
		return refuse_value(r, "an array of strings", err);
	if (json_array_size(r->value) > LINK_TAGS_MAX)
		return error_set(
			err, ERROR_INPUT,
			"tags: has %zu entries, at most %d are allowed",
			json_array_size(r->value), LINK_TAGS_MAX);
	json_array_foreach(r->value, i, tag)
	{
		if (read_text(r, tag, LINK_TEXT_MAX, &text, err))
			return -1;
		f->tags[f->tag_count++] = drop_const(text);
	}
	return 0;
}

/* --- behaviour of the redirect -------------------------------------------- */

static int read_not_before(struct field_reader *r, struct error *err)
{
	struct error why;

	if (!json_is_string(r->value) ||
	    rfc3339_parse(json_string_value(r->value), &r->fields->not_before,
			  &why) ||
	    r->fields->not_before < 0)
		return refuse_value(
			r,
			"an instant since 1970 as RFC 3339 writes it, "
			"such as 2026-12-01T08:00:00Z",
			err);
	return 0;
}

static int read_max_visits(struct field_reader *r, struct error *err)
{
	int64_t number = 0;

	if (read_whole(r, 1, LINK_VISITS_MAX, &number, err))
		return -1;
	r->fields->max_visits = (uint64_t)number;
	return 0;
}

/* Sets "name: expected ..." with the list, which it frees. */
static int refuse_choice(const struct field_reader *r, struct buf *list,
			 struct error *err)
{
	const char *text = buf_cstr(list);

	refuse_value(r, text ? text : "one of those documented", err);
	buf_free(list);
	return -1;
}

static int read_redirect_status(struct field_reader *r, struct error *err)
{
	double status = json_number_value(r->value);
	struct buf list = {0};

	for (size_t i = 0; i < LINK_REDIRECT_STATUSES; i++) {
		if (json_is_number(r->value) &&
		    status == link_redirect_statuses[i]) {
			r->fields->redirect_status = link_redirect_statuses[i];
			buf_free(&list);
			return 0;
		}
		buf_printf(&list, "%s%u",
			   link_choices_before(i, LINK_REDIRECT_STATUSES),
			   link_redirect_statuses[i]);
	}
	return refuse_choice(r, &list, err);
}

static int read_pass_query(struct field_reader *r, struct error *err)
{
	const char *text =
		json_is_string(r->value) ? json_string_value(r->value) : "";
	struct buf list = {0};

	for (size_t i = 0; i < LINK_QUERY_PASSES; i++) {
		const char *name = link_query_pass_name(link_query_passes[i]);

		if (!strcmp(text, name)) {
			r->fields->pass_query = link_query_passes[i];
			buf_free(&list);
			return 0;
		}
		buf_printf(&list, "%s%s",
			   link_choices_before(i, LINK_QUERY_PASSES), name);
	}
	return refuse_choice(r, &list, err);
}

static int read_pass_path(struct field_reader *r, struct error *err)
{
	if (!json_is_boolean(r->value))
		return refuse_value(r, "true or false", err);
	r->fields->pass_path = json_is_true(r->value);
	return 0;
}

static int read_state(struct field_reader *r, struct error *err)
{
	const char *text =
		json_is_string(r->value) ? json_string_value(r->value) : "";

	if (!strcmp(text, "live"))
		r->fields->state = SHORTLOOP__LINK_STATE__LINK_LIVE;
	else if (!strcmp(text, "blocked"))
		r->fields->state = SHORTLOOP__LINK_STATE__LINK_BLOCKED;
	else if (!strcmp(text, "paused"))
		r->fields->state = SHORTLOOP__LINK_STATE__LINK_PAUSED;
	else
		return refuse_value(r, "live, paused or blocked", err);
	return 0;
}

/* --- object --------------------------------------------------------------- */

static const struct {
	const char *name;
	enum link_field field;
	int (*read)(struct field_reader *r, struct error *err);
} known[] = {
	{"url", FIELD_URL, read_url},
	{"ttl", FIELD_TTL, read_ttl},
	{"account", FIELD_ACCOUNT, read_account},
	{"owner", FIELD_OWNER, read_owner},
	{"campaign", FIELD_CAMPAIGN, read_campaign},
	{"tags", FIELD_TAGS, read_tags},
	{"space", FIELD_SPACE, read_space},
	{"code", FIELD_CODE, read_code},
	{"domain", FIELD_DOMAIN, read_domain},
	{"targets", FIELD_TARGETS, read_targets},
	{"description", FIELD_DESCRIPTION, read_description},
	{"not_before", FIELD_NOT_BEFORE, read_not_before},
	{"max_visits", FIELD_MAX_VISITS, read_max_visits},
	{"redirect_status", FIELD_REDIRECT_STATUS, read_redirect_status},
	{"pass_query", FIELD_PASS_QUERY, read_pass_query},
	{"pass_path", FIELD_PASS_PATH, read_pass_path},
	{"state", FIELD_STATE, read_state},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

static int refuse_name(const char *name, unsigned allowed, struct error *err)
{
	struct buf list = {0};
	const char *text;

	for (size_t i = 0; i < KNOWN; i++)
		if (known[i].field & allowed)
			buf_printf(&list, "%s%s", list.len ? ", " : "",
				   known[i].name);
	text = buf_cstr(&list);
	error_set(err, ERROR_INPUT,
		  "%.64s: is not a field that can be given here; these can: "
		  "%s",
		  name, text ? text : "those documented");
	buf_free(&list);
	return -1;
}

static int read_field(struct field_reader *r, unsigned allowed, bool nullable,
		      struct error *err)
{
	for (size_t i = 0; i < KNOWN; i++) {
		if (strcmp(known[i].name, r->name) != 0 ||
		    !(known[i].field & allowed))
			continue;
		r->fields->given |= known[i].field;
		if (nullable && json_is_null(r->value))
			return 0;
		return known[i].read(r, err);
	}
	return refuse_name(r->name, allowed, err);
}

int link_fields_read(struct link_fields *fields, json_t *root,
		     const struct link_rules *rules, unsigned allowed,
		     bool nullable, struct error *err)
{
	struct field_reader r = {.fields = fields, .rules = rules};

	*fields = (struct link_fields){.url = "",
				       .space_name = "",
				       .code = "",
				       .domain_name = "",
				       .account = "",
				       .owner = "",
				       .campaign = "",
				       .description = ""};
	json_object_foreach(root, r.name, r.value)
	{
		struct error why = {0};

		if (read_field(&r, allowed, nullable, &why) == 0)
			continue;
		if (why.code != ERROR_INPUT) {
			*err = why;
			return -1;
		}
		field_mistakes_add(&fields->mistakes, r.name, &why);
	}
	return field_mistakes_result(&fields->mistakes, err);
}

void link_fields_add_mistake(struct link_fields *fields,
			     const struct error *err)
{
	if (err->code == ERROR_INPUT && *err->field)
		field_mistakes_add(&fields->mistakes, err->field, err);
}

int link_fields_parse(struct http_slice text, json_t **ret_root,
		      struct error *err)
{
	const char *data = text.data ? text.data : "";
	json_error_t why;
	json_t *root;

	/* jansson ignores a NUL byte that follows a number. */
	if (memchr(data, '\0', text.len))
		return error_set(err, ERROR_INPUT, "not JSON: a NUL byte");
	root = json_loadb(data, text.len, JSON_REJECT_DUPLICATES, &why);
	/* The line number of jansson is not that of a batch's line. */
	if (!root && why.line == 1)
		return error_set(err, ERROR_INPUT, "not JSON: column %d: %s",
				 why.column, why.text);
	if (!root)
		return error_set(err, ERROR_INPUT,
				 "not JSON: line %d, column %d: %s", why.line,
				 why.column, why.text);
	if (!json_is_object(root)) {
		json_decref(root);
		return error_set(err, ERROR_INPUT,
				 "not a JSON object, such as "
				 "{\"url\":\"https://example.org/\"}");
	}
	*ret_root = root;
	return 0;
}
