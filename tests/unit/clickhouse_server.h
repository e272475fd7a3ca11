/*
 * clickhouse_server.h - a ClickHouse of the test's own, the embedded engine
 * with an empty directory.  It ends with the test, however that ends.
 */
#ifndef TESTS_UNIT_CLICKHOUSE_SERVER_H
#define TESTS_UNIT_CLICKHOUSE_SERVER_H

#include "tests/unit/free_address.h"

#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/clickhouse/clickhouse.h"
#include "common/clickhouse/rows.h"

struct clickhouse_server {
	pid_t pid;
	char dir[40], url[64], listen[40];
	struct clickhouse_config config;
	struct clickhouse *ch; /* for the test's own questions */
};

/* Of the same build as this test, if it is there: build/tests/unit/x/test_y. */
static inline void clickhouse_server_find(char path[512])
{
	const char *given = getenv("SHORTLOOP_BIN");
	char own[400];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	assert_true(len > 0);
	own[len] = '\0';
	for (int i = 0; i < 4; i++)
		memmove(own, dirname(own), strlen(dirname(own)) + 1);
	snprintf(path, 512, "%s/bin/clickhouse-embedded", own);
	if (given)
		snprintf(path, 512, "%s/clickhouse-embedded", given);
	else if (access(path, X_OK))
		snprintf(path, 512, "build/bin/clickhouse-embedded");
}

static inline void clickhouse_server_run(struct clickhouse_server *s)
{
	const char *engine = getenv("SHORTLOOP_ENGINE");
	pid_t parent = getpid();
	char path[512], data[64], log[64];
	int fd;

	clickhouse_server_find(path);
	if (!engine)
		engine = ".deps/chdb/libchdb.so";
	if (access(path, X_OK) || access(engine, R_OK))
		fail_msg("%s or %s is missing: run 'make' and 'make deps'",
			 path, engine);
	snprintf(data, sizeof(data), "%s/data", s->dir);
	snprintf(log, sizeof(log), "%s/log", s->dir);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (getppid() != parent || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(1);
	execl(path, path, "--listen", s->listen, "--path", data, "--library",
	      engine, "--compile", "no", (char *)NULL);
	_exit(1);
}

static inline void clickhouse_server_start(struct clickhouse_server *s)
{
	struct free_address at;
	struct error err = {0};

	memset(s, 0, sizeof(*s));
	free_address_find(&at);
	strcpy(s->dir, "/tmp/shortloop-clickhouse-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->listen, sizeof(s->listen), "%s:%s", at.host, at.port);
	snprintf(s->url, sizeof(s->url), "http://%s", s->listen);
	s->config = (struct clickhouse_config){
		.url = s->url,
		.connect_timeout = 5000,
		.query_timeout = 60000,
		.response_max = 1 << 20,
	};
	s->ch = clickhouse_new(&s->config, &err);
	assert_non_null(s->ch);
	clickhouse_server_run(s);
	/* Five minutes: the machine may be busy with something else. */
	for (int i = 0; i < 30000; i++) {
		if (!clickhouse_ping(s->ch, &err))
			return;
		assert_int_equal(waitpid(s->pid, NULL, WNOHANG), 0);
		usleep(10000);
	}
	fail_msg("ClickHouse does not answer: %s", err.text);
}

static inline void clickhouse_server_stop(struct clickhouse_server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	clickhouse_free(s->ch);
	unit_remove_dir(s->dir);
}

/* Runs a statement, formatted as by printf. */
__attribute__((format(printf, 2, 3))) static inline void
clickhouse_server_do(struct clickhouse_server *s, const char *format, ...)
{
	struct error err = {0};
	char sql[16384];
	va_list args;

	va_start(args, format);
	assert_true(vsnprintf(sql, sizeof(sql), format, args) <
		    (int)sizeof(sql));
	va_end(args);
	if (clickhouse_query(s->ch, sql, NULL, NULL, &err) < 0)
		fail_msg("%s: %s", sql, err.text);
}

/* The answer, as TabSeparated without its last line feed; until the next. */
__attribute__((format(printf, 2, 3))) static inline const char *
clickhouse_server_ask(struct clickhouse_server *s, const char *format, ...)
{
	static char text[16384];
	struct error err = {0};
	struct buf out = {0};
	va_list args;

	va_start(args, format);
	assert_true(vsnprintf(text, sizeof(text), format, args) <
		    (int)sizeof(text));
	va_end(args);
	if (clickhouse_query(s->ch, text, NULL, &out, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	assert_true(out.len < sizeof(text));
	memcpy(text, out.data ? out.data : "", out.len);
	text[out.len ? out.len - 1 : 0] = '\0';
	buf_free(&out);
	return text;
}

#endif
