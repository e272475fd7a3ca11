#include "redirector/visit/access_log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/line_file.h"
#include "redirector/visit/access_line.h"

enum {
	/* A turn hands its lines over when it has gathered this many bytes:
	 * even the smallest queue has room for so small a part. */
	LINES_MAX = 16 << 10,
	LINES_KEPT = 64 << 10 /* memory that is kept for them between turns */
};

struct access_log {
	struct line_file *file;
	struct log *log;
	void (*put)(struct buf *out, const struct access_entry *entry);
	uint64_t sample;
	bool failing; /* used by the file's thread: logged as failing */
};

/* --- the file ------------------------------------------------------------- */

static void on_state(void *arg, const struct error *err)
{
	struct access_log *a = arg;

	if (err && !a->failing)
		log_error(a->log,
			  "access log not writable: lines are held in memory",
			  log_err(err));
	else if (!err && a->failing)
		log_info(a->log, "access log writable again: writing resumed");
	a->failing = err;
}

static int open_file(struct access_log *a,
		     const struct redirector_settings *settings,
		     struct metrics *m, struct error *err)
{
	const struct line_file_options options = {
		.path = settings->access_log,
		.name = "access log",
		.queue_bytes = settings->access_log_queue,
		.written = metrics_counter(
			m, "shortloop_redirector_access_lines_total", NULL,
			"Lines written to the access log"),
		.lost = metrics_counter(
			m, "shortloop_redirector_access_lines_lost_total", NULL,
			"Lines of the access log that found no room in "
			"access_log_queue"),
		.failures = metrics_counter(
			m, "shortloop_redirector_access_write_failures_total",
			NULL,
			"Times the access log could not be opened or written"),
		.on_state = on_state,
		.arg = a,
	};

	a->file = line_file_new(&options, err);
	return a->file ? 0 : error_wrap(err, "redirector.access_log");
}

struct access_log *access_log_new(const struct redirector_settings *settings,
				  struct metrics *metrics, struct log *log,
				  struct error *err)
{
	struct access_log *a = calloc(1, sizeof(*a));

	if (!a) {
		error_set_nomem(err);
		return NULL;
	}
	a->log = log;
	a->put = strcmp(settings->access_log_format, "json") == 0
			 ? access_line_put_json
			 : access_line_put_combined;
	a->sample = (uint64_t)settings->access_log_sample;
	if (open_file(a, settings, metrics, err) == 0)
		return a;
	free(a);
	return NULL;
}

void access_log_free(struct access_log *a, int64_t timeout_ms)
{
	uint64_t left;

	if (!a)
		return;
	left = line_file_free(a->file, timeout_ms);
	if (left)
		log_error(a->log, "lines of the access log dropped",
			  log_int("lines", (int64_t)left));
	free(a);
}

void access_log_reopen(struct access_log *a)
{
	if (a)
		line_file_reopen(a->file);
}

/* --- a server's lines ----------------------------------------------------- */

int access_writer_init(struct access_writer *w, struct access_log *log,
		       struct error *err)
{
	*w = (struct access_writer){.log = log};
	if (getrandom(&w->random, sizeof(w->random), 0) != sizeof(w->random))
		return error_set_errno(err, "random bytes for a sample");
	w->random |= 1;
	return 0;
}

void access_writer_release(struct access_writer *w)
{
	access_writer_flush(w);
	buf_free(&w->lines);
}

/* xorshift64 (Marsaglia, "Xorshift RNGs", 2003). */
static uint64_t random_number_below(struct access_writer *w, uint64_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random % below;
}

static bool is_chosen(struct access_writer *w)
{
	if (w->countdown == 0) {
		w->countdown = w->log->sample;
		w->chosen = 1 + random_number_below(w, w->log->sample);
	}
	return w->countdown-- == w->chosen;
}

void access_writer_note(struct access_writer *w, const struct http_request *req,
			const struct request_info_rules *rules,
			const struct access_answer *answer)
{
	struct click c;

	if (!w->log || !is_chosen(w))
		return;
	request_info_read(req, rules, &c);
	w->log->put(&w->lines,
		    &(struct access_entry){
			    .time_ms = answer->time_ms,
			    .client = c.client,
			    .status = answer->status,
			    .body_bytes = http_method_is(req, "HEAD")
						  ? 0
						  : answer->body_bytes,
			    .method = http_method(req),
			    .path = http_path(req),
			    .query = c.query,
			    .minor_version = http_minor_version(req),
			    .host = c.host,
			    .referrer = c.referrer,
			    .user_agent = c.user_agent,
			    .accept_language = c.accept_language,
			    .prefetch = c.prefetch,
		    });
	if (w->lines.len >= LINES_MAX)
		access_writer_flush(w);
}

void access_writer_flush(struct access_writer *w)
{
	if (!w->lines.len && !w->lines.failed)
		return;
	line_file_put(w->log->file, &w->lines);
	buf_empty(&w->lines, LINES_KEPT);
}
