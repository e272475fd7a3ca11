#include "common/json_file.h"

#include "common/read_file.h"

#define BYTES_MAX ((size_t)64 << 20)

static json_t *parse_file_as_json(const struct buf *text, const char *path,
				  struct error *err)
{
	json_error_t at;
	json_t *json =
		json_loadb(text->len ? text->data : "", text->len, 0, &at);

	if (!json)
		error_set(err, ERROR_CONFIG, "%s:%d:%d: %s", path, at.line,
			  at.column, at.text);
	return json;
}

json_t *json_file_load(const char *path, struct error *err)
{
	struct buf text = {0};
	json_t *json = NULL;
	struct error why;

	if (read_file(path, BYTES_MAX, &text, &why) < 0)
		error_set(err, ERROR_CONFIG, "%s: %s", path, why.text);
	else if (text.failed)
		error_set_nomem(err);
	else if (text.len > BYTES_MAX)
		error_set(err, ERROR_CONFIG, "%s: is longer than %zu bytes",
			  path, BYTES_MAX);
	else
		json = parse_file_as_json(&text, path, err);
	buf_free(&text);
	return json;
}
