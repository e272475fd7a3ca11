/* import_command.c - `collector import`: turns past access logs into clicks. */
#include <ctype.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/collector_config.h"
#include "collector/commands.h"
#include "collector/memory.h"
#include "collector/tools/access_log/access_format.h"
#include "collector/tools/import/import_batch.h"
#include "collector/tools/import/import_stats.h"
#include "collector/tools/import/inserter.h"
#include "collector/tools/import/log_source.h"
#include "collector/tools/import/undo.h"
#include "collector/tools/import/visit_click.h"
#include "collector/tools/line_reader.h"
#include "common/app/app.h"
#include "common/clock.h"
#include "common/drop_const.h"
#include "common/error.h"
#include "linkstore/domains.h"

/* --- import of logs, one after another ------------------------------------ */

struct import_options {
	struct visit_rules rules; /* event_id is filled per log */
	struct access_rules access;
	struct domains_config domains; /* only `file`, NULL: not given */
	struct network_list *proxies;  /* for `access`; NULL: unknown */
	/* NULL: found by the first lines of the log. */
	const char *identity;
	FILE *rejects; /* NULL: none */
	bool force;    /* no log is refused for missing fields */
	/* Reads and reports, without any server. */
	bool dry_run;
	int64_t wait_ms; /* limit for a server that is away */
};

enum {
	LINE_BYTES_MAX = 1024 * 1024,
	PROXIES_MAX = 256,
	ZONE_PATH_MAX = 256,
};

struct importer {
	struct app *app;
	const struct import_options *options;
	struct domains *domains;
	struct collector_settings settings; /* with the epoch of imports */
	struct import_batch_limits limits;
	struct access_format *format;
	struct enricher *enricher; /* NULL: a dry run */
	struct inserter *inserter; /* NULL: a dry run */
	struct import_batch batch;

	/* For the log being imported: */
	struct log_source *source;
	struct line_reader *lines;
	struct visit_rules rules;
	struct journal_state state;
	struct import_stats stats;
	bool checked; /* by import_stats_check, or imported before */
};

/* A batch uses memory for its clicks, then as much for rows, which become
 * columns, and for the archive's answers.  Together these may use what batches
 * and Kafka have in a running collector. */
static int limit_batches(const struct collector_settings *settings,
			 struct import_batch_limits *ret, struct error *err)
{
	struct memory_shares shares;

	if (memory_share(settings->memory, collector_caches(settings), &shares,
			 err) < 0)
		return -1;
	*ret = (struct import_batch_limits){
		.rows = (size_t)settings->batch_rows,
		.bytes = (size_t)settings->batch_bytes,
		.memory = shares.rows / 2,
	};
	return 0;
}

static void importer_free(struct importer *im)
{
	if (!im)
		return;
	access_format_free(im->format);
	enricher_free(im->enricher);
	inserter_free(im->inserter);
	domains_free(im->domains);
	import_batch_release(&im->batch);
	free(im);
}

/* Returns the domains of a file, or else those of the configuration. */
static struct domains *open_domains(const struct domains_config *config,
				    const struct domains_config *file,
				    struct error *err)
{
	struct domains *domains;

	if (!file->file && config->shared) {
		error_set(err, ERROR_USAGE,
			  "domains.shared: the domains are in Redis, where an "
			  "import does not read them: --domains FILE (the "
			  "output of allocator domains show)");
		return NULL;
	}
	domains = domains_open(file->file ? file : config, NULL, NULL, err);
	if (!domains && file->file)
		error_wrap(err, "--domains");
	return domains;
}

/* All arguments must outlive it, except `format`, which it owns from now on,
 * also after a failure. */
static struct importer *importer_new(struct app *app,
				     const struct collector_config *config,
				     const struct import_options *options,
				     struct access_format *format,
				     struct error *err)
{
	struct importer *im = calloc(1, sizeof(*im));

	if (!im) {
		error_set_nomem(err);
		access_format_free(format);
		return NULL;
	}
	im->app = app;
	im->options = options;
	im->format = format;
	im->settings = config->collector;
	im->settings.epoch = IMPORT_EPOCH;
	if (limit_batches(&im->settings, &im->limits, err) < 0)
		goto fail;
	if (options->dry_run)
		return im;
	im->domains = open_domains(&config->domains, &options->domains, err);
	if (im->domains)
		im->enricher = enricher_new(&im->settings, err);
	if (im->enricher)
		im->inserter = inserter_new(app, config, im->domains,
					    options->wait_ms, err);
	if (im->inserter)
		return im;
fail:
	importer_free(im);
	return NULL;
}

/* --- lines ---------------------------------------------------------------- */

static int take_visit(struct importer *im, const struct access_visit *visit,
		      struct error *err)
{
	switch (import_batch_take(&im->batch, visit, &im->rules)) {
	case VISIT_CLICK:
		import_stats_click(&im->stats, visit);
		break;
	case VISIT_NO_REQUEST:
		im->stats.no_request++;
		break;
	case VISIT_ELSEWHERE:
		im->stats.elsewhere++;
		break;
	case VISIT_NO_CODE:
		import_stats_no_code(&im->stats, visit);
		break;
	case VISIT_NO_MEMORY:
		return error_set_nomem(err);
	}
	return 0;
}

static bool is_blank(const struct line *line)
{
	return line->len == 0 || (line->len == 1 && *line->text == '\r');
}

static int take_line(struct importer *im, const struct line *line,
		     struct error *err)
{
	struct error why = {0};
	struct access_visit visit;

	import_batch_note_line(&im->batch, line->offset, line->len);
	if (is_blank(line)) {
		im->stats.blank++;
		return 0;
	}
	if (access_format_remark(im->format, line->text, line->len)) {
		im->stats.remarks++;
		return 0;
	}
	if (line->cut)
		error_set(&why, ERROR_INPUT, "longer than %d bytes",
			  LINE_BYTES_MAX);
	else if (access_format_read(im->format, line->text, line->len, &visit,
				    &why) == 0)
		return take_visit(im, &visit, err);
	if (why.code != ERROR_INPUT) {
		*err = why;
		return -1;
	}
	import_batch_note_unreadable(&im->batch);
	import_stats_unreadable(&im->stats, line->text, line->len, &why);
	return 0;
}

/* --- batches -------------------------------------------------------------- */

/* Returns whether the batch is complete.  A batch that may have been sent is
 * made of the same lines again. */
static bool batch_ends(const struct importer *im)
{
	const struct import_batch *b = &im->batch;

	if (!b->lines)
		return false;
	if (im->state.pending && b->first == im->state.first)
		return b->last >= im->state.last;
	return import_batch_is_full(b, &im->limits);
}

/* The first batch of a log that was never imported shows whether the log is
 * read correctly: nothing is stored before that. */
static int check_log(struct importer *im, struct error *err)
{
	if (im->checked || im->options->force)
		return 0;
	im->checked = true;
	return import_stats_check(&im->stats, err);
}

static int send_batch(struct importer *im, struct error *err)
{
	struct import_batch *b = &im->batch;

	if (!b->lines)
		return 0;
	if (check_log(im, err) < 0)
		return -1;
	if (im->inserter) {
		if (inserter_send(im->inserter, b, im->enricher, &im->state,
				  im->stats.file, err) < 0)
			return -1;
		im->stats.stored += b->stored;
		if (b->misplaced)
			import_stats_misplaced(&im->stats, b->misplaced,
					       b->first_misplaced->domain,
					       b->first_misplaced->code);
	}
	im->state.pending = false;
	import_batch_reset(b);
	return 0;
}

static bool was_done(const struct importer *im, const struct line *line)
{
	return im->state.begun && line->offset <= im->state.done;
}

static int take_lines(struct importer *im, struct error *err)
{
	struct line line;

	while (line_reader_next(im->lines, &line)) {
		if (line.unfinished) {
			im->stats.unfinished = true;
			return 0;
		}
		im->stats.lines++;
		if (was_done(im, &line)) {
			access_format_remark(im->format, line.text, line.len);
			im->stats.before++;
			continue;
		}
		if (take_line(im, &line, err) < 0)
			return -1;
		if (batch_ends(im) && send_batch(im, err) < 0)
			return -1;
	}
	import_stats_show(&im->stats, log_source_done(im->source),
			  log_source_size(im->source));
	return 0;
}

/* Imports the intact part of a truncated packed file, and then fails. */
static int take_all(struct importer *im, struct error *err)
{
	struct error broken = {0};
	int more;

	do {
		if (app_should_stop(im->app, 0))
			return error_set(err, ERROR_STOPPED,
					 "stopped; the next import goes on "
					 "from there");
		more = line_reader_fill(im->lines, &broken);
		if (more >= 0 && take_lines(im, err) < 0)
			return -1;
	} while (more > 0);
	if (more == 0 && im->state.pending && im->batch.lines)
		return error_set(err, ERROR_INPUT,
				 "an import of a longer copy of this log was "
				 "ended in the middle: import that one first");
	if (send_batch(im, err) < 0)
		return -1;
	if (more < 0)
		*err = broken;
	return more;
}

/* --- logs ----------------------------------------------------------------- */

/* Half of an event's id is from the log, the other half from the line. */
static uint64_t id_of(const char *topic)
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};
	unsigned len;
	uint64_t id;

	EVP_Digest(topic, strlen(topic), digest, &len, EVP_sha256(), NULL);
	memcpy(&id, digest, sizeof(id));
	return id;
}

/* Returns 1 when the log has no line yet. */
static int open_log(struct importer *im, const char *path, struct error *err)
{
	int status = 0;

	im->rules = im->options->rules;
	access_format_restart(im->format);
	import_stats_begin(&im->stats, path, im->options->rejects,
			   app_log(im->app));
	im->stats.dry_run = im->options->dry_run;
	/* The file is opened once: the path may become another log's before
	 * ClickHouse has answered. */
	im->source = log_source_open(path, err);
	if (!im->source)
		return -1;
	if (im->inserter)
		status = inserter_open(im->inserter, im->source, path,
				       im->options->identity, &im->state, err);
	if (status)
		return status;
	if (im->inserter)
		im->rules.event_id = id_of(inserter_topic(im->inserter));
	im->checked = im->state.begun || im->state.pending;
	im->lines = line_reader_new(LINE_BYTES_MAX, log_source_read, im->source,
				    err);
	return im->lines ? 0 : -1;
}

static void close_log(struct importer *im)
{
	line_reader_free(im->lines);
	log_source_close(im->source);
	journal_state_release(&im->state);
	import_batch_reset(&im->batch);
	im->lines = NULL;
	im->source = NULL;
}

static void report_log_import(struct importer *im)
{
	struct buf unknown = {0};
	const char *names;

	access_format_put_unknown(im->format, &unknown);
	names = buf_cstr(&unknown);
	import_stats_report(&im->stats, access_format_name(im->format),
			    im->inserter ? inserter_topic(im->inserter) : "",
			    names ? names : "");
	buf_free(&unknown);
}

/*
 * Imports the new lines of a log ("-": standard input) and reports on stdout.
 * *ret_unreadable: number of lines that could not be read.  ERROR_BUSY: another
 * import of that log runs, or it was stopped; the next import goes on from
 * there.
 */
static int importer_run(struct importer *im, const char *path,
			uint64_t *ret_unreadable, struct error *err)
{
	int status = open_log(im, path, err);
	bool opened = status >= 0;

	if (status == 0)
		status = take_all(im, err);
	import_stats_hide(&im->stats);
	if (opened)
		report_log_import(im);
	*ret_unreadable = im->stats.unreadable;
	close_log(im);
	return status < 0 ? error_wrap(err, "%s", path) : 0;
}

/* --- the command line ----------------------------------------------------- */

static const char *option_or_fallback(struct app *app, const char *name,
				      const char *fallback)
{
	const char *value = app_option_value(app, name);

	return value ? value : fallback;
}

static int read_wait(struct app *app, int64_t *ret_ms, struct error *err)
{
	if (duration_parse(option_or_fallback(app, "wait", "1m"), ret_ms,
			   err) == 0)
		return 0;
	error_wrap(err, "--wait");
	err->code = ERROR_USAGE;
	return -1;
}

/* Returns the networks of --trusted-proxies, or NULL. */
static int read_proxies(struct app *app, struct network_list **ret,
			struct error *err)
{
	const char *list = app_option_value(app, "trusted-proxies");
	struct setting_strings networks = {0};
	char *copy = list ? strdup(list) : NULL, *save = NULL;
	char *items[PROXIES_MAX];

	if (!list)
		return 0;
	if (!copy)
		return error_set_nomem(err);
	networks.items = items;
	for (char *at = strtok_r(copy, ", ", &save); at;
	     at = strtok_r(NULL, ", ", &save)) {
		if (networks.count == PROXIES_MAX)
			break;
		items[networks.count++] = at;
	}
	*ret = network_list_new(&networks, "--trusted-proxies", err);
	free(copy);
	if (*ret)
		return 0;
	err->code = ERROR_USAGE;
	return -1;
}

static int read_client(struct app *app, struct import_options *o,
		       struct error *err)
{
	const char *which =
		option_or_fallback(app, "client-address", "forwarded");

	o->access.peer_only = !strcmp(which, "peer");
	if (!o->access.peer_only && strcmp(which, "forwarded") != 0)
		return error_set(err, ERROR_USAGE,
				 "--client-address: '%s': expected forwarded "
				 "or peer",
				 which);
	if (read_proxies(app, &o->proxies, err) < 0)
		return -1;
	o->access.proxies = o->proxies;
	o->access.any_address = o->force;
	return 0;
}

/* Times without a zone are in TZ; the C library would take an unknown zone for
 * UTC. */
static int read_zone(struct app *app, struct import_options *o,
		     struct error *err)
{
	const char *zone = app_option_value(app, "zone");
	char path[ZONE_PATH_MAX];

	if (!zone)
		return 0;
	snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", zone);
	if (!isalpha((unsigned char)*zone) || strstr(zone, "..") ||
	    access(path, R_OK) < 0)
		return error_set(err, ERROR_USAGE,
				 "--zone: '%s': expected the name of a time "
				 "zone, such as Europe/Berlin",
				 zone);
	if (setenv("TZ", zone, 1) < 0)
		return error_set_errno(err, "--zone");
	tzset();
	o->access.local_times = true;
	return 0;
}

static int read_options(struct app *app, struct import_options *o,
			struct error *err)
{
	const char *rejects = app_option_value(app, "rejects");

	*o = (struct import_options){
		.rules = {.path_prefix =
				  option_or_fallback(app, "path-prefix", "/"),
			  .domain = app_option_value(app, "domain"),
			  .edge = option_or_fallback(app, "edge", "import"),
			  .pass_path = app_option_value(app, "pass-path")},
		.domains = {.file = drop_const(
				    app_option_value(app, "domains"))},
		.identity = app_option_value(app, "identity"),
		.force = app_option_value(app, "force") != NULL,
		.dry_run = app_option_value(app, "dry-run") != NULL,
	};
	if (o->rules.path_prefix[0] != '/')
		return error_set(err, ERROR_USAGE,
				 "--path-prefix: '%s': expected a path that "
				 "begins with a slash",
				 o->rules.path_prefix);
	if (read_wait(app, &o->wait_ms, err) < 0 ||
	    read_client(app, o, err) < 0 || read_zone(app, o, err) < 0)
		return -1;
	if (!rejects)
		return 0;
	o->rejects = fopen(rejects, "we");
	return o->rejects ? 0 : error_set_errno(err, "--rejects: %s", rejects);
}

/* Checks that all files exist before the first import begins. */
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
		/* An invalid log does not stop the others. */
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

static int take_import_back(struct app *app,
			    const struct collector_config *config, size_t files,
			    struct error *err)
{
	int64_t wait_ms;

	if (files)
		return error_set(
			err, ERROR_USAGE,
			"--undo takes the name of a log, and no files");
	if (app_option_value(app, "identity"))
		return error_set(err, ERROR_USAGE,
				 "--undo has the name of the log itself: no "
				 "--identity");
	if (read_wait(app, &wait_ms, err) < 0)
		return -1;
	return import_undo(app, config, app_option_value(app, "undo"), wait_ms,
			   app_option_value(app, "dry-run") != NULL, err);
}

int collector_import(struct app *app, const void *arg, struct error *err)
{
	const struct collector_config *config = arg;
	struct import_options options;
	struct access_format *format;
	struct importer *im = NULL;
	size_t count;
	char *const *files = app_operands(app, &count);
	int status = -1;

	memory_tame();
	if (app_option_value(app, "undo"))
		return take_import_back(app, config, count, err);
	if (read_options(app, &options, err) < 0)
		goto out;
	if (check_files(files, count, &options, err) < 0)
		goto out;
	format = access_format_new(option_or_fallback(app, "format", "auto"),
				   app_option_value(app, "json-keys"),
				   &options.access, err);
	if (format)
		im = importer_new(app, config, &options, format, err);
	if (im)
		status = import_all(im, files, count, err);
	importer_free(im);
out:
	network_list_free(options.proxies);
	return close_rejects(&options, status, err);
}
