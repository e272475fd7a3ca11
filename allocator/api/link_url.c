#include "allocator/api/link_url.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static int check_bytes(const char *url, size_t len, struct error *err)
{
	if (len == 0)
		return error_set(err, ERROR_INPUT, "url: is empty");
	if (len > LINK_URL_MAX)
		return error_set(err, ERROR_INPUT,
				 "url: has %zu bytes, at most %d are allowed",
				 len, LINK_URL_MAX);
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)url[i] <= ' ' || url[i] == 0x7f)
			return error_set(err, ERROR_INPUT,
					 "url: has a blank or a control "
					 "character at byte %zu: write it as "
					 "%%%02X",
					 i + 1, (unsigned)url[i]);
	}
	return 0;
}

/* libcurl takes one to three slashes; what browsers make of those is not worth
 * finding out. */
static bool has_two_slashes(const char *url)
{
	const char *colon = strchr(url, ':');

	return colon && !strncmp(colon, "://", 3) && colon[3] != '/';
}

static int check_scheme(CURLU *handle, struct error *err)
{
	char *scheme = NULL;
	int status = 0;

	if (curl_url_get(handle, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
	    (strcasecmp(scheme, "http") != 0 &&
	     strcasecmp(scheme, "https") != 0))
		status = error_set(err, ERROR_INPUT,
				   "url: must begin with http:// or https://");
	curl_free(scheme);
	return status;
}

int link_url_check(const char *url, size_t len, struct error *err)
{
	CURLU *handle;
	CURLUcode code;
	int status;

	if (check_bytes(url, len, err) < 0)
		return -1;
	handle = curl_url();
	if (!handle)
		return error_set_nomem(err);
	code = curl_url_set(handle, CURLUPART_URL, url,
			    CURLU_NON_SUPPORT_SCHEME);
	if (code == CURLUE_OK && !has_two_slashes(url))
		status = error_set(err, ERROR_INPUT,
				   "url: must begin with http:// or https:// "
				   "and a host");
	else if (code == CURLUE_OK)
		status = check_scheme(handle, err);
	else
		status = error_set(err, ERROR_INPUT,
				   "url: is not an absolute URL: %s",
				   curl_url_strerror(code));
	curl_url_cleanup(handle);
	return status;
}
