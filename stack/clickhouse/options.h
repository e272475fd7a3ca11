/* options.h - the command line of clickhouse-embedded. */
#ifndef STACK_CLICKHOUSE_OPTIONS_H
#define STACK_CLICKHOUSE_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

struct options {
	const char *listen;	   /* "host:port" */
	const char *path;	   /* path of the data */
	const char *library;	   /* libchdb.so */
	const char *user;	   /* the only user */
	const char *password_file; /* NULL: no password */
	const char *log_format;	   /* logfmt | json */
	const char *compile;	   /* yes | no */
	int64_t threads;	   /* queries at once */
	int64_t queue;		   /* queries waiting */
	int64_t max_body;	   /* bytes of a request */
	int64_t max_result;	   /* bytes of an answer, 0: any */
	int64_t max_sessions;
	int64_t max_connections;
};

enum options_action {
	OPTIONS_RUN,
	OPTIONS_HELP,
	OPTIONS_VERSION,
};

/* Strings point into argv.  ERROR_USAGE if the command line is invalid. */
int options_parse(struct options *o, int argc, char **argv,
		  enum options_action *ret_action, struct error *err);
void options_print_help(FILE *out);

#endif
