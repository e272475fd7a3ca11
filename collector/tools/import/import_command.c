/* import_command.c - `collector import`: past access logs become clicks. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector/commands.h"
#include "collector/memory.h"
#include "collector/tools/import/importer.h"
#include "common/clock.h"

static const char *option(struct app *app, const char *name,
			  const char *fallback)
{
	const char *value = app_option_value(app, name);

	return value ? value : fallback;
}

static int read_wait(struct app *app, int64_t *ret_ms, struct error *err)
{
	if (duration_parse(option(app, "wait", "1m"), ret_ms, err) == 0)
		return 0;
	error_wrap(err, "--wait");
	err->code = ERROR_USAGE;
	return -1;
}

static int read_options(struct app *app, struct import_options *o,
			struct error *err)
{
	const char *rejects = app_option_value(app, "rejects");

	*o = (struct import_options){
		.rules = {.path_prefix = option(app, "path-prefix", "/"),
			  .domain = app_option_value(app, "domain"),
			  .edge = option(app, "edge", "import")},
		.identity = app_option_value(app, "identity"),
		.dry_run = app_option_value(app, "dry-run") != NULL,
	};
	if (o->rules.path_prefix[0] != '/')
		return error_set(err, ERROR_USAGE,
				 "--path-prefix: '%s': expected a path that "
				 "begins with a slash",
				 o->rules.path_prefix);
	if (read_wait(app, &o->wait_ms, err) < 0)
		return -1;
	if (!rejects)
		return 0;
	o->rejects = fopen(rejects, "we");
	return o->rejects ? 0 : error_set_errno(err, "--rejects: %s", rejects);
}

/* All of them are there, before the first is begun. */
static int check_files(char *const *files, size_t count,
		       const struct import_options *o, struct error *err)
{
	if (!count)
		return error_set(err, ERROR_USAGE,
				 "import: which logs?  (- is standard input)");
	if (count > 1 && o->identity)
		return error_set(err, ERROR_USAGE,
				 "--identity is the name of one log");
	for (size_t i = 0; i < count; i++) {
		bool input = !strcmp(files[i], "-");

		if (input && !o->identity && !o->dry_run)
			return error_set(err, ERROR_USAGE,
					 "standard input needs a name: "
					 "--identity NAME");
		if (input || access(files[i], R_OK) == 0)
			continue;
		error_set_errno(err, "%s", files[i]);
		err->code = ERROR_NOTFOUND;
		return -1;
	}
	return 0;
}

static int import_all(struct importer *im, char *const *files, size_t count,
		      struct error *err)
{
	uint64_t unreadable, sum = 0;
	struct error broken = {0};

	for (size_t i = 0; i < count; i++) {
		struct error why = {0};

		if (importer_run(im, files[i], &unreadable, &why) < 0 &&
		    !broken.code)
			broken = why;
		sum += unreadable;
		/* What is wrong with one log keeps none of the others back. */
		if (why.code && why.code != ERROR_INPUT)
			break;
	}
	if (broken.code) {
		*err = broken;
		return -1;
	}
	return sum ? 1 : 0;
}

static int close_rejects(const struct import_options *o, int status,
			 struct error *err)
{
	bool failed;

	if (!o->rejects)
		return status;
	failed = ferror(o->rejects) != 0;
	failed |= fclose(o->rejects) != 0;
	if (!failed || status < 0)
		return status;
	return error_set_errno(err, "--rejects");
}

int collector_import(struct app *app, const struct collector_config *config,
		     struct error *err)
{
	struct import_options options;
	struct access_format *format;
	struct importer *im = NULL;
	size_t count;
	char *const *files = app_operands(app, &count);
	int status = -1;

	memory_tame();
	if (read_options(app, &options, err) < 0)
		return -1;
	if (check_files(files, count, &options, err) < 0)
		goto out;
	format = access_format_new(option(app, "format", "auto"),
				   app_option_value(app, "json-keys"), err);
	if (format)
		im = importer_new(app, config, &options, format, err);
	if (im)
		status = import_all(im, files, count, err);
	importer_free(im);
out:
	return close_rejects(&options, status, err);
}
