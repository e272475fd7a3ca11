/*
 * clickhouse_server.h - a ClickHouse of the test's own: the embedded engine
 * with an empty directory.  The server ends with the test, however the test
 * ends.
 */
#ifndef TESTS_UNIT_CLICKHOUSE_SERVER_H
#define TESTS_UNIT_CLICKHOUSE_SERVER_H

#include "tests/unit/free_address.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/clickhouse/clickhouse.h"
#include "common/clickhouse/rows.h"
#include "common/drop_const.h"

struct clickhouse_server {
	pid_t pid;
	char dir[40], url[64], listen[40];
	struct clickhouse_config config;
	struct clickhouse *ch; /* for the test's own queries */
};

/* Finds a program in build/bin, or in the folder that SHORTLOOP_BIN names: a
 * program with sanitizers cannot load the engine. */
static inline void clickhouse_server_find(const char *name, char path[512])
{
	const char *bin = getenv("SHORTLOOP_BIN");

	snprintf(path, 512, "%s/%s", bin ? bin : "build/bin", name);
	if (access(path, X_OK))
		fail_msg("%s is missing: run 'make'", path);
}

/* Starts one of the programs that were built; its output goes to `log` in the
 * server's directory. */
static inline pid_t clickhouse_server_spawn(const struct clickhouse_server *s,
					    const char *log, const char *name,
					    const char *const *args)
{
	char path[512], output[80];
	char *argv[16] = {drop_const(name)};
	pid_t parent = getpid(), pid;
	int fd;

	clickhouse_server_find(name, path);
	pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	for (size_t i = 0; i < 14 && args[i]; i++)
		argv[i + 1] = drop_const(args[i]);
	snprintf(output, sizeof(output), "%s/%s", s->dir, log);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = open(output, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (getppid() != parent || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(1);
	execv(path, argv);
	_exit(1);
}

static inline void clickhouse_server_await(struct clickhouse_server *s)
{
	struct error err = {0};

	/* Five minutes: the machine may be busy with something else. */
	for (int i = 0; i < 30000; i++) {
		if (!clickhouse_ping(s->ch, &err))
			return;
		if (waitpid(s->pid, NULL, WNOHANG) == s->pid)
			break;
		usleep(10000);
	}
	fail_msg("ClickHouse does not answer (%s/server.log): %s", s->dir,
		 err.text);
}

static inline void clickhouse_server_run(struct clickhouse_server *s)
{
	const char *engine = getenv("SHORTLOOP_ENGINE");
	char data[64];
	const char *const args[] = {
		"--listen",  s->listen,
		"--path",    data,
		"--library", engine ? engine : ".deps/chdb/libchdb.so",
		"--compile", "no",
		NULL};

	snprintf(data, sizeof(data), "%s/data", s->dir);
	s->pid = clickhouse_server_spawn(s, "server.log", "clickhouse-embedded",
					 args);
	clickhouse_server_await(s);
}

static inline void clickhouse_server_start(struct clickhouse_server *s)
{
	static char database[] = "default";
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
		.database = database,
		.connect_timeout = 5000,
		.query_timeout = 60000,
		.response_max = 16 << 20,
	};
	s->ch = clickhouse_new(&s->config, &err);
	assert_non_null(s->ch);
	clickhouse_server_run(s);
}

/* Makes the tables with `aggregator migrate`. */
static inline void clickhouse_server_migrate(struct clickhouse_server *s)
{
	char path[80];
	const char *const args[] = {"migrate", "-c", path, NULL};
	FILE *config;
	int status;

	snprintf(path, sizeof(path), "%s/shortloop.yaml", s->dir);
	config = fopen(path, "w");
	assert_non_null(config);
	fprintf(config, "clickhouse:\n  url: %s\n", s->url);
	fclose(config);
	assert_true(waitpid(clickhouse_server_spawn(s, "migrate.log",
						    "aggregator", args),
			    &status, 0) > 0);
	if (status)
		fail_msg("aggregator migrate failed: see %s/migrate.log",
			 s->dir);
}

/* Starts a new process with the same data. */
static inline void clickhouse_server_restart(struct clickhouse_server *s)
{
	kill(s->pid, SIGTERM);
	waitpid(s->pid, NULL, 0);
	clickhouse_server_run(s);
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

/* Returns the answer as TabSeparated without its last line feed; it is valid
 * until the next query. */
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

/* Returns the single number that a query of the test is answered with. */
__attribute__((format(printf, 2, 3))) static inline uint64_t
clickhouse_server_number(struct clickhouse_server *s, const char *format, ...)
{
	char sql[4096];
	struct error err = {0};
	uint64_t n = 0;
	va_list args;

	va_start(args, format);
	assert_true(vsnprintf(sql, sizeof(sql), format, args) <
		    (int)sizeof(sql));
	va_end(args);
	if (clickhouse_numbers(s->ch, sql, NULL, &n, 1, &err) < 0)
		fail_msg("%s: %s", sql, err.text);
	return n;
}

#endif
