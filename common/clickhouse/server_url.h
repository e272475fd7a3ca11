/* server_url.h - clickhouse.url taken apart, so that whoever is to log in goes
 * out in headers alone, and into no message of libcurl's. */
#ifndef COMMON_CLICKHOUSE_SERVER_URL_H
#define COMMON_CLICKHOUSE_SERVER_URL_H

#include "common/clickhouse/clickhouse.h"

struct server_url {
	char *base;	/* without user, password and a slash at the end */
	char *username; /* of the URL, else of the settings; or NULL */
	char *password; /* the same */
};

/* ERROR_CONFIG, which names the setting and does not show the URL. */
int server_url_read(const struct clickhouse_config *config,
		    struct server_url *ret_url, struct error *err);

/* Overwrites the password first. */
void server_url_release(struct server_url *url);

#endif
