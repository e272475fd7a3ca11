/* server_url.h - splits clickhouse.url, so that user and password are sent in
 * headers only, and appear in no message of libcurl's. */
#ifndef COMMON_CLICKHOUSE_SERVER_URL_H
#define COMMON_CLICKHOUSE_SERVER_URL_H

#include "common/clickhouse/clickhouse.h"

struct server_url {
	char *base;	/* without user, password and trailing slash */
	char *username; /* from the URL, else from the settings; or NULL */
	char *password; /* from the URL, else from the settings; or NULL */
};

/* ERROR_CONFIG names the setting and does not show the URL. */
int server_url_read(const struct clickhouse_config *config,
		    struct server_url *ret_url, struct error *err);

/* Overwrites the password before freeing it. */
void server_url_release(struct server_url *url);

#endif
