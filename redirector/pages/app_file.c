#include "redirector/pages/app_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/http/encoding.h"
#include "common/read_file.h"
#include "common/utf8.h"

enum {
	TAG_BYTES = 8,
	TAG_SIZE = 2 * TAG_BYTES + 3, /* including its quotes */
};

struct app_file {
	_Atomic size_t users;
	char tag[TAG_SIZE];
	struct buf lines; /* lines of a 200, then those of a 304 */
	size_t lines_of_body;
	struct buf body;
};

static const struct {
	const char *path, *legacy_path, *what;
} kinds[APP_FILE_KINDS] = {
	[APP_FILE_APPLE] = {"/.well-known/apple-app-site-association",
			    "/apple-app-site-association", "an object"},
	[APP_FILE_ANDROID] = {"/.well-known/assetlinks.json", NULL, "a list"},
	[APP_FILE_ROBOTS] = {"/robots.txt", NULL, "text"},
};

enum app_file_kind app_file_kind_of(struct http_slice path)
{
	enum app_file_kind kind = 0;

	/* A shorter path may be a code. */
	if (path.len < sizeof("/apple-app-site-association") - 1)
		return APP_FILE_KINDS;
	while (kind < APP_FILE_KINDS &&
	       !http_slice_is(path, kinds[kind].path) &&
	       !(kinds[kind].legacy_path &&
		 http_slice_is(path, kinds[kind].legacy_path)))
		kind++;
	return kind;
}

/* --- reading -------------------------------------------------------------- */

/* Reads up to `most` bytes, and one more if the file is longer. */
static int read_up_to(int fd, const char *path, size_t most, struct buf *ret,
		      struct error *err)
{
	ssize_t got = 1;

	if (!buf_reserve(ret, most + 1))
		return error_set_nomem(err);
	while (got && ret->len <= most) {
		got = read(fd, ret->data + ret->len, most + 1 - ret->len);
		if (got < 0 && errno != EINTR)
			return error_set_errno(err, "%s", path);
		ret->len += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static int read_body(int fd, const char *path, struct buf *ret_body,
		     struct error *err)
{
	struct stat file;

	if (fstat(fd, &file) < 0)
		return error_set_errno(err, "%s", path);
	if (file.st_size > (off_t)APP_FILE_BYTES_MAX)
		return error_set(err, ERROR_CONFIG,
				 "%s: is longer than %zu bytes, which its "
				 "readers refuse",
				 path, APP_FILE_BYTES_MAX);
	if (read_up_to(fd, path, (size_t)file.st_size, ret_body, err) < 0)
		return -1;
	if (ret_body->len == (size_t)file.st_size)
		return 0;
	return error_set(err, ERROR_CONFIG, "%s: is being changed", path);
}

static int read_app_file(const char *path, struct buf *ret_body,
			 struct error *err)
{
	struct error why;
	int fd = plain_file_open(path, &why);
	int status;

	status = fd < 0 ? error_set(err, ERROR_CONFIG, "%s: %s", path, why.text)
			: read_body(fd, path, ret_body, err);
	if (fd >= 0)
		close(fd);
	if (status < 0 && err->code == ERROR_SYSTEM)
		err->code = ERROR_CONFIG;
	return status;
}

/* RFC 9309, 2.3 requires UTF-8. */
static int check_text(const struct buf *body, const char *path,
		      struct error *err)
{
	size_t line = 1, len;

	for (size_t i = 0; i < body->len; i += len) {
		len = utf8_sequence(body->data + i, body->len - i);
		if (!len || !body->data[i])
			return error_set(err, ERROR_CONFIG,
					 "%s: line %zu: is not text in UTF-8",
					 path, line);
		line += body->data[i] == '\n';
	}
	return 0;
}

static int check_json(const struct buf *body, const char *path,
		      enum app_file_kind kind, struct error *err)
{
	json_error_t why;
	json_t *root;
	bool fits;

	/* jansson ignores a NUL byte that follows a number. */
	if (body->len && memchr(body->data, '\0', body->len))
		return error_set(err, ERROR_CONFIG, "%s: not JSON: a NUL byte",
				 path);
	root = json_loadb(body->data, body->len, JSON_REJECT_DUPLICATES, &why);
	if (!root)
		return error_set(err, ERROR_CONFIG,
				 "%s: not JSON: line %d, column %d: %s", path,
				 why.line, why.column, why.text);
	fits = kind == APP_FILE_APPLE ? json_is_object(root)
				      : json_is_array(root);
	json_decref(root);
	if (!fits)
		return error_set(err, ERROR_CONFIG,
				 "%s: line 1, column 1: expected %s of JSON",
				 path, kinds[kind].what);
	return 0;
}

static int check_body(const struct buf *body, const char *path,
		      enum app_file_kind kind, struct error *err)
{
	return kind == APP_FILE_ROBOTS ? check_text(body, path, err)
				       : check_json(body, path, kind, err);
}

/* --- making --------------------------------------------------------------- */

static void make_tag(struct app_file *f)
{
	unsigned char digest[crypto_generichash_BYTES_MIN];
	char hex[2 * TAG_BYTES + 1];

	crypto_generichash(digest, sizeof(digest),
			   (const unsigned char *)f->body.data, f->body.len,
			   NULL, 0);
	sodium_bin2hex(hex, sizeof(hex), digest, TAG_BYTES);
	snprintf(f->tag, sizeof(f->tag), "\"%s\"", hex);
}

static int make_lines(struct app_file *f, enum app_file_kind kind,
		      struct error *err)
{
	buf_puts(&f->lines, kind == APP_FILE_ROBOTS
				    ? "Content-Type: text/plain; "
				      "charset=utf-8\r\n"
				    : "Content-Type: application/json\r\n");
	buf_puts(&f->lines, "X-Content-Type-Options: nosniff\r\n");
	f->lines_of_body = f->lines.len;
	buf_printf(&f->lines,
		   "ETag: %s\r\nCache-Control: public, max-age=300\r\n",
		   f->tag);
	return f->lines.failed ? error_set_nomem(err) : 0;
}

struct app_file *app_file_load(const char *path, enum app_file_kind kind,
			       struct error *err)
{
	struct app_file *f = calloc(1, sizeof(*f));

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	atomic_init(&f->users, 1);
	if (read_app_file(path, &f->body, err) == 0 &&
	    check_body(&f->body, path, kind, err) == 0) {
		make_tag(f);
		if (make_lines(f, kind, err) == 0)
			return f;
	}
	app_file_release(f);
	return NULL;
}

struct app_file *app_file_share(struct app_file *f)
{
	if (f)
		atomic_fetch_add(&f->users, 1);
	return f;
}

void app_file_release(struct app_file *f)
{
	if (!f || atomic_fetch_sub(&f->users, 1) > 1)
		return;
	buf_free(&f->lines);
	buf_free(&f->body);
	free(f);
}

/* --- answering ------------------------------------------------------------ */

bool app_file_matches(const struct app_file *f, struct http_slice if_none_match)
{
	return encoding_etag_matches(if_none_match, f->tag);
}

struct http_slice app_file_body(const struct app_file *f)
{
	return (struct http_slice){f->body.data, f->body.len};
}

struct http_slice app_file_lines(const struct app_file *f, bool with_body)
{
	size_t from = with_body ? 0 : f->lines_of_body;

	return (struct http_slice){f->lines.data + from, f->lines.len - from};
}
