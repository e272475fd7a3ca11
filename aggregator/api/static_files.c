#include "aggregator/api/static_files.h"

#include <dirent.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_MAX 256
#define BYTES_MAX (16 * 1024 * 1024)
#define DEPTH_MAX 4
#define PATH_SIZE 4096

static const struct type {
	const char *suffix, *type;
} types[] = {
	{".html", "text/html; charset=utf-8"},
	{".css", "text/css; charset=utf-8"},
	{".js", "text/javascript; charset=utf-8"},
	{".mjs", "text/javascript; charset=utf-8"},
	{".json", "application/json"},
	{".svg", "image/svg+xml"},
	{".png", "image/png"},
	{".ico", "image/x-icon"},
	{".woff2", "font/woff2"},
	{".txt", "text/plain; charset=utf-8"},
};

struct static_files {
	struct static_file items[FILES_MAX];
	size_t count;
	size_t bytes;
};

static const char *type_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(dot, types[i].suffix))
			return types[i].type;
	}
	return NULL;
}

static void set_etag(struct static_file *f)
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};

	EVP_Digest(f->data, f->len, digest, NULL, EVP_sha256(), NULL);
	snprintf(f->etag, sizeof(f->etag),
		 "\"%02x%02x%02x%02x%02x%02x%02x%02x\"", digest[0], digest[1],
		 digest[2], digest[3], digest[4], digest[5], digest[6],
		 digest[7]);
}

static int read_all(const char *path, size_t len, char **ret, struct error *err)
{
	FILE *file = fopen(path, "re");
	char *data;

	if (!file)
		return error_set_errno(err, "%s", path);
	data = malloc(len + 1);
	if (!data) {
		fclose(file);
		return error_set_nomem(err);
	}
	if (fread(data, 1, len, file) != len) {
		fclose(file);
		free(data);
		return error_set(err, ERROR_SYSTEM, "%s: it is being changed",
				 path);
	}
	fclose(file);
	*ret = data;
	return 0;
}

static int add_file(struct static_files *files, const char *path,
		    const char *url, size_t len, struct error *err)
{
	struct static_file *f = &files->items[files->count];

	if (files->count == FILES_MAX || len > BYTES_MAX - files->bytes)
		return error_set(err, ERROR_CONFIG,
				 "%s: more than %d files or %d bytes", path,
				 FILES_MAX, BYTES_MAX);
	if (read_all(path, len, &f->data, err) < 0)
		return -1;
	files->count++;
	files->bytes += len;
	f->len = len;
	f->type = type_of(path);
	f->path = strdup(url);
	set_etag(f);
	return f->path ? 0 : error_set_nomem(err);
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
	for (size_t i = 0; i < files->count; i++) {
		free(files->items[i].path);
		free(files->items[i].data);
	}
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
