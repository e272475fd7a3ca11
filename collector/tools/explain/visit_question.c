#include "collector/tools/explain/visit_question.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "common/drop_const.h"
#include "common/host.h"
#include "common/ip.h"

/* The values of the headers; the first of several with the same name counts. */
struct headers {
	const json_t *user_agent, *referrer, *language, *host;
	/* Headers that announce a prefetch or preview, in their order of
	 * precedence. */
	const json_t *purpose[4];
};

static const char *const purpose_names[] = {"Sec-Purpose", "Purpose",
					    "X-Purpose", "X-Moz"};

static int take_header(struct headers *h, const char *name, const json_t *value)
{
	const struct {
		const char *name;
		const json_t **target;
	} known[] = {
		{"User-Agent", &h->user_agent},
		{"Referer", &h->referrer},
		{"Accept-Language", &h->language},
		{"Host", &h->host},
		{purpose_names[0], &h->purpose[0]},
		{purpose_names[1], &h->purpose[1]},
		{purpose_names[2], &h->purpose[2]},
		{purpose_names[3], &h->purpose[3]},
	};

	if (json_is_array(value))
		value = json_array_get(value, 0);
	if (!value || json_is_null(value))
		return 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcasecmp(known[i].name, name) != 0)
			continue;
		if (!json_is_string(value))
			return -1;
		if (!*known[i].target)
			*known[i].target = value;
	}
	return 0;
}

static int read_headers(const json_t *line, struct headers *h,
			struct error *err)
{
	const json_t *all = json_object_get(line, "headers");
	const char *name;
	json_t *value;

	*h = (struct headers){0};
	if (!all || json_is_null(all))
		return 0;
	if (!json_is_object(all))
		return error_set(err, ERROR_INPUT,
				 "headers: expected an object");
	/* The cast is needed: jansson's iterators do not accept const. */
	json_object_foreach((json_t *)drop_const(all), name, value)
	{
		if (take_header(h, name, value) < 0)
			return error_set(err, ERROR_INPUT,
					 "headers: %s: expected a text", name);
	}
	return 0;
}

/* Reads a member that is a text, or its replacement. */
static int read_text(const json_t *line, const char *key, const json_t *instead,
		     const json_t **ret_text, struct error *err)
{
	const json_t *value = json_object_get(line, key);

	if (!value || json_is_null(value))
		value = instead;
	if (value && !json_is_string(value))
		return error_set(err, ERROR_INPUT, "%s: expected a text", key);
	*ret_text = value;
	return 0;
}

static ProtobufCBinaryData bytes_of(const json_t *text)
{
	return (ProtobufCBinaryData){json_string_length(text),
				     drop_const(json_string_value(text))};
}

static void read_address(struct visit_question *q, const json_t *text)
{
	const char *address = text ? json_string_value(text) : "";
	ProtobufCBinaryData *ip = &q->click.client_ip;

	if (!*address)
		return;
	ip->data = q->ip;
	/* The text must not contain a NUL. */
	if (strlen(address) == json_string_length(text))
		ip->len = ip_parse(address, q->ip);
	if (!ip->len)
		error_set(&q->bad_ip, ERROR_INPUT, "ip: not an address: %.64s",
			  address);
}

static void read_domain(struct visit_question *q, const json_t *host)
{
	const char *text = host ? json_string_value(host) : "";
	size_t len = host_length(text, strlen(text));

	q->click.domain = q->domain;
	if (len >= sizeof(q->domain))
		len = 0;
	for (size_t i = 0; i < len; i++)
		q->domain[i] = (char)tolower((unsigned char)text[i]);
	q->domain[len] = '\0';
}

static void read_purpose(struct visit_question *q, const struct headers *h)
{
	for (size_t i = 0; i < sizeof(h->purpose) / sizeof(*h->purpose); i++) {
		if (h->purpose[i] && json_string_length(h->purpose[i])) {
			q->click.prefetch =
				drop_const(json_string_value(h->purpose[i]));
			return;
		}
	}
}

static int read_object(struct visit_question *q, struct error *err)
{
	const json_t *ip = NULL, *ua = NULL, *referrer = NULL, *owner = NULL,
		     *account = NULL, *method = NULL;
	struct headers h;

	if (!json_is_object(q->line))
		return error_set(err, ERROR_INPUT, "expected a JSON object");
	if (read_headers(q->line, &h, err) < 0 ||
	    read_text(q->line, "ip", NULL, &ip, err) < 0 ||
	    read_text(q->line, "ua", h.user_agent, &ua, err) < 0 ||
	    read_text(q->line, "referrer", h.referrer, &referrer, err) < 0 ||
	    read_text(q->line, "account", NULL, &account, err) < 0 ||
	    read_text(q->line, "owner", NULL, &owner, err) < 0 ||
	    read_text(q->line, "method", NULL, &method, err) < 0)
		return -1;
	read_address(q, ip);
	read_domain(q, h.host);
	read_purpose(q, &h);
	if (ua)
		q->click.user_agent = bytes_of(ua);
	if (referrer)
		q->click.referrer = bytes_of(referrer);
	if (account)
		q->click.account = drop_const(json_string_value(account));
	if (owner)
		q->click.owner = drop_const(json_string_value(owner));
	if (method && !strcmp(json_string_value(method), "HEAD"))
		q->click.outcome = SHORTLOOP__OUTCOME__OUTCOME_HEAD;
	if (h.language)
		q->click.accept_language = bytes_of(h.language);
	return 0;
}

int visit_question_read(struct visit_question *q, const char *text, size_t len,
			struct error *err)
{
	json_error_t at;

	memset(q, 0, sizeof(*q));
	shortloop__click__init(&q->click);
	q->line = json_loadb(text, len, JSON_ALLOW_NUL, &at);
	if (!q->line)
		return error_set(err, ERROR_INPUT, "not JSON: %s (column %d)",
				 at.text, at.column);
	if (read_object(q, err) == 0)
		return 0;
	visit_question_release(q);
	return -1;
}

void visit_question_release(struct visit_question *q)
{
	json_decref(q->line);
	q->line = NULL;
}
