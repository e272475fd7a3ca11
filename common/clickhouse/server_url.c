#include "common/clickhouse/server_url.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/secret.h"

static int refuse_server_url(const char *why, struct error *err)
{
	return error_set(err, ERROR_CONFIG, "clickhouse.url: %s", why);
}

/* Returns NULL if the URL has no such part, or cannot be read.  The caller
 * frees it. */
static char *part_of(CURLU *url, CURLUPart part, unsigned flags)
{
	char *text = NULL, *copy;

	if (curl_url_get(url, part, &text, flags) != CURLUE_OK)
		return NULL;
	copy = strdup(text);
	curl_free(text);
	return copy;
}

static bool url_has_part(CURLU *url, CURLUPart part)
{
	char *text = part_of(url, part, 0);
	bool found = text != NULL;

	secret_free(text);
	return found;
}

static int check_server_url(CURLU *url, struct error *err)
{
	char *scheme = part_of(url, CURLUPART_SCHEME, 0);
	bool spoken =
		scheme && (!strcmp(scheme, "http") || !strcmp(scheme, "https"));

	free(scheme);
	if (!spoken)
		return refuse_server_url("expected http:// or https://", err);
	if (url_has_part(url, CURLUPART_QUERY) ||
	    url_has_part(url, CURLUPART_FRAGMENT))
		return refuse_server_url(
			"expected a URL that ends with the host, the "
			"port or a path: user and password are "
			"clickhouse.username and clickhouse.password",
			err);
	return 0;
}

static int copy_of(const char *text, char **ret_copy, struct error *err)
{
	*ret_copy = text ? strdup(text) : NULL;
	return text && !*ret_copy ? error_set_nomem(err) : 0;
}

/* Moves user and password out of the URL. */
static int take_login(CURLU *url, const struct clickhouse_config *config,
		      struct server_url *ret, struct error *err)
{
	if (!url_has_part(url, CURLUPART_USER) &&
	    !url_has_part(url, CURLUPART_PASSWORD)) {
		if (copy_of(config->username, &ret->username, err) < 0)
			return -1;
		return copy_of(config->password, &ret->password, err);
	}
	if (config->username || config->password)
		return refuse_server_url(
			"it has a user or a password, and so have "
			"clickhouse.username or clickhouse.password",
			err);
	ret->username = part_of(url, CURLUPART_USER, CURLU_URLDECODE);
	ret->password = part_of(url, CURLUPART_PASSWORD, CURLU_URLDECODE);
	if ((url_has_part(url, CURLUPART_USER) && !ret->username) ||
	    (url_has_part(url, CURLUPART_PASSWORD) && !ret->password))
		return refuse_server_url(
			"its user or its password has a control "
			"character",
			err);
	curl_url_set(url, CURLUPART_USER, NULL, 0);
	curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
	return 0;
}

static int read_parts(CURLU *url, const struct clickhouse_config *config,
		      struct server_url *ret, struct error *err)
{
	size_t len;

	if (curl_url_set(url, CURLUPART_URL, config->url,
			 CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
		return refuse_server_url(
			"expected http://host:port or https://host:port; "
			"an '@' in a password is written %40, a '/' %2F",
			err);
	if (check_server_url(url, err) < 0 ||
	    take_login(url, config, ret, err) < 0)
		return -1;
	ret->base = part_of(url, CURLUPART_URL, 0);
	if (!ret->base)
		return error_set_nomem(err);
	len = strlen(ret->base);
	while (len && ret->base[len - 1] == '/')
		ret->base[--len] = '\0';
	return 0;
}

int server_url_read(const struct clickhouse_config *config,
		    struct server_url *ret_url, struct error *err)
{
	struct server_url parts = {0};
	CURLU *url = curl_url();
	int status = url ? read_parts(url, config, &parts, err)
			 : error_set_nomem(err);

	curl_url_cleanup(url);
	if (status == 0)
		*ret_url = parts;
	else
		server_url_release(&parts);
	return status;
}

void server_url_release(struct server_url *url)
{
	free(url->base);
	free(url->username);
	secret_free(url->password);
	*url = (struct server_url){0};
}
