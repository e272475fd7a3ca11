/*
 * Any bytes as path, proxy header, host and text of a visit: no crash, and what
 * is encoded can always be decoded.  The input is split at its NUL bytes.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "codespace/path_code.h"
#include "common/client_address.h"
#include "linkstore/domains.h"
#include "linkstore/visit/visit_device.h"
#include "redirector/events/click_event.h"
#include "redirector/visit/request_info.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct http_slice take_part(const uint8_t **data, size_t *size)
{
	const uint8_t *end = *size ? memchr(*data, 0, *size) : NULL;
	struct http_slice part = {(const char *)*data, *size};

	if (end)
		part.len = (size_t)(end - *data);
	*data += part.len + (end ? 1 : 0);
	*size -= part.len + (end ? 1 : 0);
	return part;
}

static struct address find_client(struct http_slice a, struct http_slice b)
{
	char network[] = "0.0.0.0/1";
	char *items[] = {network};
	struct setting_strings networks = {items, 1};
	struct http_slice values[] = {a, b};
	struct address peer = {4, {127, 0, 0, 1}};
	struct error err;
	struct network_list *list =
		network_list_new(&networks, "redirector.trusted_proxies", &err);

	if (!list)
		abort();
	client_address(list, FORWARDED_RFC7239, &peer, values, 2);
	client_address(list, FORWARDED_ADDRESS, &peer, values, 1);
	peer = client_address(list, FORWARDED_LIST, &peer, values, 2);
	network_list_free(list);
	return peer;
}

static void find_place(struct http_slice text)
{
	static char name[] = "main", scheme[] = "https", ours[] = "sho.rt",
		    *hosts[] = {ours};
	static struct domain_config domain = {
		.name = name, .hosts = {hosts, 1}, .scheme = scheme};
	static const struct domains_config config = {.list = {&domain, 1}};
	static struct domains *domains;
	const struct link_domain *found;
	struct error err;

	if (!domains)
		domains = domains_open(&config, NULL, NULL, &err);
	if (!domains)
		abort();
	found = domains_by_host(domains, text.data, text.len);
	if (found && (text.len < 6 || strncasecmp(text.data, ours, 6) != 0))
		abort();
}

static bool has_word(struct http_slice text, const char *word)
{
	return text.len && memmem(text.data, text.len, word, strlen(word));
}

/* fuzz_device.c tests the rest for any text. */
static void check_device(struct http_slice text)
{
	struct device device = device_of(text);
	bool wechat = device.in_app == IN_APP_WECHAT ||
		      device.in_app == IN_APP_MINI_PROGRAM;

	if (wechat != has_word(text, "MicroMessenger") ||
	    !*in_app_name(device.in_app))
		abort();
}

/* An exact code is the same in a text; a code in a text has only valid
 * characters, and may have others around it that are ignored. */
static void check_code(struct http_slice path)
{
	struct http_slice code = request_info_code(path);
	struct path_text_code text, strict;
	bool found = path_code_in_text(path, true, &text);

	if (code.data && (!found || text.trimmed || text.code.len != code.len ||
			  memcmp(text.code.data, code.data, code.len) != 0))
		abort();
	if (path_code_in_text(path, false, &strict) != (found && !text.trimmed))
		abort();
	for (size_t i = 0; found && i < text.code.len; i++)
		if (!alias_has_symbol(text.code.data[i]))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct click_limits limits = {8, 8, 8, 8, 8};
	struct http_slice path = take_part(&data, &size);
	struct http_slice first = take_part(&data, &size);
	struct http_slice second = take_part(&data, &size);
	struct http_slice host = take_part(&data, &size);
	struct http_slice text = take_part(&data, &size);
	struct click_cookie cookie = {"session", second};
	struct click click = {.host = host,
			      .user_agent = text,
			      .referrer = path,
			      .query = first,
			      .prefetch = text,
			      .cookies = &cookie,
			      .cookie_count = 1};
	struct buf part = {0};
	struct error err;
	struct click_encoder *e = click_encoder_new("fuzz", &limits, &err);
	struct http_slice event;
	Shortloop__Click *msg;

	if (!e)
		abort();
	check_code(path);
	check_device(text);
	find_place(host);
	click.client = find_client(first, second);
	click_link_part(&part,
			&(struct click_link){.code = text, .link_id = 1});
	click.link_part = (struct http_slice){part.data, part.len};
	event = click_encode(e, &click);
	msg = shortloop__click__unpack(NULL, event.len,
				       (const uint8_t *)event.data);
	if (!msg || msg->user_agent.len > limits.user_agent)
		abort();
	for (size_t i = 0; i < msg->n_cookies; i++)
		if (strlen(msg->cookies[i]->value) > limits.cookie)
			abort();
	shortloop__click__free_unpacked(msg, NULL);
	buf_free(&part);
	click_encoder_free(e);
	return 0;
}
