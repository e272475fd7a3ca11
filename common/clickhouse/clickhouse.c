#include "common/clickhouse/clickhouse.h"

#include <ctype.h>
#include <curl/curl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/failure.h"
#include "common/clickhouse/server_url.h"
#include "common/clock.h"
#include "common/compress.h"
#include "common/http/field_text.h"

enum {
	BODY_KEPT_MAX = 1 << 20
};

struct clickhouse {
	const struct clickhouse_config *config;
	struct server_url server;
	CURL *curl;
	struct curl_slist *headers;	/* user, key */
	struct curl_slist *headers_enc; /* user, key, Content-Encoding */
	char curl_error[CURL_ERROR_SIZE];
	struct buf url;
	struct buf body;  /* the request's body, compressed */
	struct buf reply; /* error bodies, and answers that are discarded */
	struct clickhouse_task
		*task; /* the task of the queries that follow, or NULL */
	int last_code;
	atomic_bool aborted;
};

/* The destination of the answer to the current request. */
struct response_body {
	struct clickhouse *ch;
	struct buf *out;
	size_t start; /* out's length before */
	int header_code;
};

/* curl sends a header line unchanged, so a value that contains a line end, for
 * example from a password file of two lines, would become two headers. */
static bool is_field_value(const char *value)
{
	for (const char *c = value; *c; c++) {
		if (!field_text_has(*c))
			return false;
	}
	return true;
}

static int append_header(struct curl_slist **list, const char *name,
			 const char *value, struct error *err)
{
	struct buf line = {0};
	struct curl_slist *longer = NULL;
	const char *text;

	if (value && !is_field_value(value))
		return error_set(err, ERROR_CONFIG,
				 "clickhouse: what is sent as %s has a control "
				 "character, which no header may have",
				 name);
	buf_printf(&line, value ? "%s: %s" : "%s:", name, value);
	text = buf_cstr(&line);
	if (text)
		longer = curl_slist_append(*list, text);
	buf_free(&line);
	if (!longer)
		return error_set_nomem(err);
	*list = longer;
	return 0;
}

static int build_headers(const struct server_url *server, const char *encoding,
			 struct curl_slist **list, struct error *err)
{
	/* Without this curl waits a second for a 100 before a large body. */
	if (append_header(list, "Expect", NULL, err) < 0)
		return -1;
	if (append_header(list, "Content-Type", "application/octet-stream",
			  err) < 0)
		return -1;
	if (server->username &&
	    append_header(list, "X-ClickHouse-User", server->username, err) < 0)
		return -1;
	if (server->password &&
	    append_header(list, "X-ClickHouse-Key", server->password, err) < 0)
		return -1;
	return encoding ? append_header(list, "Content-Encoding", encoding, err)
			: 0;
}

static const char *encoding_of(const struct clickhouse_config *config)
{
	if (!config->compression || !strcmp(config->compression, "none"))
		return NULL;
	return config->compression;
}

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
	struct response_body *a = arg;
	size_t len = size * count;

	if (a->out->len - a->start + len > (size_t)a->ch->config->response_max)
		return 0;
	buf_append(a->out, data, len);
	return a->out->failed ? 0 : len;
}

static size_t on_header(char *data, size_t size, size_t count, void *arg)
{
	static const char name[] = "X-ClickHouse-Exception-Code:";
	struct response_body *a = arg;
	size_t len = size * count;

	if (len > sizeof(name) && !strncasecmp(data, name, sizeof(name) - 1))
		a->header_code = (int)strtol(data + sizeof(name) - 1, NULL, 10);
	return len;
}

static bool is_cancelled(const struct clickhouse *ch)
{
	return ch->task && atomic_load(&ch->task->cancelled);
}

static int on_progress(void *arg, curl_off_t dl_total, curl_off_t dl_now,
		       curl_off_t ul_total, curl_off_t ul_now)
{
	struct clickhouse *ch = arg;

	(void)dl_total;
	(void)dl_now;
	(void)ul_total;
	(void)ul_now;
	return atomic_load(&ch->aborted) || is_cancelled(ch);
}

static int set_options(struct clickhouse *ch, struct error *err)
{
	const struct clickhouse_config *config = ch->config;
	CURL *c = ch->curl;
	CURLcode rc;

	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, ch->curl_error);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "shortloop/" VERSION);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, ch);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS,
			 (long)config->connect_timeout);
	if (config->ca_file)
		curl_easy_setopt(c, CURLOPT_CAINFO, config->ca_file);
	rc = curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	if (rc != CURLE_OK)
		return error_set(err, ERROR_SYSTEM, "libcurl: %s",
				 curl_easy_strerror(rc));
	return 0;
}

struct clickhouse *clickhouse_new(const struct clickhouse_config *config,
				  struct error *err)
{
	struct clickhouse *ch;

	ch = calloc(1, sizeof(*ch));
	if (!ch) {
		error_set_nomem(err);
		return NULL;
	}
	ch->config = config;
	if (server_url_read(config, &ch->server, err) < 0) {
		free(ch);
		return NULL;
	}
	curl_global_init(CURL_GLOBAL_DEFAULT);
	ch->curl = curl_easy_init();
	if (!ch->curl) {
		error_set_nomem(err);
		goto fail;
	}
	if (set_options(ch, err) < 0 ||
	    build_headers(&ch->server, NULL, &ch->headers, err) < 0 ||
	    build_headers(&ch->server, encoding_of(config), &ch->headers_enc,
			  err) < 0)
		goto fail;
	return ch;
fail:
	clickhouse_free(ch);
	return NULL;
}

void clickhouse_free(struct clickhouse *ch)
{
	if (!ch)
		return;
	server_url_release(&ch->server);
	curl_easy_cleanup(ch->curl);
	curl_slist_free_all(ch->headers);
	curl_slist_free_all(ch->headers_enc);
	buf_free(&ch->url);
	buf_free(&ch->body);
	buf_free(&ch->reply);
	curl_global_cleanup();
	free(ch);
}

void clickhouse_abort(struct clickhouse *ch)
{
	atomic_store(&ch->aborted, true);
}

static void add_param(struct clickhouse *ch, const char *name,
		      const char *value)
{
	char *escaped = curl_easy_escape(ch->curl, value, 0);

	if (!escaped) {
		ch->url.failed = true;
		return;
	}
	buf_printf(&ch->url, "&%s=%s", name, escaped);
	curl_free(escaped);
}

/* Returns the ms left for the next request; 0 or less: no time is left. */
static int64_t time_left(const struct clickhouse *ch)
{
	int64_t most = ch->config->query_timeout, left;

	if (!ch->task || !ch->task->deadline)
		return most;
	left = ch->task->deadline - clock_monotonic_ms();
	return left < most ? left : most;
}

static int set_late(struct error *err)
{
	error_set_retriable(err, ERROR_REMOTE,
			    "no time is left to ask ClickHouse");
	return error_keep_inside(err, CLICKHOUSE_FAILED);
}

/* readonly=2 allows settings in a query, and the server requires it before it
 * ends a query whose client has closed the connection. */
static void put_task(struct clickhouse *ch)
{
	struct clickhouse_task *task = ch->task;
	int64_t left = time_left(ch);

	if (!task)
		return;
	buf_printf(&ch->url,
		   "&query_id=%s%%23%u&readonly=2"
		   "&cancel_http_readonly_queries_on_client_close=1"
		   "&max_execution_time=%" PRId64,
		   task->id, ++task->asked,
		   left > 0 ? clock_whole_seconds(left) : 1);
	if (task->priority)
		buf_printf(&ch->url, "&priority=%u", task->priority);
	if (task->nice)
		buf_printf(&ch->url, "&os_thread_priority=%u", task->nice);
}

/*
 * wait_end_of_query makes the server hold its answer until the query has ended:
 * an exception half-way then changes the status, and never cuts the body of a
 * 200.
 */
static int build_url(struct clickhouse *ch, const char *query_in_url,
		     const struct clickhouse_param *params, struct error *err)
{
	buf_reset(&ch->url);
	buf_puts(&ch->url, ch->server.base);
	buf_puts(&ch->url, "/?wait_end_of_query=1");
	if (ch->config->database)
		add_param(ch, "database", ch->config->database);
	for (; params && params->name; params++)
		add_param(ch, params->name, params->value);
	put_task(ch);
	if (query_in_url)
		add_param(ch, "query", query_in_url);
	return buf_cstr(&ch->url) ? 0 : error_set_nomem(err);
}

/* Sets the error of a request that got no HTTP answer. */
static int set_transport_error(struct clickhouse *ch, CURLcode rc,
			       struct error *err)
{
	const char *text =
		*ch->curl_error ? ch->curl_error : curl_easy_strerror(rc);

	switch (rc) {
	case CURLE_WRITE_ERROR:
		return error_set(err, ERROR_REMOTE,
				 "an answer of more than "
				 "clickhouse.response_max (%lld bytes)",
				 (long long)ch->config->response_max);
	case CURLE_OUT_OF_MEMORY:
		return error_set_nomem(err);
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_SSL_CACERT_BADFILE:
		return error_set(err, ERROR_CONFIG, "clickhouse.url: %s", text);
	case CURLE_PEER_FAILED_VERIFICATION:
		error_set(err, ERROR_REMOTE, "%s", text);
		break;
	default:
		error_set_retriable(err, ERROR_REMOTE, "%s", text);
		break;
	}
	return error_keep_inside(err, CLICKHOUSE_FAILED);
}

static int set_answer_error(struct clickhouse *ch, struct response_body *a,
			    long status, struct error *err)
{
	const char *body =
		a->out->len > a->start ? a->out->data + a->start : "";
	size_t len = a->out->len - a->start;

	ch->last_code = a->header_code ? a->header_code
				       : clickhouse_code_of_body(body, len);
	clickhouse_failure_set(err, status, ch->last_code, body, len);
	a->out->len = a->start;
	return -1;
}

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool begins_with_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	return !strncasecmp(text, word, len) && !is_of_word(text[len]);
}

/* Words in quotes and comments count as well: a query wrongly taken for a
 * change only costs a connection; a change wrongly taken for a query may be
 * executed twice. */
static bool has_word(const char *text, const char *word)
{
	bool inside = false;

	for (; *text; text++) {
		if (!inside && begins_with_word(text, word))
			return true;
		inside = is_of_word(*text);
	}
	return false;
}

bool clickhouse_is_question(const char *query)
{
	static const char *const words[] = {"SELECT", "SHOW", "EXISTS",
					    "DESCRIBE", "EXPLAIN"};

	while (isspace((unsigned char)*query) || *query == '(')
		query++;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (begins_with_word(query, words[i]))
			return true;
	/* An INSERT may follow the expressions. */
	return begins_with_word(query, "WITH") && !has_word(query, "INSERT");
}

enum connection_use {
	KEPT,
	ITS_OWN, /* made for this request and closed after it */
};

static int set_cancelled(struct error *err)
{
	return error_set(err, ERROR_REMOTE, CLICKHOUSE_CANCELLED);
}

/* Records whether the request failed after it was sent. */
static void note_unanswered(struct clickhouse *ch)
{
	long sent = 0;

	curl_easy_getinfo(ch->curl, CURLINFO_REQUEST_SIZE, &sent);
	if (ch->task && sent > 0)
		ch->task->unanswered = true;
}

/* Sends the prepared request.  On failure `out` is unchanged. */
static int perform_request(struct clickhouse *ch,
			   enum connection_use connection, struct buf *out,
			   struct error *err)
{
	struct response_body a = {.ch = ch, .out = out ? out : &ch->reply};
	int64_t left = time_left(ch);
	long status = 0;
	CURLcode rc;

	if (is_cancelled(ch))
		return set_cancelled(err);
	/* libcurl takes a limit of 0 ms as no limit. */
	if (left <= 0)
		return set_late(err);
	buf_reset(&ch->reply);
	a.start = a.out->len;
	ch->last_code = 0;
	*ch->curl_error = '\0';
	curl_easy_setopt(ch->curl, CURLOPT_TIMEOUT_MS, (long)left);
	curl_easy_setopt(ch->curl, CURLOPT_URL, ch->url.data);
	curl_easy_setopt(ch->curl, CURLOPT_WRITEDATA, &a);
	curl_easy_setopt(ch->curl, CURLOPT_HEADERDATA, &a);
	curl_easy_setopt(ch->curl, CURLOPT_FRESH_CONNECT,
			 connection == ITS_OWN ? 1L : 0L);
	curl_easy_setopt(ch->curl, CURLOPT_FORBID_REUSE,
			 connection == ITS_OWN ? 1L : 0L);
	rc = curl_easy_perform(ch->curl);
	if (rc != CURLE_OK)
		note_unanswered(ch);
	if (a.out->failed)
		return error_set_nomem(err);
	if (rc != CURLE_OK) {
		a.out->len = a.start;
		return rc == CURLE_ABORTED_BY_CALLBACK && is_cancelled(ch)
			       ? set_cancelled(err)
			       : set_transport_error(ch, rc, err);
	}
	curl_easy_getinfo(ch->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200 || a.header_code)
		return set_answer_error(ch, &a, status, err);
	return 0;
}

static void set_post(struct clickhouse *ch, const void *data, size_t len,
		     struct curl_slist *headers)
{
	curl_easy_setopt(ch->curl, CURLOPT_POST, 1L);
	curl_easy_setopt(ch->curl, CURLOPT_POSTFIELDS, len ? data : "");
	curl_easy_setopt(ch->curl, CURLOPT_POSTFIELDSIZE_LARGE,
			 (curl_off_t)len);
	curl_easy_setopt(ch->curl, CURLOPT_HTTPHEADER, headers);
}

int clickhouse_ping(struct clickhouse *ch, struct error *err)
{
	buf_reset(&ch->url);
	buf_printf(&ch->url, "%s/ping", ch->server.base);
	if (!buf_cstr(&ch->url))
		return error_set_nomem(err);
	curl_easy_setopt(ch->curl, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(ch->curl, CURLOPT_HTTPHEADER, ch->headers);
	return perform_request(ch, KEPT, NULL, err);
}

int clickhouse_query(struct clickhouse *ch, const char *query,
		     const struct clickhouse_param *params, struct buf *out,
		     struct error *err)
{
	if (build_url(ch, NULL, params, err) < 0)
		return -1;
	set_post(ch, query, strlen(query), ch->headers);
	return perform_request(
		ch, clickhouse_is_question(query) ? KEPT : ITS_OWN, out, err);
}

void clickhouse_set_task(struct clickhouse *ch, struct clickhouse_task *task)
{
	ch->task = task;
}

static void put_quoted(struct buf *out, const char *text)
{
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}

int clickhouse_end_queries(struct clickhouse *ch, const char *id,
			   struct error *err)
{
	struct buf sql = {0}, numbered = {0};
	int status;

	buf_printf(&numbered, "%s#", id);
	buf_puts(&sql, "KILL QUERY");
	if (ch->config->cluster) {
		buf_puts(&sql, " ON CLUSTER ");
		put_quoted(&sql, ch->config->cluster);
	}
	buf_puts(&sql, " WHERE query_id = ");
	put_quoted(&sql, id);
	buf_puts(&sql, " OR startsWith(query_id, ");
	put_quoted(&sql, buf_cstr(&numbered) ? numbered.data : "");
	buf_puts(&sql, ") SYNC");
	status = buf_cstr(&sql) && !numbered.failed
			 ? clickhouse_query(ch, sql.data, NULL, NULL, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	buf_free(&numbered);
	return status;
}

int clickhouse_insert(struct clickhouse *ch, const char *query,
		      const struct clickhouse_param *params, const void *data,
		      size_t len, struct error *err)
{
	const char *encoding = encoding_of(ch->config);
	int status;

	if (build_url(ch, query, params, err) < 0)
		return -1;
	if (!encoding) {
		set_post(ch, data, len, ch->headers);
		return perform_request(ch, ITS_OWN, NULL, err);
	}
	buf_reset(&ch->body);
	if (compress_append(encoding, COMPRESS_NEAR, data, len, &ch->body,
			    err) < 0)
		return -1;
	set_post(ch, ch->body.data, ch->body.len, ch->headers_enc);
	status = perform_request(ch, ITS_OWN, NULL, err);
	buf_empty(&ch->body, BODY_KEPT_MAX);
	return status;
}

void clickhouse_escape(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		switch (text[i]) {
		case '\\':
			buf_puts(out, "\\\\");
			break;
		case '\t':
			buf_puts(out, "\\t");
			break;
		case '\n':
			buf_puts(out, "\\n");
			break;
		case '\0':
			buf_puts(out, "\\0");
			break;
		default:
			buf_putc(out, text[i]);
		}
	}
	buf_cstr(out);
}

int clickhouse_last_code(const struct clickhouse *ch)
{
	return ch->last_code;
}
