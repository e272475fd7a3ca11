/* Any bytes as the URL of a link: refused with a reason, or stored in a form
 * that is accepted again, unchanged, and in which libcurl finds the same host.
 */
#include <assert.h>
#include <curl/curl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "allocator/policy/url_policy.h"
#include "common/url_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct url_policy *some_policy(void)
{
	static char allow[] = "allow", app[] = "myapp", *apps[] = {app};
	static char host[] = "sho.rt", *hosts[] = {host}, name[] = "main",
		    https[] = "https";
	static struct domain_config domain = {
		.name = name, .hosts = {hosts, 1}, .scheme = https};
	static const struct domains_config domains = {.list = {&domain, 1}};
	static const struct url_policy_config config = {
		.schemes = {apps, 1}, .credentials = true, .ip_hosts = allow};
	static struct url_policy *policy;
	struct error err = {0};
	struct domains *made;

	if (policy)
		return policy;
	made = domains_open(&domains, NULL, NULL, &err);
	if (made)
		policy = url_policy_new(&config, made, "http://localhost:1",
					&err);
	if (!policy)
		abort();
	return policy;
}

static void compare_with_curl(const char *url, const struct host *host)
{
	CURLU *handle = curl_url();
	char *seen = NULL;

	if (handle &&
	    curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    curl_url_get(handle, CURLUPART_HOST, &seen, 0) == CURLUE_OK)
		assert(!strcasecmp(seen, host->text));
	curl_free(seen);
	curl_url_cleanup(handle);
}

static void look_at(struct url_policy *policy, const struct buf *url)
{
	struct error err = {0};
	struct url_parts parts;
	struct buf again = {0};

	assert(url->len > 0 && url->len <= LINK_URL_MAX);
	assert(strlen(url->data) == url->len);
	for (size_t i = 0; i < url->len; i++)
		assert((unsigned char)url->data[i] > ' ');
	assert(url_policy_check(policy, url->data, url->len, &again, &err) ==
	       0);
	assert(again.len == url->len &&
	       !memcmp(again.data, url->data, url->len));
	buf_free(&again);
	assert(url_parts_read(&parts, url->data, url->len, &err) == 0);
	if (!parts.is_web)
		return;
	assert(strcmp(parts.host.text, "sho.rt") != 0);
	assert(strcmp(parts.host.text, "localhost") != 0);
	compare_with_curl(url->data, &parts.host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct url_policy *policy = some_policy();
	struct error err = {0};
	struct buf url = {0};

	if (url_policy_check(policy, (const char *)data, size, &url, &err) == 0)
		look_at(policy, &url);
	else
		assert(err.code == ERROR_INPUT && err.text[0] && !url.data);
	buf_free(&url);
	return 0;
}
