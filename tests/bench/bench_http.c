/*
 * The HTTP server alone: every request is answered 302, as nginx' `return 302`
 * does.  Any further cost of the redirector is for its own work.
 * usage: bench_http PORT
 */
#include <stdio.h>

#include "common/http/http_server.h"

static void reply_with_redirect(struct http_request *req, void *arg)
{
	static const char lines[] = "Location: https://example.org/\r\n"
				    "Cache-Control: private, max-age=0\r\n";

	(void)arg;
	http_reply_lines(req, 302,
			 (struct http_slice){lines, sizeof(lines) - 1}, NULL,
			 0);
}

static int serve_port(const char *port, struct error *err)
{
	struct loop *loop = loop_new(err);
	struct http_listener *l = NULL;
	char address[32];
	int status = -1;

	snprintf(address, sizeof(address), "127.0.0.1:%s", port);
	if (loop)
		l = http_listener_new(loop, address, &http_config_default,
				      reply_with_redirect, NULL, NULL, "bench",
				      err);
	if (l)
		status = loop_run(loop, err);
	http_listener_free(l);
	loop_free(loop);
	return status;
}

int main(int argc, char **argv)
{
	struct error err;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_http PORT\n");
		return 64;
	}
	if (serve_port(argv[1], &err) < 0)
		fprintf(stderr, "bench_http: %s\n", err.text);
	return 1;
}
