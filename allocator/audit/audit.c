#include "allocator/audit/audit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/line_file.h"

struct audit {
	struct line_file *file;
	struct log *log;
	struct health_check *check;
	bool failing; /* the last attempt failed, and the log says so */
};

/* --- file ----------------------------------------------------------------- */

static void on_state(void *arg, const struct error *err)
{
	struct audit *a = arg;

	if (err) {
		health_down(a->check, err->text);
		if (!a->failing)
			log_error(a->log,
				  "audit file not writable: lines are held in "
				  "memory",
				  log_err(err));
	} else {
		if (a->failing)
			log_info(a->log,
				 "audit file writable again: writing resumed");
		health_up(a->check);
	}
	a->failing = err;
}

static void put_lost(struct buf *out, uint64_t lines)
{
	char now[RFC3339_TEXT_MAX];

	buf_printf(out,
		   "{\"time\":\"%s\",\"action\":\"lost\",\"lines\":%" PRIu64
		   "}\n",
		   rfc3339_format(clock_real_ms(), now), lines);
}

static int open_file(struct audit *a, const struct audit_options *options,
		     struct error *err)
{
	struct metrics *m = options->metrics;
	const struct line_file_options file = {
		.path = options->path,
		.name = "audit file",
		.queue_bytes = options->queue_bytes,
		.written = metrics_counter(
			m, "shortloop_allocator_audit_lines_total", NULL,
			"Audit lines written"),
		.lost = metrics_counter(
			m, "shortloop_allocator_audit_lost_total", NULL,
			"Audit lines lost: the file could not be written for "
			"too long"),
		.failures = metrics_counter(
			m, "shortloop_allocator_audit_write_failures_total",
			NULL,
			"Times the audit file could not be opened or written"),
		.on_state = on_state,
		.put_lost = put_lost,
		.arg = a,
	};

	a->file = line_file_new(&file, err);
	return a->file ? 0 : error_wrap(err, "allocator.audit_file");
}

struct audit *audit_new(const struct audit_options *options, struct error *err)
{
	struct audit *a = calloc(1, sizeof(*a));

	if (!a) {
		error_set_nomem(err);
		return NULL;
	}
	a->log = options->log;
	if (open_file(a, options, err) < 0) {
		free(a);
		return NULL;
	}
	a->check = health_register(options->health, "audit");
	health_up(a->check);
	return a;
}

void audit_free(struct audit *a, int64_t timeout_ms)
{
	uint64_t left;

	if (!a)
		return;
	left = line_file_free(a->file, timeout_ms);
	if (left)
		log_error(a->log,
			  "audit lines dropped: the file cannot be written",
			  log_int("lines", (int64_t)left));
	free(a);
}

void audit_reopen(struct audit *a)
{
	if (a)
		line_file_reopen(a->file);
}

/* --- lines ---------------------------------------------------------------- */

/* Takes ownership of the line. */
static void enqueue_audit_line(struct audit *a, struct buf *line)
{
	line_file_put(a->file, line);
	buf_free(line);
}

struct audit_source audit_source_of(const struct http_request *req,
				    const char *key)
{
	return (struct audit_source){
		.key = key,
		.peer = http_peer(req),
		.forwarded_for = http_header_get(req, "X-Forwarded-For"),
		.request_id = http_header_get(req, "X-Request-Id"),
	};
}

void audit_link(struct audit *a, enum audit_action action,
		const struct audit_entry *entry)
{
	struct buf line = {0};

	if (!a)
		return;
	buf_reserve(&line, 1024);
	audit_line_write(action, entry, clock_real_ms(), &line);
	enqueue_audit_line(a, &line);
}

void audit_url(struct audit *a, const struct audit_url_entry *entry)
{
	struct buf line = {0};

	if (!a)
		return;
	audit_url_line_write(entry, clock_real_ms(), &line);
	enqueue_audit_line(a, &line);
}

void audit_keys_reloaded(struct audit *a, size_t keys)
{
	struct buf line = {0};
	char now[RFC3339_TEXT_MAX];

	if (!a)
		return;
	buf_printf(&line,
		   "{\"time\":\"%s\",\"action\":\"keys_reloaded\","
		   "\"keys\":%zu}\n",
		   rfc3339_format(clock_real_ms(), now), keys);
	enqueue_audit_line(a, &line);
}
