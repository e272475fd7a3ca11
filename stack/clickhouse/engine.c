#include "stack/clickhouse/engine.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- dropped tables ------------------------------------------------------- */

#define UUID_LEN 36

/* The engine locks this file while it is open. */
static int lock_data(const char *path, int *ret_fd, struct error *err)
{
	char name[PATH_MAX];
	int fd;

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return error_set_errno(err, "cannot make %s", path);
	snprintf(name, sizeof(name), "%s/status", path);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_set_errno(err, "%s", name);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return error_set(err, ERROR_BUSY,
				 "%s is in use by another process", path);
	}
	*ret_fd = fd;
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Returns the UUID of "db.table.<uuid>.sql", or NULL for any other name. */
static const char *uuid_of(const char *name)
{
	static const char suffix[] = ".sql";
	size_t len = strlen(name), tail = UUID_LEN + sizeof(suffix) - 1;
	const char *uuid = name + len - tail;

	if (len <= tail || strcmp(name + len - 4, suffix) != 0)
		return NULL;
	return strspn(uuid, "0123456789abcdef-") == UUID_LEN ? uuid : NULL;
}

static int sweep_table(const char *path, const char *mark, const char *uuid,
		       struct error *err)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/store/%.3s/%.*s", path, uuid, UUID_LEN,
		 uuid);
	if (nftw(name, remove_entry, 16, FTW_DEPTH | FTW_PHYS) < 0 &&
	    errno != ENOENT)
		return error_set_errno(err, "cannot remove %s", name);
	snprintf(name, sizeof(name), "%s/metadata_dropped/%s", path, mark);
	if (unlink(name) < 0 && errno != ENOENT)
		return error_set_errno(err, "cannot remove %s", name);
	return 0;
}

/*
 * The embedded engine marks tables as dropped but runs no thread that removes
 * their files, so this function does, before the engine is opened.
 */
static int sweep_dropped(const char *path, struct error *err)
{
	char name[PATH_MAX];
	struct dirent *entry;
	int lock = -1, rc = 0;
	DIR *dir;

	if (lock_data(path, &lock, err) < 0)
		return -1;
	snprintf(name, sizeof(name), "%s/metadata_dropped", path);
	dir = opendir(name);
	while (rc == 0 && dir && (entry = readdir(dir)) != NULL) {
		const char *uuid = uuid_of(entry->d_name);

		if (uuid)
			rc = sweep_table(path, entry->d_name, uuid, err);
	}
	if (dir)
		closedir(dir);
	close(lock);
	return rc;
}

/* --- the library ---------------------------------------------------------- */

/* The C interface of libchdb 26.5. */
typedef struct chdb_connection_ *chdb_connection;
typedef struct chdb_result chdb_result;

struct library {
	void (*set_signal_handlers_enabled)(int enabled);
	chdb_connection *(*connect)(int argc, char **argv);
	void (*close_conn)(chdb_connection *conn);
	chdb_result *(*query)(chdb_connection conn, const char *query,
			      size_t query_len, const char *format,
			      size_t format_len, const char *const *names,
			      const size_t *name_lens,
			      const char *const *values,
			      const size_t *value_lens, size_t count);
	void (*destroy_result)(chdb_result *result);
	const char *(*error)(chdb_result *result);
	char *(*buffer)(chdb_result *result);
	size_t (*length)(chdb_result *result);
	double (*elapsed)(chdb_result *result);
	uint64_t (*rows_read)(chdb_result *result);
	uint64_t (*bytes_read)(chdb_result *result);
	uint64_t (*storage_rows_read)(chdb_result *result);
	uint64_t (*storage_bytes_read)(chdb_result *result);
	uint64_t (*rows_written)(chdb_result *result);
	uint64_t (*bytes_written)(chdb_result *result);
};

#define SYMBOL(member, name)                                                   \
	{                                                                      \
		offsetof(struct library, member), name                         \
	}
static const struct {
	size_t offset;
	const char *name;
} symbols[] = {
	SYMBOL(set_signal_handlers_enabled, "chdb_set_signal_handlers_enabled"),
	SYMBOL(connect, "chdb_connect"),
	SYMBOL(close_conn, "chdb_close_conn"),
	SYMBOL(query, "chdb_query_with_params_n"),
	SYMBOL(destroy_result, "chdb_destroy_query_result"),
	SYMBOL(error, "chdb_result_error"),
	SYMBOL(buffer, "chdb_result_buffer"),
	SYMBOL(length, "chdb_result_length"),
	SYMBOL(elapsed, "chdb_result_elapsed"),
	SYMBOL(rows_read, "chdb_result_rows_read"),
	SYMBOL(bytes_read, "chdb_result_bytes_read"),
	SYMBOL(storage_rows_read, "chdb_result_storage_rows_read"),
	SYMBOL(storage_bytes_read, "chdb_result_storage_bytes_read"),
	SYMBOL(rows_written, "chdb_result_rows_written"),
	SYMBOL(bytes_written, "chdb_result_bytes_written"),
};

struct engine {
	struct library lib;
	char *path_option;
	bool compile;
	/* The engine lives as long as any connection: this one keeps it
	 * alive. */
	chdb_connection *anchor;
};

struct engine_session {
	chdb_connection *connection;
};

static int load_library(struct library *lib, const char *path,
			struct error *err)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return error_set(err, ERROR_SYSTEM,
				 "cannot load the engine: %s", dlerror());
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *found = dlsym(handle, symbols[i].name);

		if (!found)
			return error_set(err, ERROR_SYSTEM,
					 "%s has no %s: not the engine, or of "
					 "another version",
					 path, symbols[i].name);
		memcpy((char *)lib + symbols[i].offset, &found, sizeof(found));
	}
	return 0;
}

static chdb_connection *connect_to_engine(struct engine *e, struct error *err)
{
	char program[] = "clickhouse";
	/*
	 * Without cgroup files, as in a bare root, the engine's memory worker
	 * would write a stack trace to stderr at each start.  With this option
	 * it reads the process' own figures instead.
	 */
	char no_cgroup[] = "--memory_worker_use_cgroup=0";
	char no_expressions[] = "--compile_expressions=0";
	char no_aggregates[] = "--compile_aggregate_expressions=0";
	char no_sorting[] = "--compile_sort_description=0";
	/* Saves two threads a query, a quarter of the time of a small one. */
	char no_formatters[] = "--output_format_parallel_formatting=0";
	/* Saves another one, on file systems that cannot tell which data is in
	 * memory. */
	char no_readers[] = "--local_filesystem_read_method=pread";
	char *argv[] = {program,       no_cgroup,  e->path_option,
			no_formatters, no_readers, no_expressions,
			no_aggregates, no_sorting, NULL};
	chdb_connection *connection = e->lib.connect(e->compile ? 5 : 8, argv);

	if (connection && *connection)
		return connection;
	if (connection)
		e->lib.close_conn(connection);
	error_set(err, ERROR_SYSTEM,
		  "the engine cannot open %s: is another process using it, or "
		  "the disk full?",
		  e->path_option);
	return NULL;
}

struct engine *engine_new(const char *library, const char *path, bool compile,
			  struct error *err)
{
	struct engine *e = calloc(1, sizeof(*e));

	if (!e || asprintf(&e->path_option, "--path=%s", path) < 0) {
		free(e);
		error_set_nomem(err);
		return NULL;
	}
	e->compile = compile;
	if (sweep_dropped(path, err) < 0 ||
	    load_library(&e->lib, library, err) < 0)
		goto fail;
	/* The engine's handlers would sleep for minutes in a crash. */
	e->lib.set_signal_handlers_enabled(0);
	e->anchor = connect_to_engine(e, err);
	if (e->anchor)
		return e;
fail:
	engine_free(e);
	return NULL;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	if (e->anchor)
		e->lib.close_conn(e->anchor);
	free(e->path_option);
	free(e);
}

struct engine_session *engine_open(struct engine *e, struct error *err)
{
	struct engine_session *session = calloc(1, sizeof(*session));

	if (!session) {
		error_set_nomem(err);
		return NULL;
	}
	session->connection = connect_to_engine(e, err);
	if (session->connection)
		return session;
	free(session);
	return NULL;
}

void engine_close(struct engine *e, struct engine_session *session)
{
	if (!session)
		return;
	e->lib.close_conn(session->connection);
	free(session);
}

static void take_counts(const struct library *lib, chdb_result *r,
			struct engine_result *ret)
{
	ret->data = lib->buffer(r);
	ret->len = lib->length(r);
	ret->seconds = lib->elapsed(r);
	ret->result_rows = lib->rows_read(r);
	ret->result_bytes = lib->bytes_read(r);
	ret->read_rows = lib->storage_rows_read(r);
	ret->read_bytes = lib->storage_bytes_read(r);
	ret->written_rows = lib->rows_written(r);
	ret->written_bytes = lib->bytes_written(r);
}

/* The engine writes some texts as "Code: 1. DB::Exception: Code: 1. ...". */
static const char *skip_repeated_prefix(const char *text)
{
	static const char mark[] = ". DB::Exception: ";
	const char *inner = strstr(text, mark);

	if (!inner)
		return text;
	inner += sizeof(mark) - 1;
	return strncmp(inner, text, (size_t)(inner - text)) == 0 ? inner : text;
}

int engine_query(struct engine *e, struct engine_session *session,
		 const char *query, size_t len, const char *format,
		 const struct engine_params *params,
		 struct engine_result *ret_result, struct buf *failure,
		 struct error *err)
{
	static const struct engine_params none;
	const char *text;
	chdb_result *r;

	if (!params)
		params = &none;
	r = e->lib.query(*session->connection, query, len, format,
			 strlen(format), params->names, NULL, params->values,
			 NULL, params->count);
	if (!r)
		return error_set_nomem(err);
	text = e->lib.error(r);
	if (text) {
		text = skip_repeated_prefix(text);
		buf_puts(failure, text);
		error_set(err, ERROR_INPUT, "%s", text);
		e->lib.destroy_result(r);
		return -1;
	}
	memset(ret_result, 0, sizeof(*ret_result));
	ret_result->handle = r;
	take_counts(&e->lib, r, ret_result);
	return 0;
}

void engine_result_free(struct engine *e, struct engine_result *result)
{
	if (result->handle)
		e->lib.destroy_result(result->handle);
	memset(result, 0, sizeof(*result));
}
