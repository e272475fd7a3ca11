#include "collector/tools/access_log/access_client.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "common/client_address.h"
#include "common/ip.h"

/* --- one address ---------------------------------------------------------- */

static struct access_text trim(struct access_text t)
{
	while (t.len && isspace((unsigned char)*t.data)) {
		t.data++;
		t.len--;
	}
	while (t.len && isspace((unsigned char)t.data[t.len - 1]))
		t.len--;
	return t;
}

static struct access_text unquote(struct access_text t)
{
	t = trim(t);
	if (t.len >= 2 && *t.data == '"' && t.data[t.len - 1] == '"')
		t = (struct access_text){t.data + 1, t.len - 2};
	return trim(t);
}

/* Is it what logs and proxies write where there is no address? */
static bool is_none(struct access_text t)
{
	static const char *const words[] = {"-", "unknown", "@", "unix", NULL};

	for (size_t i = 0; words[i]; i++)
		if (t.len == strlen(words[i]) &&
		    !strncasecmp(t.data, words[i], t.len))
			return true;
	return !t.len || *t.data == '_' ||
	       (t.len >= 5 && !strncasecmp(t.data, "unix:", 5));
}

/* The zone of a link-local address says which interface of the server. */
static bool read_one(struct access_text t, struct address *ret)
{
	char text[128];
	size_t n = 0, i = 0;

	if (t.len >= sizeof(text))
		return false;
	for (; i < t.len; i++) {
		if (t.data[i] == '%' && memchr(t.data, ':', i))
			while (i < t.len && t.data[i] != ']')
				i++;
		if (i < t.len)
			text[n++] = t.data[i];
	}
	return address_parse((struct http_slice){text, n}, ret);
}

/* Of networks that are nobody's on the Internet: RFC 1918, 6598, 3927, 4193,
 * 4291. */
static bool is_private(const struct address *a)
{
	const uint8_t *b = a->bytes;
	static const uint8_t loopback[16] = {[15] = 1};

	if (a->len == 16)
		return (b[0] & 0xfe) == 0xfc ||
		       (b[0] == 0xfe && (b[1] & 0xc0) == 0x80) ||
		       !memcmp(b, loopback, sizeof(loopback));
	return b[0] == 10 || b[0] == 127 || b[0] == 0 ||
	       (b[0] == 172 && (b[1] & 0xf0) == 16) ||
	       (b[0] == 192 && b[1] == 168) || (b[0] == 169 && b[1] == 254) ||
	       (b[0] == 100 && (b[1] & 0xc0) == 64);
}

/* --- what proxies say ----------------------------------------------------- */

/* Takes off a list what stands before the next separator that is not quoted. */
static struct access_text take_until(struct access_text *list, char separator)
{
	struct access_text first = *list;
	bool quoted = false;

	for (size_t i = 0; i < list->len; i++) {
		if (list->data[i] == '"')
			quoted = !quoted;
		if (list->data[i] != separator || quoted)
			continue;
		first.len = i;
		list->data += i + 1;
		list->len -= i + 1;
		return first;
	}
	*list = (struct access_text){0};
	return first;
}

static bool is_parameter_for(struct access_text pair)
{
	return pair.len > 4 && !strncasecmp(pair.data, "for=", 4);
}

/* The node of an element of Forwarded, which is a list of parameters; an
 * element of another header is one itself. */
static struct access_text node_of(struct access_text element)
{
	struct access_text pair;

	if (!element.len || !memchr(element.data, '=', element.len))
		return unquote(element);
	while (element.len) {
		pair = trim(take_until(&element, ';'));
		if (is_parameter_for(pair))
			return unquote((struct access_text){pair.data + 4,
							    pair.len - 4});
	}
	return (struct access_text){0};
}

/* What was found in a list. */
struct found {
	struct address address;
	struct access_text odd; /* the first that is neither address nor none */
};

static void read_from_left(struct access_text list, struct found *ret)
{
	struct address a;

	while (list.len) {
		struct access_text node = node_of(take_until(&list, ','));

		if (read_one(node, &a)) {
			if (!ret->address.len || !is_private(&a))
				ret->address = a;
			if (!is_private(&a))
				return;
		} else if (!is_none(node) && !ret->odd.len) {
			ret->odd = node;
		}
	}
}

static bool is_forwarded(struct access_text list)
{
	for (size_t i = 0; i + 4 < list.len; i++)
		if (!strncasecmp(list.data + i, "for=", 4))
			return true;
	return false;
}

static struct address last_of(struct access_text list)
{
	struct address a = {0};

	while (list.len) {
		struct access_text node = node_of(take_until(&list, ','));

		if (!read_one(node, &a))
			a.len = 0;
	}
	return a;
}

/* Nobody is known to have been connected: the last of the list is who was
 * connected to the proxy whose word the log has. */
static void read_from_right(const struct network_list *proxies,
			    const struct address *peer, struct access_text list,
			    struct found *ret)
{
	const enum forwarded_style style =
		is_forwarded(list) ? FORWARDED_RFC7239 : FORWARDED_LIST;
	const struct http_slice value = {list.data, list.len};
	struct address at = peer->len ? *peer : last_of(list);

	ret->address = client_address(proxies, style, &at, &value, 1);
}

/* --- all of a line -------------------------------------------------------- */

static int refuse(struct access_text t, struct error *err)
{
	return error_set(err, ERROR_INPUT,
			 "not an address: '%.*s' (--force takes such a visit "
			 "as one without an address)",
			 (int)(t.len < 60 ? t.len : 60), t.data);
}

/* Some logs have X-Forwarded-For where others have who was connected. */
static bool is_list(struct access_text t)
{
	return t.len && (memchr(t.data, ',', t.len) || is_forwarded(t));
}

static int read_peer(const struct access_text *t,
		     const struct access_rules *rules, struct address *ret,
		     struct error *err)
{
	struct access_text peer = unquote(t[ACCESS_ADDRESS]);

	if (is_list(peer) || is_none(peer) || read_one(peer, ret) ||
	    rules->any_address)
		return 0;
	return refuse(peer, err);
}

static int read_list(struct access_text list, const struct access_rules *rules,
		     const struct address *peer, bool must, struct found *ret,
		     struct error *err)
{
	if (rules->proxies)
		read_from_right(rules->proxies, peer, list, ret);
	else
		read_from_left(list, ret);
	if (must && !ret->address.len && ret->odd.len && !rules->any_address)
		return refuse(ret->odd, err);
	return 0;
}

/* A private address of a list tells less than a public one that was connected:
 * it is of a network behind that. */
static bool is_better(const struct address *said, const struct address *peer,
		      const struct access_rules *rules)
{
	if (!said->len)
		return false;
	return !peer->len || rules->proxies || !is_private(said) ||
	       is_private(peer);
}

/* Whoever is connected may write any header; of a list client_address judges.
 */
static bool may_say(const struct access_rules *rules,
		    const struct address *peer)
{
	return !rules->proxies || !peer->len ||
	       network_list_has(rules->proxies, peer);
}

static int read_client(const struct access_text *t,
		       const struct access_rules *rules, struct address *peer,
		       struct access_text *ret_odd, struct error *err)
{
	struct access_text list = t[ACCESS_FORWARDED];
	struct found found = {0}, client = {0};

	if (t[ACCESS_CLIENT].len && may_say(rules, peer))
		read_from_left(t[ACCESS_CLIENT], &client);
	if (!client.address.len && list.len &&
	    read_list(list, rules, peer, !peer->len, &found, err) < 0)
		return -1;
	if (!client.address.len && client.odd.len && !found.address.len &&
	    !peer->len && !rules->any_address)
		return refuse(client.odd, err);
	if (client.address.len)
		*peer = client.address;
	else if (is_better(&found.address, peer, rules))
		*peer = found.address;
	else if (client.odd.len || found.odd.len)
		*ret_odd = client.odd.len ? client.odd : found.odd;
	return 0;
}

int access_client_read(const struct access_fields *fields,
		       const struct access_rules *rules, struct access_visit *v,
		       struct error *err)
{
	const struct access_text *t = fields->texts;
	struct address client = {0};
	struct found found = {0};

	if (read_peer(t, rules, &client, err) < 0)
		return -1;
	if (is_list(t[ACCESS_ADDRESS])) {
		if (read_list(t[ACCESS_ADDRESS], rules, &client, true, &found,
			      err) < 0)
			return -1;
		client = found.address;
	}
	if (!rules->peer_only &&
	    read_client(t, rules, &client, &v->odd_client, err) < 0)
		return -1;
	v->ip_len = client.len;
	memcpy(v->ip, client.bytes, client.len);
	return 0;
}
