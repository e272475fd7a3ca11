#include "allocator/batch/edit_line.h"

#include <inttypes.h>
#include <string.h>

#include "allocator/link/link_view.h"
#include "linkstore/link/names.h"

static int read_slice(const json_t *value, struct http_slice *ret,
		      struct error *err)
{
	if (!json_is_string(value))
		return error_set(err, ERROR_INPUT, "expected a string");
	*ret = (struct http_slice){json_string_value(value),
				   json_string_length(value)};
	return 0;
}

static int read_true(const json_t *value, bool *ret, struct error *err)
{
	*ret = json_is_true(value);
	return *ret ? 0 : error_set(err, ERROR_INPUT, "expected true");
}

static int read_member(struct edit_line *line, const struct link_rules *rules,
		       const char *name, json_t *value, struct error *err)
{
	if (!strcmp(name, "code"))
		return read_slice(value, &line->code, err);
	if (!strcmp(name, "if_match"))
		return read_slice(value, &line->if_match, err);
	if (!strcmp(name, "delete"))
		return read_true(value, &line->deletes, err);
	if (!strcmp(name, "restore"))
		return read_true(value, &line->restores, err);
	if (!strcmp(name, "patch")) {
		line->patches = true;
		return link_patch_read(&line->patch, rules, value, err);
	}
	return error_set(err, ERROR_INPUT,
			 "is not a member of an edit; these are: code, patch, "
			 "delete, restore, if_match");
}

bool edit_line_says_what(const struct edit_line *line)
{
	return line->patches || line->deletes || line->restores;
}

void edit_line_order(const struct edit_line *line, struct change_order *order)
{
	order->patch = line->patches ? &line->patch : NULL;
	order->restores = line->restores;
	order->skip_unchanged = true;
}

static int check_members(const struct edit_line *line, struct error *err)
{
	if (line->patches + line->deletes + line->restores > 1)
		return error_set(err, ERROR_INPUT,
				 "%s: excludes the others of patch, delete and "
				 "restore",
				 line->deletes ? "delete" : "restore");
	if (!line->code.data && !edit_line_says_what(line))
		return error_set(err, ERROR_INPUT,
				 "code: is required, and patch, delete or "
				 "restore");
	if (!line->code.data && line->if_match.data)
		return error_set(err, ERROR_INPUT,
				 "if_match: is of one link, so it needs a "
				 "code");
	return 0;
}

int edit_line_parse(struct edit_line *line, const struct link_rules *rules,
		    struct http_slice text, struct error *err)
{
	const char *name;
	json_t *value;

	line->root = NULL;
	line->code = line->if_match = (struct http_slice){NULL, 0};
	line->patches = line->deletes = line->restores = false;
	line->patch.root = NULL;
	line->patch.fields.mistakes = (struct field_mistakes){0};
	if (link_fields_parse(text, &line->root, err) < 0)
		return -1;
	json_object_foreach(line->root, name, value)
	{
		if (read_member(line, rules, name, value, err) < 0)
			return error_wrap(err, "%.64s", name);
	}
	return check_members(line, err);
}

int edit_line_parse_all(struct edit_line *line, const struct link_rules *rules,
			struct http_slice text, struct error *err)
{
	if (edit_line_parse(line, rules, text, err) < 0)
		return -1;
	if (line->code.data)
		return error_set(err, ERROR_INPUT,
				 "code: the links are those of the filter");
	return 0;
}

void edit_line_release(struct edit_line *line)
{
	link_patch_release(&line->patch);
	json_decref(line->root);
	line->root = NULL;
}

/* --- options -------------------------------------------------------------- */

/* Reads `yes` as true and `no` as false. */
static int read_choice(const struct url_param *param, const char *yes,
		       const char *no, bool *ret, struct error *err)
{
	*ret = !strcmp(param->value, yes);
	if (*ret || !strcmp(param->value, no))
		return 1;
	return error_set(err, ERROR_INPUT, "%s: expected %s or %s", param->key,
			 yes, no);
}

int edit_options_read(struct edit_options *options,
		      const struct url_param *param, struct error *err)
{
	if (!strcmp(param->key, "dry_run"))
		return read_choice(param, "true", "false", &options->dry_run,
				   err);
	if (!strcmp(param->key, "answer"))
		return read_choice(param, "links", "compact",
				   &options->whole_links, err);
	return 0;
}

/* --- answer ----------------------------------------------------------------
 */

static void put_link(const struct change_result *result,
		     const struct link_rules *rules, struct buf *out)
{
	const struct link_view view = {
		.base_url = link_view_base_url(rules, result->link),
		.space = result->space->name,
		.code = result->code,
		.link = result->link,
		.expires = result->expires,
	};

	buf_puts(out, ",\"link\":");
	link_view_write(&view, out);
}

void edit_answer_put(const struct change_result *result,
		     const struct link_rules *rules,
		     const struct edit_options *options, struct buf *out)
{
	/* A code has no character that JSON would escape. */
	buf_printf(out,
		   "\"code\":\"%s\",\"version\":%" PRIu32
		   ",\"state\":\"%s\",\"changed\":%s",
		   result->code, result->link->version,
		   link_state_name(result->link->state),
		   result->changed ? "true" : "false");
	if (options->dry_run)
		buf_puts(out, ",\"dry_run\":true");
	if (options->whole_links && !result->deletes)
		put_link(result, rules, out);
}
