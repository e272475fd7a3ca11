/*
 * engine.h - ClickHouse's engine from libchdb.so.
 *
 * The library is loaded at run time, so that building needs none of its half
 * gigabyte.  It ships no header; engine.c declares the part of its C interface
 * that is used.  One process has one engine on one data directory.
 *
 * A session is one client's context: current database, settings, temporary
 * tables.  Opening one costs about 0.15 ms.  Sessions may be used at the same
 * time, each by one thread at a time.
 */
#ifndef STACK_CLICKHOUSE_ENGINE_H
#define STACK_CLICKHOUSE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"

struct engine;
struct engine_session;

/* Opens the engine on `path`, which is created if it is missing.  `compile`:
 * repeated expressions are compiled to machine code, which is worth it for many
 * rows.  ERROR_BUSY while another process has the data open. */
struct engine *engine_new(const char *library, const char *path, bool compile,
			  struct error *err);
/* Closes the engine; sessions must be closed before.  NULL accepted. */
void engine_free(struct engine *e);

struct engine_session *engine_open(struct engine *e, struct error *err);
void engine_close(struct engine *e, struct engine_session *session);

/* Values of {name:Type} in the query, as two arrays of `count` strings. */
struct engine_params {
	const char *const *names;
	const char *const *values;
	size_t count;
};

/* Owned by the caller until engine_result_free. */
struct engine_result {
	void *handle;
	const char *data; /* the answer in its format */
	size_t len;
	uint64_t result_rows, result_bytes;
	uint64_t read_rows, read_bytes; /* from storage */
	uint64_t written_rows, written_bytes;
	double seconds;
};

/*
 * Runs one statement.  `format` is the answer's unless the statement names one;
 * `params` may be NULL.  On failure there is no result, and the engine's own
 * text ("Code: N. DB::Exception: ...") is appended to `failure` and, cut to
 * fit, put in err.
 */
int engine_query(struct engine *e, struct engine_session *session,
		 const char *query, size_t len, const char *format,
		 const struct engine_params *params,
		 struct engine_result *ret_result, struct buf *failure,
		 struct error *err);
void engine_result_free(struct engine *e, struct engine_result *result);

#endif
