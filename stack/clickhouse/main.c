/*
 * clickhouse-embedded - ClickHouse's HTTP interface in front of an engine that
 * runs in this process.  For development and tests: the programs see a
 * ClickHouse server.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sysexits.h>
#include <unistd.h>

#include "common/log.h"
#include "common/loop/loop.h"
#include "common/signals.h"
#include "stack/clickhouse/options.h"
#include "stack/clickhouse/server.h"

struct program {
	struct log *log;
	struct loop *loop;
	struct server *server;
	int signal_fd;
};

static void on_signal(void *arg, uint32_t events)
{
	struct program *p = arg;
	int number;

	(void)events;
	while ((number = signals_next(p->signal_fd)) != 0) {
		if (number == SIGHUP)
			continue;
		log_info(p->log, "stopping", log_int("signal", number));
		server_drain(p->server);
	}
}

static int run_server(struct program *p, const struct options *o,
		      struct error *err)
{
	struct loop_watch *watch;

	if (signals_open(&p->signal_fd, err) < 0)
		return -1;
	p->loop = loop_new(err);
	if (!p->loop)
		return -1;
	watch = loop_watch_fd(p->loop, p->signal_fd, EPOLLIN, on_signal, p,
			      err);
	if (!watch)
		return -1;
	p->server = server_new(p->loop, o, p->log, err);
	if (!p->server)
		return -1;
	return loop_run(p->loop, err);
}

int main(int argc, char **argv)
{
	struct program p = {.signal_fd = -1};
	enum options_action action;
	struct error err = {0};
	struct options o;
	int status = 0;

	if (options_parse(&o, argc, argv, &action, &err) < 0) {
		fprintf(stderr, "clickhouse-embedded: %s\n", err.text);
		return error_exit_status(&err);
	}
	if (action == OPTIONS_HELP)
		options_print_help(stdout);
	if (action == OPTIONS_VERSION)
		puts("clickhouse-embedded " VERSION);
	if (action != OPTIONS_RUN)
		return 0;
	p.log = log_new("clickhouse-embedded", STDERR_FILENO, LOG_INFO,
			strcmp(o.log_format, "json") == 0 ? LOG_JSON
							  : LOG_LOGFMT,
			&err);
	if (!p.log || run_server(&p, &o, &err) < 0) {
		log_error(p.log, "cannot run", log_err(&err));
		status = error_exit_status(&err);
	}
	if (server_is_busy(p.server)) {
		log_warn(p.log, "ending in the middle of queries");
		_exit(EX_TEMPFAIL);
	}
	server_free(p.server);
	loop_free(p.loop);
	signals_close(p.signal_fd);
	log_free(p.log);
	return status;
}
