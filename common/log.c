#include "common/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"

#define PACE_NS INT64_C(1000000000)

struct log {
	const char *program;
	int fd;
	enum log_level level;
	enum log_format format;
};

static const char *const level_names[] = {"debug", "info", "warn", "error"};

struct log *log_new(const char *program, int fd, enum log_level level,
		    enum log_format format, struct error *err)
{
	struct log *log = malloc(sizeof(*log));

	if (!log) {
		error_set_nomem(err);
		return NULL;
	}
	*log = (struct log){program, fd, level, format};
	return log;
}

void log_free(struct log *log)
{
	free(log);
}

static void put_quoted(struct buf *line, const char *text)
{
	buf_putc(line, '"');
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\')
			buf_printf(line, "\\%c", c);
		else if (c == '\n')
			buf_puts(line, "\\n");
		else if (c < 0x20 || c == 0x7f)
			buf_printf(line, "\\u%04x", c);
		else
			buf_putc(line, *p);
	}
	buf_putc(line, '"');
}

/* A plain word in logfmt needs no quotes. */
static void put_value(struct buf *line, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_./:@+,{}[]*%";

	if (*text && !text[strspn(text, plain)])
		buf_puts(line, text);
	else
		put_quoted(line, text);
}

static void put_logfmt(struct buf *line, const struct log_field *f)
{
	buf_printf(line, "%s%s=", line->len ? " " : "", f->key);
	if (f->text)
		put_value(line, f->text);
	else
		buf_printf(line, "%" PRId64, f->number);
}

static void put_json(struct buf *line, const struct log_field *f)
{
	buf_puts(line, line->len > 1 ? "," : "");
	put_quoted(line, f->key);
	buf_putc(line, ':');
	if (f->text)
		put_quoted(line, f->text);
	else
		buf_printf(line, "%" PRId64, f->number);
}

static void put_field(struct log *log, struct buf *line, struct log_field f)
{
	if (log->format == LOG_JSON)
		put_json(line, &f);
	else
		put_logfmt(line, &f);
}

void log_write(struct log *log, enum log_level level, const char *message, ...)
{
	char when[RFC3339_TEXT_MAX];
	struct buf line = {0};
	struct log_field f;
	va_list ap;

	if (!log || level < log->level)
		return;
	if (log->format == LOG_JSON)
		buf_putc(&line, '{');
	rfc3339_format(clock_real_ms(), when);
	put_field(log, &line, log_str("time", when));
	put_field(log, &line, log_str("level", level_names[level]));
	put_field(log, &line, log_str("program", log->program));
	put_field(log, &line, log_str("msg", message));
	va_start(ap, message);
	while (f = va_arg(ap, struct log_field), f.key)
		put_field(log, &line, f);
	va_end(ap);
	buf_puts(&line, log->format == LOG_JSON ? "}\n" : "\n");
	/* A failure of stderr itself cannot be reported anywhere. */
	if (!line.failed && write(log->fd, line.data, line.len) < 0)
		line.failed = true;
	buf_free(&line);
}

bool log_pace_allows(struct log_pace *pace, int64_t *ret_left_out)
{
	int64_t now = clock_monotonic_ns(), next = atomic_load(&pace->next);

	if (now < next || !atomic_compare_exchange_strong(&pace->next, &next,
							  now + PACE_NS)) {
		atomic_fetch_add(&pace->left_out, 1);
		return false;
	}
	*ret_left_out = atomic_exchange(&pace->left_out, 0);
	return true;
}
