#include "collector/tools/import/importer.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/memory.h"
#include "collector/tools/import/block.h"
#include "collector/tools/import/courier.h"
#include "collector/tools/import/log_source.h"
#include "collector/tools/import/tally.h"
#include "collector/tools/line_reader.h"

enum {
	LINE_BYTES_MAX = 1024 * 1024,
};

struct importer {
	struct app *app;
	const struct import_options *options;
	struct collector_settings settings; /* with the epoch of imports */
	struct block_bounds bounds;
	struct access_format *format;
	struct enricher *enricher; /* NULL: a dry run */
	struct courier *courier;   /* the same */
	struct block block;

	/* of the log being imported */
	struct log_source *source;
	struct line_reader *lines;
	struct visit_rules rules;
	struct journal_state state;
	struct tally tally;
};

/* Of a block there are the clicks, then as much of rows, which become columns,
 * and what the archive says of their codes.  All of it together takes what
 * blocks and Kafka have in a collector that serves. */
static int bound_blocks(const struct collector_settings *settings,
			struct block_bounds *ret, struct error *err)
{
	struct memory_shares shares;

	if (memory_share(settings->memory, collector_caches(settings), &shares,
			 err) < 0)
		return -1;
	*ret = (struct block_bounds){
		.rows = (size_t)settings->batch_rows,
		.bytes = (size_t)settings->batch_bytes,
		.held = shares.rows / 2,
	};
	return 0;
}

struct importer *importer_new(struct app *app,
			      const struct collector_config *config,
			      const struct import_options *options,
			      struct access_format *format, struct error *err)
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
	if (bound_blocks(&im->settings, &im->bounds, err) < 0)
		goto fail;
	if (options->dry_run)
		return im;
	im->enricher = enricher_new(&im->settings, err);
	if (im->enricher)
		im->courier = courier_new(app, config, options->wait_ms, err);
	if (im->courier)
		return im;
fail:
	importer_free(im);
	return NULL;
}

void importer_free(struct importer *im)
{
	if (!im)
		return;
	access_format_free(im->format);
	enricher_free(im->enricher);
	courier_free(im->courier);
	block_release(&im->block);
	free(im);
}

/* --- lines -----------------------------------------------------------------
 */

static int take_visit(struct importer *im, const struct access_visit *visit,
		      struct error *err)
{
	switch (block_take(&im->block, visit, &im->rules)) {
	case VISIT_CLICK:
		tally_click(&im->tally, visit->time_ms);
		break;
	case VISIT_NO_REQUEST:
		im->tally.no_request++;
		break;
	case VISIT_ELSEWHERE:
		im->tally.elsewhere++;
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

	block_note_line(&im->block, line->offset, line->len);
	if (is_blank(line)) {
		im->tally.blank++;
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
	block_note_unreadable(&im->block);
	tally_unreadable(&im->tally, line->text, line->len, &why);
	return 0;
}

/* --- blocks ----------------------------------------------------------------
 */

/* A block that may have been sent is made of the same lines again. */
static bool block_ends(const struct importer *im)
{
	const struct block *b = &im->block;

	if (!b->lines)
		return false;
	if (im->state.pending && b->first == im->state.first)
		return b->last >= im->state.last;
	return block_is_full(b, &im->bounds);
}

static int send_block(struct importer *im, struct error *err)
{
	struct block *b = &im->block;

	if (!b->lines)
		return 0;
	if (im->courier) {
		if (courier_send(im->courier, b, im->enricher, &im->state,
				 im->tally.file, err) < 0)
			return -1;
		im->tally.stored += b->stored;
	}
	im->state.pending = false;
	block_reset(b);
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
			im->tally.unfinished = true;
			return 0;
		}
		im->tally.lines++;
		if (was_done(im, &line)) {
			im->tally.before++;
			continue;
		}
		if (take_line(im, &line, err) < 0)
			return -1;
		if (block_ends(im) && send_block(im, err) < 0)
			return -1;
	}
	tally_show(&im->tally, log_source_done(im->source),
		   log_source_size(im->source));
	return 0;
}

/* Takes what is whole of a packed file that breaks off, and fails then. */
static int take_all(struct importer *im, struct error *err)
{
	struct error broken = {0};
	int more;

	do {
		if (app_should_stop(im->app, 0))
			return error_set(err, ERROR_BUSY,
					 "stopped; the next import goes on "
					 "from there");
		more = line_reader_fill(im->lines, &broken);
		if (more >= 0 && take_lines(im, err) < 0)
			return -1;
	} while (more > 0);
	if (more == 0 && im->state.pending && im->block.lines)
		return error_set(err, ERROR_INPUT,
				 "an import of a longer copy of this log was "
				 "ended in the middle: import that one first");
	if (send_block(im, err) < 0)
		return -1;
	if (more < 0)
		*err = broken;
	return more;
}

/* --- logs ------------------------------------------------------------------
 */

/* Half of an event's id is the log, the other half the line. */
static uint64_t id_of(const char *topic)
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};
	unsigned len;
	uint64_t id;

	EVP_Digest(topic, strlen(topic), digest, &len, EVP_sha256(), NULL);
	memcpy(&id, digest, sizeof(id));
	return id;
}

/* 1: there is nothing in it yet. */
static int open_log(struct importer *im, const char *path, struct error *err)
{
	int status = 0;

	im->rules = im->options->rules;
	access_format_restart(im->format);
	tally_begin(&im->tally, path, im->options->rejects, app_log(im->app));
	im->tally.dry_run = im->options->dry_run;
	if (im->courier)
		status = courier_open(im->courier, path, im->options->identity,
				      &im->state, err);
	if (status)
		return status;
	if (im->courier)
		im->rules.event_id = id_of(courier_topic(im->courier));
	im->source = log_source_open(path, err);
	if (!im->source)
		return -1;
	im->lines = line_reader_new(LINE_BYTES_MAX, log_source_read, im->source,
				    err);
	return im->lines ? 0 : -1;
}

static void close_log(struct importer *im)
{
	line_reader_free(im->lines);
	log_source_close(im->source);
	journal_state_release(&im->state);
	block_reset(&im->block);
	im->lines = NULL;
	im->source = NULL;
}

int importer_run(struct importer *im, const char *path,
		 uint64_t *ret_unreadable, struct error *err)
{
	int status = open_log(im, path, err);
	bool opened = status >= 0;

	if (status == 0)
		status = take_all(im, err);
	tally_hide(&im->tally);
	if (opened)
		tally_report(&im->tally, access_format_name(im->format),
			     im->courier ? courier_topic(im->courier) : "");
	*ret_unreadable = im->tally.unreadable;
	close_log(im);
	return status < 0 ? error_wrap(err, "%s", path) : 0;
}
