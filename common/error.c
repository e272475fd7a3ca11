#include "common/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "common/utf8.h"

static bool is_transient(int sys)
{
	switch (sys) {
	case EAGAIN:
	case EINTR:
	case ECONNREFUSED:
	case ECONNRESET:
	case ETIMEDOUT:
	case EPIPE:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return true;
	default:
		return false;
	}
}

/* Replaces invalid bytes: the text may contain input from a peer, and its end
 * may have been cut within a character. */
static void make_clean(char *text)
{
	size_t len = strlen(text), n;

	for (; len > 0; text += n, len -= n) {
		n = utf8_sequence(text, len);
		if (n > 0 && (unsigned char)*text >= ' ' && *text != 0x7f)
			continue;
		*text = '?';
		n = 1;
	}
}

static void __attribute__((format(printf, 4, 0)))
fill_error(struct error *err, enum error_code code, bool retriable,
	   const char *fmt, va_list ap)
{
	err->code = code;
	err->sys = 0;
	err->retriable = retriable;
	err->outside = NULL;
	*err->field = '\0';
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	make_clean(err->text);
}

static void append_cause(struct error *err, const char *what)
{
	size_t len = strlen(err->text);

	snprintf(err->text + len, sizeof(err->text) - len, ": %s", what);
	make_clean(err->text);
}

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill_error(err, code, false, fmt, ap);
	va_end(ap);
	return -1;
}

int error_set_retriable(struct error *err, enum error_code code,
			const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill_error(err, code, true, fmt, ap);
	va_end(ap);
	return -1;
}

int error_set_errno(struct error *err, const char *fmt, ...)
{
	int sys = errno;
	va_list ap;

	va_start(ap, fmt);
	fill_error(err, sys == ENOMEM ? ERROR_NOMEM : ERROR_SYSTEM,
		   is_transient(sys), fmt, ap);
	va_end(ap);
	err->sys = sys;
	append_cause(err, strerror(sys));
	return -1;
}

int error_keep_inside(struct error *err, const char *outside)
{
	err->outside = outside;
	return -1;
}

const char *error_outside(const struct error *err)
{
	return err->outside ? err->outside : err->text;
}

int error_name_field(struct error *err, const char *field)
{
	snprintf(err->field, sizeof(err->field), "%s", field);
	make_clean(err->field);
	return -1;
}

int error_wrap_field(struct error *err, const char *field)
{
	error_name_field(err, field);
	return error_wrap(err, "%s", err->field);
}

int error_set_field(struct error *err, const char *field, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill_error(err, ERROR_INPUT, false, fmt, ap);
	va_end(ap);
	return error_wrap_field(err, field);
}

int error_set_nomem(struct error *err)
{
	return error_set(err, ERROR_NOMEM, "out of memory");
}

int error_wrap(struct error *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;

	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	append_cause(err, old);
	return -1;
}

int error_exit_status(const struct error *err)
{
	switch (err->code) {
	case ERROR_NONE:
		return EX_OK;
	case ERROR_CONFIG:
		return EX_CONFIG;
	case ERROR_USAGE:
		return EX_USAGE;
	case ERROR_BUSY:
	case ERROR_NOT_OWNER:
	case ERROR_TAKEN:
	case ERROR_EXHAUSTED:
	case ERROR_FULL:
	case ERROR_STOPPED:
	case ERROR_CONFLICT:
	case ERROR_LATE:
		return EX_TEMPFAIL;
	case ERROR_UNSAFE:
	case ERROR_DAMAGED:
		return EX_SOFTWARE;
	case ERROR_INPUT:
	case ERROR_PROTOCOL:
		return EX_DATAERR;
	case ERROR_NOTFOUND:
		return EX_NOINPUT;
	case ERROR_REMOTE:
		return err->retriable ? EX_TEMPFAIL : EX_UNAVAILABLE;
	case ERROR_SYSTEM:
	case ERROR_NOMEM:
		return EX_OSERR;
	}
	return EX_SOFTWARE;
}

bool error_needs_a_person(const struct error *err)
{
	return err->code != ERROR_NONE && error_exit_status(err) != EX_TEMPFAIL;
}

bool error_is_worse(const struct error *err, const struct error *than)
{
	return error_needs_a_person(err) && !error_needs_a_person(than);
}
