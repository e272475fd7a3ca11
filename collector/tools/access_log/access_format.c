#include "collector/tools/access_log/access_format.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/tools/access_log/access_json.h"
#include "collector/tools/access_log/access_pattern.h"

#define COMBINED "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\""

/* In the order in which they are tried; json is the one without a text. */
static const struct {
	const char *name;
	const char *format;
} known[] = {
	{"json", NULL},
	{"combined", COMBINED},
	{"vhost_combined", "%v:%p " COMBINED},
	{"common", "%h %l %u %t \"%r\" %>s %b"},
};

enum {
	KNOWN_COUNT = sizeof(known) / sizeof(known[0]),
};

struct access_reader {
	const char *name;
	struct access_pattern *pattern; /* NULL: json */
};

struct access_format {
	struct access_reader readers[KNOWN_COUNT];
	size_t count;
	const struct access_reader *chosen; /* NULL: not yet */
	struct access_json *json;
	struct buf scratch;
};

static int add(struct access_format *f, const char *name, const char *format,
	       bool open_end, struct error *err)
{
	struct access_reader *r = &f->readers[f->count];

	r->name = name;
	if (format) {
		r->pattern = access_pattern_new(format, open_end, err);
		if (!r->pattern)
			return -1;
	}
	f->count++;
	return 0;
}

static int fill(struct access_format *f, const char *text, struct error *err)
{
	bool any = !strcmp(text, "auto");

	if (!strcmp(text, "clf"))
		text = "common";
	for (size_t i = 0; i < KNOWN_COUNT; i++)
		if ((any || !strcmp(text, known[i].name)) &&
		    add(f, known[i].name, known[i].format, true, err) < 0)
			return -1;
	if (f->count)
		return 0;
	if (!strpbrk(text, "%$"))
		return error_set(
			err, ERROR_USAGE,
			"--format: '%s' is none of auto, combined, "
			"common, vhost_combined and json, and has no %% "
			"or $ in it",
			text);
	return add(f, "as given", text, false, err);
}

struct access_format *access_format_new(const char *text, const char *json_keys,
					struct error *err)
{
	struct access_format *f = calloc(1, sizeof(*f));

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	f->json = access_json_new(json_keys, err);
	if (f->json && fill(f, text, err) == 0) {
		access_format_restart(f);
		return f;
	}
	access_format_free(f);
	return NULL;
}

void access_format_free(struct access_format *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < KNOWN_COUNT; i++)
		access_pattern_free(f->readers[i].pattern);
	access_json_free(f->json);
	buf_free(&f->scratch);
	free(f);
}

void access_format_restart(struct access_format *f)
{
	f->chosen = f->count == 1 ? &f->readers[0] : NULL;
}

const char *access_format_name(const struct access_format *f)
{
	return f->chosen ? f->chosen->name : "nothing new";
}

static int read_as(struct access_format *f, const struct access_reader *r,
		   const char *line, size_t len, struct access_visit *ret_visit,
		   struct error *err)
{
	struct access_fields fields;
	const char *time_format = NULL;

	if (!r->pattern) {
		if (access_json_read(f->json, line, len, &fields, err) < 0)
			return -1;
	} else {
		time_format = access_pattern_time(r->pattern);
		if (access_pattern_read(r->pattern, line, len, &f->scratch,
					&fields, err) < 0)
			return -1;
	}
	return access_visit_read(&fields, time_format, ret_visit, err);
}

/* The first that reads the line and finds an address in it; or, failing that,
 * the first that reads it. */
static const struct access_reader *choose(struct access_format *f,
					  const char *line, size_t len)
{
	const struct access_reader *fair = NULL;
	struct error err = {0};
	struct access_visit v;

	for (size_t i = 0; i < f->count; i++) {
		const struct access_reader *r = &f->readers[i];

		if (read_as(f, r, line, len, &v, &err) < 0)
			continue;
		if (v.ip_len)
			return r;
		fair = fair ? fair : r;
	}
	return fair;
}

int access_format_read(struct access_format *f, const char *line, size_t len,
		       struct access_visit *ret_visit, struct error *err)
{
	if (len && line[len - 1] == '\r')
		len--;
	if (!f->chosen)
		f->chosen = choose(f, line, len);
	if (!f->chosen)
		return error_set(err, ERROR_INPUT,
				 "in none of the usual formats; see --format");
	return read_as(f, f->chosen, line, len, ret_visit, err);
}
