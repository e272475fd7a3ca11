#include "allocator/api/link_request.h"

#include <string.h>

#include "allocator/api/link_url.h"
#include "common/buf.h"
#include "common/unconst.h"

/* Reads one field into the request. */
typedef int field_fn(struct link_request *request,
		     const struct link_defaults *defaults, json_t *value,
		     struct error *err);

static int expect_string(const char *name, json_t *value, struct error *err)
{
	if (json_is_string(value))
		return 0;
	return error_set(err, ERROR_INPUT, "%s: expected a string", name);
}

static int expect_text(const char *name, json_t *value, struct error *err)
{
	const char *text;

	if (expect_string(name, value, err) < 0)
		return -1;
	if (json_string_length(value) > LINK_TEXT_MAX)
		return error_set(err, ERROR_INPUT,
				 "%s: has %zu bytes, at most %d are allowed",
				 name, json_string_length(value),
				 LINK_TEXT_MAX);
	for (text = json_string_value(value); *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return error_set(err, ERROR_INPUT,
					 "%s: has a control character", name);
	}
	return 0;
}

static int read_url(struct link_request *request,
		    const struct link_defaults *defaults, json_t *value,
		    struct error *err)
{
	(void)defaults;
	if (expect_string("url", value, err) < 0)
		return -1;
	request->url = json_string_value(value);
	return link_url_check(request->url, json_string_length(value), err);
}

/* "expected one of a, b" */
static int refuse_class(const struct linkstore *store, struct error *err)
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

static int read_ttl(struct link_request *request,
		    const struct link_defaults *defaults, json_t *value,
		    struct error *err)
{
	if (expect_string("ttl", value, err) < 0)
		return -1;
	request->ttl = linkstore_class_named(defaults->store,
					     json_string_value(value));
	return request->ttl ? 0 : refuse_class(defaults->store, err);
}

static int refuse_space(const struct linkstore *store, struct error *err)
{
	struct buf list = {0};
	const char *text;

	for (size_t i = 0; i < linkstore_space_count(store); i++)
		buf_printf(&list, "%s%s", i ? ", " : "",
			   linkstore_space(store, i)->name);
	text = buf_cstr(&list);
	error_set(err, ERROR_INPUT, "space: expected one of %s",
		  text ? text : "those configured");
	buf_free(&list);
	return -1;
}

static int read_space(struct link_request *request,
		      const struct link_defaults *defaults, json_t *value,
		      struct error *err)
{
	if (expect_string("space", value, err) < 0)
		return -1;
	request->space = linkstore_space_named(defaults->store,
					       json_string_value(value));
	return request->space ? 0 : refuse_space(defaults->store, err);
}

static int read_owner(struct link_request *request,
		      const struct link_defaults *defaults, json_t *value,
		      struct error *err)
{
	(void)defaults;
	request->owner = json_string_value(value);
	return expect_text("owner", value, err);
}

static int read_campaign(struct link_request *request,
			 const struct link_defaults *defaults, json_t *value,
			 struct error *err)
{
	(void)defaults;
	request->campaign = json_string_value(value);
	return expect_text("campaign", value, err);
}

static int read_tags(struct link_request *request,
		     const struct link_defaults *defaults, json_t *value,
		     struct error *err)
{
	size_t i;
	json_t *tag;

	(void)defaults;
	if (!json_is_array(value))
		return error_set(err, ERROR_INPUT,
				 "tags: expected an array of strings");
	if (json_array_size(value) > LINK_TAGS_MAX)
		return error_set(
			err, ERROR_INPUT,
			"tags: has %zu entries, at most %d are allowed",
			json_array_size(value), LINK_TAGS_MAX);
	json_array_foreach(value, i, tag)
	{
		if (expect_text("tags", tag, err) < 0)
			return -1;
		request->tags[request->tag_count++] =
			unconst(json_string_value(tag));
	}
	return 0;
}

static const struct {
	const char *name;
	field_fn *read;
} fields[] = {
	{"url", read_url},     {"ttl", read_ttl},   {"space", read_space},
	{"owner", read_owner}, {"tags", read_tags}, {"campaign", read_campaign},
};

static field_fn *field_named(const char *name)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!strcmp(fields[i].name, name))
			return fields[i].read;
	}
	return NULL;
}

static int read_fields(struct link_request *request,
		       const struct link_defaults *defaults, struct error *err)
{
	const char *name;
	json_t *value;
	field_fn *read;

	json_object_foreach(request->root, name, value)
	{
		read = field_named(name);
		if (!read)
			return error_set(err, ERROR_INPUT,
					 "%.64s: is not a field of a link; "
					 "known are url, ttl, space, owner, "
					 "campaign and tags",
					 name);
		if (read(request, defaults, value, err) < 0)
			return -1;
	}
	return 0;
}

static int parse_json(struct link_request *request, struct http_slice body,
		      struct error *err)
{
	json_error_t why;

	request->root = json_loadb(body.data ? body.data : "", body.len,
				   JSON_REJECT_DUPLICATES, &why);
	if (!request->root)
		return error_set(err, ERROR_INPUT,
				 "the body is not JSON: line %d, column %d: %s",
				 why.line, why.column, why.text);
	if (!json_is_object(request->root))
		return error_set(err, ERROR_INPUT,
				 "the body is not a JSON object");
	return 0;
}

int link_request_parse(struct link_request *request,
		       const struct link_defaults *defaults,
		       struct http_slice body, struct error *err)
{
	*request = (struct link_request){.space = defaults->space,
					 .ttl = defaults->ttl,
					 .owner = "",
					 .campaign = ""};
	if (parse_json(request, body, err) < 0 ||
	    read_fields(request, defaults, err) < 0)
		return -1;
	if (!request->url)
		return error_set(err, ERROR_INPUT, "url: is required");
	return request->ttl ? 0 : refuse_class(defaults->store, err);
}

void link_request_release(struct link_request *request)
{
	json_decref(request->root);
	*request = (struct link_request){0};
}
