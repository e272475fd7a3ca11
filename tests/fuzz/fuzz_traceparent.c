/*
 * Any bytes as a traceparent, and as the values of recorded cookies: a trace-id
 * is read at its place, and is the same when written; what is encoded can be
 * decoded as a click with as many cookies, each a text within its limit.
 */
#include <assert.h>
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "redirector/events/click_event.h"
#include "redirector/visit/trace_context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define COOKIE_MAX 8

static bool read_trace(struct http_slice value, uint8_t id[TRACE_ID_SIZE])
{
	char hex[2 * TRACE_ID_SIZE + 1];

	if (!traceparent_read(value, id))
		return false;
	assert(value.len == 55 && !memcmp(value.data, "00-", 3));
	sodium_bin2hex(hex, sizeof(hex), id, TRACE_ID_SIZE);
	assert(!memcmp(value.data + 3, hex, 2 * TRACE_ID_SIZE));
	assert(!sodium_is_zero(id, TRACE_ID_SIZE));
	return true;
}

static void check_click(const Shortloop__Click *msg, const struct click *click)
{
	assert(msg && msg->n_cookies == click->cookie_count);
	assert(msg->trace_id.len == click->trace_id.len);
	for (size_t i = 0; i < msg->n_cookies; i++) {
		const char *value = msg->cookies[i]->value;

		assert(!strcmp(msg->cookies[i]->key, click->cookies[i].name));
		assert(strlen(value) <= COOKIE_MAX);
		for (const char *c = value; *c; c++)
			assert(*c >= 0x20 && *c <= 0x7e);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct click_limits limits = {.cookie = COOKIE_MAX};
	struct http_slice all = {(const char *)data, size};
	struct click_cookie cookies[CLICK_COOKIES_MAX];
	struct click click = {.cookies = cookies};
	uint8_t id[TRACE_ID_SIZE];
	struct error err;
	struct click_encoder *e = click_encoder_new("fuzz", &limits, &err);
	struct http_slice event;
	Shortloop__Click *msg;

	assert(e);
	if (read_trace(all, id))
		click.trace_id =
			(struct http_slice){(const char *)id, sizeof(id)};
	for (size_t i = 0; i < CLICK_COOKIES_MAX && i < size; i++)
		cookies[click.cookie_count++] =
			(struct click_cookie){"name", {all.data + i, size - i}};
	event = click_encode(e, &click);
	msg = shortloop__click__unpack(NULL, event.len,
				       (const uint8_t *)event.data);
	check_click(msg, &click);
	shortloop__click__free_unpacked(msg, NULL);
	click_encoder_free(e);
	return 0;
}
