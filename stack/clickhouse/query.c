#include "stack/clickhouse/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "stack/clickhouse/failure.h"
#include "stack/clickhouse/lexer.h"
#include "stack/clickhouse/settings.h"

/* --- KILL QUERY ----------------------------------------------------------- */

/* The engine assigns its own query ids: the id of a request is stored in the
 * setting log_comment of its query. */
/* A KILL statement; the text outlives this struct. */
struct kill {
	const char *text;
	size_t len;
};

static struct lexer lexer_of(const struct kill *k)
{
	return (struct lexer){k->text, k->len, 0, 0};
}

static bool has_word(const struct kill *k, const char *word)
{
	struct lexer lx = lexer_of(k);
	struct token t;

	while ((t = lexer_next(&lx)).kind != TOKEN_END)
		if (token_is(&lx, t, word))
			return true;
	return false;
}

static bool kill_is_sync(const struct kill *k)
{
	struct lexer lx = lexer_of(k);

	return token_is(&lx, lexer_next(&lx), "KILL") &&
	       token_is(&lx, lexer_next(&lx), "QUERY") && has_word(k, "SYNC");
}

static void kill_rewrite(const struct kill *k, struct buf *out)
{
	struct lexer lx = lexer_of(k);
	size_t done = 0;
	struct token t;

	while ((t = lexer_next(&lx)).kind != TOKEN_END) {
		if (!token_is(&lx, t, "query_id"))
			continue;
		buf_append(out, k->text + done, t.start - done);
		buf_puts(out, "Settings['log_comment']");
		done = t.end;
	}
	buf_append(out, k->text + done, k->len - done);
}

/* Returns true if a quoted string is the id, or, unless `whole`, its
 * beginning. */
static bool string_matches_id(const char *quoted, size_t len, const char *id,
			      bool whole)
{
	for (size_t i = 1; i + 1 < len; i++) {
		if (quoted[i] == '\\' && i + 2 < len)
			i++;
		if (!*id || *id++ != quoted[i])
			return false;
	}
	return !whole || !*id;
}

/* Accepts query_id = 'id', or startsWith(query_id, 'beginning'). */
static bool kill_names(const char *id, const void *kill)
{
	const struct kill *k = kill;
	struct lexer lx = lexer_of(k);
	bool whole = true;
	struct token t;

	while ((t = lexer_next(&lx)).kind != TOKEN_END) {
		if (token_is(&lx, t, "startsWith"))
			whole = false;
		if (t.kind != TOKEN_STRING)
			continue;
		if (string_matches_id(k->text + t.start, t.end - t.start, id,
				      whole))
			return true;
		whole = true;
	}
	return false;
}

/* --- queries -------------------------------------------------------------- */

enum {
	KILL_AGAIN_NS = 2000000
};

/* The parts of a statement, known once the start of its data is found. */
struct source {
	const char *text; /* the statement */
	size_t len;
	struct http_slice data[3]; /* the data after it, in pieces */
};

struct query_run {
	struct query *q;
	const struct query_request *r;
	struct engine *engine;
	struct engine_session *session;
	struct running *running;
	struct error *err;
};

static int decode_body(struct query *q, const struct query_request *r,
		       size_t max, struct http_slice *ret_body,
		       struct error *err)
{
	*ret_body = r->body;
	if (r->body.len == 0 || r->body_coding == CODING_IDENTITY)
		return 0;
	if (coding_decode(r->body_coding, r->body.data, r->body.len, max,
			  &q->body, err) < 0)
		return -1;
	*ret_body = (struct http_slice){q->body.data, q->body.len};
	return 0;
}

/* Statement and data are one piece of text. */
static int split_text(struct query *q, const char *text, size_t len,
		      struct source *ret, struct error *err)
{
	if (statement_parse(&q->statement, text, len, err) < 0)
		return -1;
	ret->text = text;
	ret->len = len;
	if (q->statement.has_data) {
		ret->data[0].data = text + q->statement.data;
		ret->data[0].len = len - q->statement.data;
	}
	return 0;
}

/* The URL has the statement, or its start; the body continues it. */
static int split_url(struct query *q, const char *query, struct http_slice body,
		     struct source *ret, struct error *err)
{
	if (split_text(q, query, strlen(query), ret, err) < 0)
		return -1;
	if (q->statement.has_data) {
		ret->data[1] = (struct http_slice){"\n", ret->data[0].len > 0};
		ret->data[2] = body;
		return 0;
	}
	if (body.len == 0)
		return 0;
	buf_puts(&q->text, query);
	buf_putc(&q->text, '\n');
	buf_append(&q->text, body.data, body.len);
	if (q->text.failed)
		return error_set_nomem(err);
	return split_text(q, q->text.data, q->text.len, ret, err);
}

static int split_request(struct query *q, const struct query_request *r,
			 struct http_slice body, struct source *ret,
			 struct error *err)
{
	memset(ret, 0, sizeof(*ret));
	if (r->query && r->query[0])
		return split_url(q, r->query, body, ret, err);
	return split_text(q, body.data ? body.data : "", body.len, ret, err);
}

static int write_all(int fd, struct http_slice piece, struct error *err)
{
	while (piece.len > 0) {
		ssize_t n = write(fd, piece.data, piece.len);

		if (n < 0 && errno != EINTR)
			return error_set_errno(err, "cannot keep the data of "
						    "an INSERT in memory");
		if (n > 0) {
			piece.data += n;
			piece.len -= (size_t)n;
		}
	}
	return 0;
}

static int run_sql(struct query_run *run, const char *sql, size_t len,
		   const struct engine_params *params)
{
	return engine_query(run->engine, run->session, sql, len,
			    run->r->default_format, params, &run->q->result,
			    &run->q->failure, run->err);
}

/* The rows are passed to the engine as a file without a name and without a
 * disk. */
static int run_insert(struct query_run *run, const struct source *from,
		      const struct engine_params *params)
{
	struct buf sql = {0};
	char path[64];
	int rc = -1, fd = memfd_create("insert", MFD_CLOEXEC);

	if (fd < 0)
		return error_set_errno(run->err, "memfd_create");
	for (size_t i = 0; i < 3; i++)
		if (write_all(fd, from->data[i], run->err) < 0)
			goto out;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	statement_insert_from(&run->q->statement, from->text, path, &sql);
	if (sql.failed)
		error_set_nomem(run->err);
	else
		rc = run_sql(run, sql.data, sql.len, params);
out:
	buf_free(&sql);
	close(fd);
	return rc;
}

/* A dropped table is gone for every query at once, SYNC or not. */
static int run_drop(struct query_run *run, const struct source *from,
		    const struct engine_params *params)
{
	const struct statement *st = &run->q->statement;
	struct buf sql = {0};
	int rc;

	buf_append(&sql, from->text, st->sync_start);
	buf_append(&sql, from->text + st->sync_end, from->len - st->sync_end);
	rc = sql.failed ? error_set_nomem(run->err)
			: run_sql(run, sql.data, sql.len, params);
	buf_free(&sql);
	return rc;
}

/*
 * The engine ends those of the queries that it runs, and this waits for it.  A
 * query that has begun here but not yet in the engine is ended by a later
 * repetition.
 */
static int run_kill(struct query_run *run, const struct kill *kill,
		    const struct engine_params *params)
{
	const struct timespec pause = {0, KILL_AGAIN_NS};
	struct buf sql = {0};
	int rc = 0;

	kill_rewrite(kill, &sql);
	if (sql.failed)
		rc = error_set_nomem(run->err);
	while (rc == 0) {
		size_t left = run->running ? running_kill(run->running,
							  kill_names, kill)
					   : 0;

		engine_result_free(run->engine, &run->q->result);
		rc = run_sql(run, sql.data, sql.len, params);
		if (!left)
			break;
		nanosleep(&pause, NULL);
	}
	buf_free(&sql);
	return rc;
}

static int run_statement(struct query_run *run, const struct source *from)
{
	const struct kill kill = {from->text, from->len};
	struct engine_params params = {0};
	int rc;

	if (settings_params(&run->r->params, &params, run->err) < 0)
		return -1;
	if (run->q->statement.has_data)
		rc = run_insert(run, from, &params);
	else if (kill_is_sync(&kill))
		rc = run_kill(run, &kill, &params);
	else if (run->q->statement.sync_end)
		rc = run_drop(run, from, &params);
	else
		rc = run_sql(run, from->text, from->len, &params);
	settings_params_free(&params);
	return rc;
}

/* Runs SET and USE, each by itself; their answers are empty. */
static int run_small(struct query_run *run, const struct buf *sql)
{
	int rc;

	if (sql->failed)
		return error_set_nomem(run->err);
	if (sql->len == 0)
		return 0;
	rc = run_sql(run, sql->data, sql->len, NULL);
	if (rc == 0)
		engine_result_free(run->engine, &run->q->result);
	return rc;
}

static int prepare_session(struct query_run *run,
			   const struct query_limits *limits, bool own_session)
{
	struct buf sql = {0};
	int rc = settings_use(run->r->database, &sql, run->err);

	if (rc == 0)
		rc = run_small(run, &sql);
	buf_reset(&sql);
	if (rc == 0)
		rc = settings_set(&run->r->params, limits->max_result_bytes,
				  run->r->query_id,
				  run->r->readonly && own_session, &sql,
				  run->err);
	if (rc == 0)
		rc = run_small(run, &sql);
	buf_free(&sql);
	return rc;
}

/* Restores a session that outlives the request: settings are reset, and the
 * rest of an answer that failed half-way is removed. */
static void restore_session(struct query_run *run)
{
	static const char drain[] = "SELECT 1 FORMAT Null";
	struct engine_result ignored = {0};
	struct buf sql = {0}, failure = {0};
	struct error err;

	settings_unset(&run->r->params, &sql);
	if (sql.len > 0 && !sql.failed &&
	    engine_query(run->engine, run->session, sql.data, sql.len, "Null",
			 NULL, &ignored, &failure, &err) == 0)
		engine_result_free(run->engine, &ignored);
	if (engine_query(run->engine, run->session, drain, sizeof(drain) - 1,
			 "Null", NULL, &ignored, &failure, &err) == 0)
		engine_result_free(run->engine, &ignored);
	buf_free(&sql);
	buf_free(&failure);
}

static int run_in_session(struct query_run *run, const struct source *from,
			  const struct query_limits *limits, bool own_session)
{
	if (prepare_session(run, limits, own_session) < 0)
		return -1;
	return run_statement(run, from);
}

static int encode_answer(struct query *q, const struct query_request *r,
			 struct error *err)
{
	if (r->answer_coding == CODING_IDENTITY)
		return 0;
	return coding_encode(r->answer_coding, q->result.data, q->result.len,
			     &q->answer, err);
}

static int run_all(struct query_run *run, const struct query_limits *limits,
		   bool own_session)
{
	struct http_slice body;
	struct source from;
	int rc;

	if (run->running &&
	    running_begin(run->running, run->r->query_id, run->err) < 0)
		return -1;
	if (decode_body(run->q, run->r, limits->max_body, &body, run->err) <
		    0 ||
	    split_request(run->q, run->r, body, &from, run->err) < 0)
		return -1;
	if (!own_session && run->r->readonly && !run->q->statement.reads)
		return failure_set(run->err, FAILURE_READONLY,
				   "Cannot execute query in readonly mode. For "
				   "queries over HTTP, method GET implies "
				   "readonly. You should use method POST for "
				   "modifying queries");
	if (own_session)
		run->session = engine_open(run->engine, run->err);
	if (!run->session)
		return -1;
	rc = run_in_session(run, &from, limits, own_session);
	if (own_session)
		engine_close(run->engine, run->session);
	else
		restore_session(run);
	return rc < 0 ? -1 : encode_answer(run->q, run->r, run->err);
}

void query_run(struct query *q, const struct query_request *r,
	       struct engine *engine, struct engine_session *session,
	       struct running *running, const struct query_limits *limits)
{
	struct error err = {0};
	struct query_run run = {q, r, engine, session, running, &err};

	q->failed = run_all(&run, limits, session == NULL) < 0;
	if (q->failed && q->failure.len == 0)
		buf_puts(&q->failure, err.text);
}

struct http_slice query_answer(const struct query *q)
{
	if (q->answer.len > 0)
		return (struct http_slice){q->answer.data, q->answer.len};
	return (struct http_slice){q->result.data, q->result.len};
}

const char *query_format(const struct query *q, const struct query_request *r)
{
	if (!q->statement.has_data && q->statement.format[0])
		return q->statement.format;
	return r->default_format;
}

void query_release(struct query *q, struct engine *engine)
{
	engine_result_free(engine, &q->result);
	buf_free(&q->body);
	buf_free(&q->text);
	buf_free(&q->answer);
	buf_free(&q->failure);
}
