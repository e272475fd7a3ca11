#include "allocator/link/link_fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "allocator/link/link_reading.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/unconst.h"
#include "common/unseen.h"

#define MAX_VISITS_MAX INT64_C(1000000000000)

/* --- shapes --------------------------------------------------------------- */

int link_reading_refuse(const struct link_reading *r, const char *expected,
			struct error *err)
{
	return error_set(err, ERROR_INPUT, "%s: expected %s", r->name,
			 expected);
}

static int read_text(const struct link_reading *r, json_t *value, size_t max,
		     const char **ret, struct error *err)
{
	enum unseen kind;

	if (!json_is_string(value))
		return link_reading_refuse(r, "a string", err);
	if (json_string_length(value) > max)
		return error_set(err, ERROR_INPUT,
				 "%s: has %zu bytes, at most %zu are allowed",
				 r->name, json_string_length(value), max);
	unseen_find(json_string_value(value), json_string_length(value),
		    UNSEEN_IN_TEXT, &kind);
	if (kind == UNSEEN_FORMAT)
		return error_set(err, ERROR_INPUT,
				 "%s: has a character that nobody sees and "
				 "that changes how the others are read",
				 r->name);
	if (kind != UNSEEN_NONE)
		return error_set(err, ERROR_INPUT,
				 "%s: has a control character", r->name);
	*ret = json_string_value(value);
	return 0;
}

static int read_whole(const struct link_reading *r, int64_t min, int64_t max,
		      int64_t *ret, struct error *err)
{
	double number = json_number_value(r->value);

	/* 3.0 is one, too: not every language tells them apart. */
	if (!json_is_number(r->value) || number != floor(number))
		return link_reading_refuse(r, "a whole number", err);
	if (number < (double)min || number > (double)max)
		return error_set(err, ERROR_INPUT,
				 "%s: expected a whole number from %lld to "
				 "%lld",
				 r->name, (long long)min, (long long)max);
	*ret = (int64_t)number;
	return 0;
}

/* --- what it is called and how long it lives ------------------------------ */

int link_fields_refuse_ttl(const struct linkstore *store, struct error *err)
{
	struct buf list = {0};
	const char *text;

	for (size_t i = 0; i < linkstore_class_count(store); i++)
		buf_printf(&list, "%s%s", i ? ", " : "",
			   linkstore_class(store, i)->name);
	text = buf_cstr(&list);
	error_set(err, ERROR_INPUT, "ttl: expected one of %s",
		  text ? text : "those configured");
	buf_free(&list);
	return -1;
}

static int read_ttl(struct link_reading *r, struct error *err)
{
	const struct linkstore *store = r->rules->store;

	if (!json_is_string(r->value))
		return link_reading_refuse(r, "a string", err);
	r->fields->ttl =
		linkstore_class_named(store, json_string_value(r->value));
	return r->fields->ttl ? 0 : link_fields_refuse_ttl(store, err);
}

static int read_space(struct link_reading *r, struct error *err)
{
	const struct linkstore *store = r->rules->store;
	struct buf list = {0};
	const char *text;

	if (!json_is_string(r->value))
		return link_reading_refuse(r, "a string", err);
	r->fields->space =
		linkstore_space_named(store, json_string_value(r->value));
	if (r->fields->space)
		return 0;
	for (size_t i = 0; i < linkstore_space_count(store); i++)
		buf_printf(&list, "%s%s", i ? ", " : "",
			   linkstore_space(store, i)->name);
	text = buf_cstr(&list);
	error_set(err, ERROR_INPUT, "space: expected one of %s",
		  text ? text : "those configured");
	buf_free(&list);
	return -1;
}

static int read_code(struct link_reading *r, struct error *err)
{
	if (read_text(r, r->value, LINK_ALIAS_MAX, &r->fields->code, err))
		return -1;
	return *r->fields->code ? 0
				: link_reading_refuse(
					  r, "1 to 64 of [0-9A-Za-z_-]", err);
}

static int refuse_domain(const struct domains *d, struct error *err)
{
	struct buf list = {0};
	const char *text;

	for (size_t i = 0; i < domains_count(d); i++)
		buf_printf(&list, "%s%s", i ? ", " : "",
			   domains_at(d, i)->name);
	text = buf_cstr(&list);
	if (text && *text)
		error_set(err, ERROR_INPUT, "domain: expected one of %s", text);
	else
		error_set(err, ERROR_INPUT,
			  "domain: leave it out, none is configured");
	buf_free(&list);
	return -1;
}

static int read_domain(struct link_reading *r, struct error *err)
{
	const char *name = NULL;

	if (read_text(r, r->value, LINK_TEXT_MAX, &name, err))
		return -1;
	r->fields->domain = domains_named(r->rules->domains, name);
	return r->fields->domain ? 0 : refuse_domain(r->rules->domains, err);
}

/* --- what is said of it --------------------------------------------------- */

static int read_owner(struct link_reading *r, struct error *err)
{
	return read_text(r, r->value, LINK_TEXT_MAX, &r->fields->owner, err);
}

static int read_campaign(struct link_reading *r, struct error *err)
{
	return read_text(r, r->value, LINK_TEXT_MAX, &r->fields->campaign, err);
}

static int read_description(struct link_reading *r, struct error *err)
{
	return read_text(r, r->value, LINK_DESCRIPTION_MAX,
			 &r->fields->description, err);
}

static int read_tags(struct link_reading *r, struct error *err)
{
	struct link_fields *f = r->fields;
	const char *text = "";
	size_t i;
	json_t *tag;

	if (!json_is_array(r->value))
		return link_reading_refuse(r, "an array of strings", err);
	if (json_array_size(r->value) > LINK_TAGS_MAX)
		return error_set(
			err, ERROR_INPUT,
			"tags: has %zu entries, at most %d are allowed",
			json_array_size(r->value), LINK_TAGS_MAX);
	json_array_foreach(r->value, i, tag)
	{
		if (read_text(r, tag, LINK_TEXT_MAX, &text, err))
			return -1;
		f->tags[f->tag_count++] = unconst(text);
	}
	return 0;
}

/* --- how it behaves ------------------------------------------------------- */

static int read_not_before(struct link_reading *r, struct error *err)
{
	struct error why;

	if (!json_is_string(r->value) ||
	    rfc3339_parse(json_string_value(r->value), &r->fields->not_before,
			  &why) ||
	    r->fields->not_before < 0)
		return link_reading_refuse(
			r,
			"an instant since 1970 as RFC 3339 writes it, "
			"such as 2026-12-01T08:00:00Z",
			err);
	return 0;
}

static int read_max_visits(struct link_reading *r, struct error *err)
{
	int64_t number = 0;

	if (read_whole(r, 1, MAX_VISITS_MAX, &number, err))
		return -1;
	r->fields->max_visits = (uint64_t)number;
	return 0;
}

static int read_redirect_status(struct link_reading *r, struct error *err)
{
	int64_t status = 0;

	read_whole(r, 301, 308, &status, err);
	if (status != 301 && status != 302 && status != 307 && status != 308)
		return link_reading_refuse(r, "301, 302, 307 or 308", err);
	r->fields->redirect_status = (uint32_t)status;
	return 0;
}

static int read_state(struct link_reading *r, struct error *err)
{
	const char *text =
		json_is_string(r->value) ? json_string_value(r->value) : "";

	if (!strcmp(text, "live"))
		r->fields->state = SHORTLOOP__LINK_STATE__LINK_LIVE;
	else if (!strcmp(text, "blocked"))
		r->fields->state = SHORTLOOP__LINK_STATE__LINK_BLOCKED;
	else
		return link_reading_refuse(r, "live or blocked", err);
	return 0;
}

/* --- all of them ---------------------------------------------------------- */

static const struct {
	const char *name;
	enum link_field field;
	int (*read)(struct link_reading *r, struct error *err);
} known[] = {
	{"url", FIELD_URL, link_reading_url},
	{"ttl", FIELD_TTL, read_ttl},
	{"owner", FIELD_OWNER, read_owner},
	{"campaign", FIELD_CAMPAIGN, read_campaign},
	{"tags", FIELD_TAGS, read_tags},
	{"space", FIELD_SPACE, read_space},
	{"code", FIELD_CODE, read_code},
	{"domain", FIELD_DOMAIN, read_domain},
	{"targets", FIELD_TARGETS, link_reading_targets},
	{"description", FIELD_DESCRIPTION, read_description},
	{"not_before", FIELD_NOT_BEFORE, read_not_before},
	{"max_visits", FIELD_MAX_VISITS, read_max_visits},
	{"redirect_status", FIELD_REDIRECT_STATUS, read_redirect_status},
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

static int read_field(struct link_reading *r, unsigned allowed, bool nullable,
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
	struct link_reading r = {.fields = fields, .rules = rules};

	*fields = (struct link_fields){.url = "",
				       .code = "",
				       .owner = "",
				       .campaign = "",
				       .description = ""};
	json_object_foreach(root, r.name, r.value)
	{
		if (read_field(&r, allowed, nullable, err))
			return -1;
	}
	return 0;
}

int link_json_parse(struct http_slice text, json_t **ret_root,
		    struct error *err)
{
	const char *data = text.data ? text.data : "";
	json_error_t why;
	json_t *root;

	/* jansson passes over one that ends a number. */
	if (memchr(data, '\0', text.len))
		return error_set(err, ERROR_INPUT, "not JSON: a NUL byte");
	root = json_loadb(data, text.len, JSON_REJECT_DUPLICATES, &why);
	/* Of a batch's line it would be the wrong number. */
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
