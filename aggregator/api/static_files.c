#include "aggregator/api/static_files.h"

#include <dirent.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/compress.h"
#include "common/read_file.h"

#define FILES_MAX 256
#define BYTES_MAX (16 * 1024 * 1024)
#define DEPTH_MAX 4
#define PATH_SIZE 4096
#define TAG_BYTES 8

static const struct type {
	const char *suffix, *type;
	bool text; /* false: the format itself is compressed */
} types[] = {
	{".html", "text/html; charset=utf-8", true},
	{".css", "text/css; charset=utf-8", true},
	{".js", "text/javascript; charset=utf-8", true},
	{".mjs", "text/javascript; charset=utf-8", true},
	{".json", "application/json", true},
	{".svg", "image/svg+xml", true},
	{".png", "image/png", false},
	{".ico", "image/x-icon", false},
	{".woff2", "font/woff2", false},
	{".txt", "text/plain; charset=utf-8", true},
};

struct static_files {
	struct static_file items[FILES_MAX];
	size_t count;
	size_t bytes;
};

static const struct type *type_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(dot, types[i].suffix))
			return &types[i];
	}
	return NULL;
}

static void set_etag(struct static_file *f)
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};
	char hex[2 * TAG_BYTES + 1];

	EVP_Digest(f->forms[ENCODING_IDENTITY].data,
		   f->forms[ENCODING_IDENTITY].len, digest, NULL, EVP_sha256(),
		   NULL);
	sodium_bin2hex(hex, sizeof(hex), digest, TAG_BYTES);
	snprintf(f->etag, sizeof(f->etag), "\"%s\"", hex);
}

static int read_all(const char *path, size_t len, struct buf *ret,
		    struct error *err)
{
	struct error why;
	FILE *file = plain_file_stream(path, &why);
	char *data;

	if (!file)
		return error_set(err, ERROR_SYSTEM, "%s: %s", path, why.text);
	data = buf_reserve(ret, len + 1);
	if (!data) {
		fclose(file);
		return error_set_nomem(err);
	}
	if (fread(data, 1, len, file) != len) {
		fclose(file);
		return error_set(err, ERROR_SYSTEM, "%s: it is being changed",
				 path);
	}
	fclose(file);
	ret->len = len;
	return 0;
}

int static_file_encode(struct static_file *file, struct error *err)
{
	const struct buf *plain = &file->forms[ENCODING_IDENTITY];

	for (int e = 0; e < ENCODING_COUNT; e++) {
		if (e != ENCODING_IDENTITY &&
		    compress_append(encoding_name((enum encoding)e),
				    COMPRESS_FAR, plain->data, plain->len,
				    &file->forms[e], err) < 0)
			return -1;
	}
	return 0;
}

void static_file_release(struct static_file *file)
{
	for (int e = 0; e < ENCODING_COUNT; e++)
		buf_free(&file->forms[e]);
	free(file->path);
}

bool static_file_choose(const struct static_file *file,
			const struct encoding_list *accepted,
			enum encoding *ret)
{
	if (file->forms[ENCODING_GZIP].len)
		return encoding_choose(accepted,
				       file->forms[ENCODING_IDENTITY].len, ret);
	*ret = ENCODING_IDENTITY;
	return encoding_accepted(accepted, ENCODING_IDENTITY);
}

static int add_file(struct static_files *files, const char *path,
		    const char *url, size_t len, struct error *err)
{
	struct static_file *f = &files->items[files->count];
	const struct type *type = type_of(path);

	if (files->count == FILES_MAX || len > BYTES_MAX - files->bytes)
		return error_set(err, ERROR_CONFIG,
				 "%s: more than %d files or %d bytes", path,
				 FILES_MAX, BYTES_MAX);
	files->count++; /* half-made, but has to be freed */
	if (read_all(path, len, &f->forms[ENCODING_IDENTITY], err) < 0)
		return -1;
	files->bytes += len;
	f->type = type->type;
	f->path = strdup(url);
	if (!f->path)
		return error_set_nomem(err);
	set_etag(f);
	return type->text ? static_file_encode(f, err) : 0;
}

/* Adds the files in a directory; the first `root_len` bytes of `path` are not
 * part of the URL. */
static int add_directory(struct static_files *files, const char *path,
			 size_t root_len, int depth, struct error *err)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char below[PATH_SIZE];
	struct stat st;
	int status = 0;

	if (!dir)
		return error_set_errno(err, "%s", path);
	while (status == 0 && (entry = readdir(dir))) {
		int len = snprintf(below, sizeof(below), "%s/%s", path,
				   entry->d_name);

		if (*entry->d_name == '.' || len >= PATH_SIZE ||
		    stat(below, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			status = add_directory(files, below, root_len,
					       depth + 1, err);
		else if (S_ISREG(st.st_mode) && type_of(below))
			status = add_file(files, below, below + root_len,
					  (size_t)st.st_size, err);
	}
	closedir(dir);
	return status;
}

struct static_files *static_files_load(const char *root, struct error *err)
{
	struct static_files *files = calloc(1, sizeof(*files));

	if (!files) {
		error_set_nomem(err);
		return NULL;
	}
	if (add_directory(files, root, strlen(root), 0, err) < 0) {
		static_files_free(files);
		return NULL;
	}
	return files;
}

void static_files_free(struct static_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->count; i++)
		static_file_release(&files->items[i]);
	free(files);
}

const struct static_file *static_files_find(const struct static_files *files,
					    struct http_slice path)
{
	static const char index[] = "/index.html";

	if (!files)
		return NULL;
	if (path.len == 1 && *path.data == '/')
		path = (struct http_slice){index, sizeof(index) - 1};
	for (size_t i = 0; i < files->count; i++) {
		if (strlen(files->items[i].path) == path.len &&
		    !memcmp(files->items[i].path, path.data, path.len))
			return &files->items[i];
	}
	return NULL;
}
