/*
 * explain.c - `collector explain`: what the collector would make of visits,
 * NDJSON in and out, line by line.
 *
 * Every line of input has its line of output, in order; blank and broken ones
 * have an object with `error`.  All that has been read is answered before more
 * is waited for, so the command can be talked to like a function.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "collector/commands.h"
#include "collector/tools/explain/answer.h"
#include "collector/tools/line_reader.h"

enum {
	LINE_MAX_BYTES = 8 * 1024 * 1024,
	OUTPUT_BYTES = 256 * 1024, /* written at the latest */
};

struct session {
	struct app *app;
	struct answerer *answerer;
	struct line_reader *lines;
	struct buf out;
	uint64_t count;
	uint64_t bad;
	uint64_t first_bad;
	struct error first_reason;
	bool stopped;
};

static ssize_t read_input(void *arg, void *to, size_t len, struct error *err)
{
	struct session *s = arg;
	ssize_t n;

	if (!app_wait_input(s->app, STDIN_FILENO)) {
		s->stopped = true;
		return 0;
	}
	do
		n = read(STDIN_FILENO, to, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? error_set_errno(err, "standard input") : n;
}

static int write_output(struct session *s, struct error *err)
{
	const char *at = s->out.data;
	size_t left = s->out.len;

	while (left > 0) {
		ssize_t n = write(STDOUT_FILENO, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, "standard output");
		at += n;
		left -= (size_t)n;
	}
	buf_reset(&s->out);
	return 0;
}

static void note_bad(struct session *s, const struct error *reason)
{
	if (!s->bad++) {
		s->first_bad = s->count;
		s->first_reason = *reason;
	}
}

static int answer_question(struct session *s, struct visit_question *q,
			   struct error *err)
{
	if (q->bad_ip.code)
		note_bad(s, &q->bad_ip);
	return answer_append(s->answerer, q, &s->out, err);
}

static int answer_line(struct session *s, const struct line *line,
		       struct error *err)
{
	struct error reason = {0};
	struct visit_question q;
	int status = 0;

	s->count++;
	if (!line->len)
		error_set(&reason, ERROR_INPUT, "an empty line");
	else if (line->cut)
		error_set(&reason, ERROR_INPUT, "longer than %d bytes",
			  LINE_MAX_BYTES);
	else if (visit_question_read(&q, line->text, line->len, &reason) == 0)
		status = answer_question(s, &q, err);
	if (reason.code) {
		note_bad(s, &reason);
		answer_append_error(&s->out, &reason);
	} else {
		visit_question_release(&q);
	}
	buf_putc(&s->out, '\n');
	if (status == 0 && s->out.failed)
		status = error_set_nomem(err);
	if (status == 0 && s->out.len >= OUTPUT_BYTES)
		status = write_output(s, err);
	return status;
}

static int answer_lines(struct session *s, struct error *err)
{
	struct line line;

	while (line_reader_next(s->lines, &line))
		if (answer_line(s, &line, err) < 0)
			return -1;
	return write_output(s, err);
}

static int answer_all(struct session *s, struct error *err)
{
	int more;

	do {
		more = line_reader_fill(s->lines, err);
		/* Told to stop in the middle of a line: it is no question. */
		if (more < 0 || s->stopped || answer_lines(s, err) < 0)
			break;
	} while (more > 0);
	if (err->code)
		return -1;
	if (!s->bad)
		return 0;
	return error_set(err, ERROR_INPUT,
			 "%" PRIu64 " of %" PRIu64
			 " lines could not be read; the first is line "
			 "%" PRIu64 ": %s",
			 s->bad, s->count, s->first_bad, s->first_reason.text);
}

int collector_explain(struct app *app, const struct collector_config *config,
		      struct error *err)
{
	struct session s = {.app = app};
	int status = -1;

	s.answerer = answerer_new(&config->collector,
				  app_option_value(app, "why") != NULL, err);
	if (s.answerer)
		s.lines = line_reader_new(LINE_MAX_BYTES, read_input, &s, err);
	if (s.lines)
		status = answer_all(&s, err);
	line_reader_free(s.lines);
	answerer_free(s.answerer);
	buf_free(&s.out);
	return status;
}
