/* users.h - authenticates a request.  Pure. */
#ifndef STACK_CLICKHOUSE_USERS_H
#define STACK_CLICKHOUSE_USERS_H

#include "common/error.h"
#include "common/http/http_server.h"

/* The only user; an empty password means that none is required. */
struct users {
	const char *name;
	char *password; /* owned */
};

/* Reads the first line of `password_file`, unless that is NULL. */
int users_init(struct users *u, const char *name, const char *password_file,
	       struct error *err);
void users_release(struct users *u);

/*
 * Takes X-ClickHouse-User and -Key, else basic authentication, else user= and
 * password= of the URL, else the user `default` without a password.  A failure
 * is ClickHouse's AUTHENTICATION_FAILED.
 */
int users_check(const struct users *u, const struct http_request *req,
		struct error *err);

#endif
