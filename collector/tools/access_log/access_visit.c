#include "collector/tools/access_log/access_visit.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "collector/tools/access_log/access_time.h"
#include "common/client_address.h"
#include "common/ip.h"

/*
 * Finds the client of a visit.
 *
 * Addresses are read in all forms that logs have: bare, with a port, in
 * brackets, in quotes, with a zone ("fe80::1%eth0"), mapped (::ffff:1.2.3.4),
 * and as the nodes of Forwarded (RFC 7239).  "-", "unknown", "_hidden" and
 * sockets ("unix:") are words for "none".
 *
 * In a header to which proxies append, the client is the first address that is
 * not private (10.0.0.1 is in a client's own network), otherwise the first
 * address.  If the proxies are known, the header is read as the redirector
 * reads it (common/client_address.h).
 */

/* --- one address ---------------------------------------------------------- */

static struct access_text trim_blanks(struct access_text t)
{
	while (t.len && isspace((unsigned char)*t.data)) {
		t.data++;
		t.len--;
	}
	while (t.len && isspace((unsigned char)t.data[t.len - 1]))
		t.len--;
	return t;
}

static struct access_text unquote_text(struct access_text t)
{
	t = trim_blanks(t);
	if (t.len >= 2 && *t.data == '"' && t.data[t.len - 1] == '"')
		t = (struct access_text){t.data + 1, t.len - 2};
	return trim_blanks(t);
}

/* Returns whether it is a word that logs and proxies write for a missing
 * address. */
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

/* The zone of a link-local address names an interface of the server and is
 * skipped. */
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

/* Returns whether an address is in a network that is not on the Internet: RFC
 * 1918, 6598, 3927, 4193, 4291. */
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

/* --- headers of proxies --------------------------------------------------- */

/* Removes the text before the next unquoted separator from a list. */
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

/* Returns the node of an element of Forwarded, which is a list of parameters;
 * an element of another header is a node itself. */
static struct access_text node_of(struct access_text element)
{
	struct access_text pair;

	if (!element.len || !memchr(element.data, '=', element.len))
		return unquote_text(element);
	while (element.len) {
		pair = trim_blanks(take_until(&element, ';'));
		if (is_parameter_for(pair))
			return unquote_text((struct access_text){pair.data + 4,
								 pair.len - 4});
	}
	return (struct access_text){0};
}

/* The result of searching a list. */
struct found_address {
	struct address address;
	/* The first that is neither an address nor "none". */
	struct access_text odd;
};

static void read_from_left(struct access_text list, struct found_address *ret)
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

/* If the connected peer is not known, the last entry of the list counts as the
 * peer: the proxy whose header is in the log added that entry. */
static void read_from_right(const struct network_list *proxies,
			    const struct address *peer, struct access_text list,
			    struct found_address *ret)
{
	const enum forwarded_style style =
		is_forwarded(list) ? FORWARDED_RFC7239 : FORWARDED_LIST;
	const struct http_slice value = {list.data, list.len};
	struct address at = peer->len ? *peer : last_of(list);

	ret->address = client_address(proxies, style, &at, &value, 1);
}

/* --- address of a line ---------------------------------------------------- */

static int refuse_address(struct access_text t, struct error *err)
{
	return error_set(err, ERROR_INPUT,
			 "not an address: '%.*s' (--force takes such a visit "
			 "as one without an address)",
			 (int)(t.len < 60 ? t.len : 60), t.data);
}

/* Some logs have X-Forwarded-For in place of the connected peer. */
static bool is_list(struct access_text t)
{
	return t.len && (memchr(t.data, ',', t.len) || is_forwarded(t));
}

static int read_peer(const struct access_text *t,
		     const struct access_rules *rules, struct address *ret,
		     struct error *err)
{
	struct access_text peer = unquote_text(t[ACCESS_ADDRESS]);

	if (is_list(peer) || is_none(peer) || read_one(peer, ret) ||
	    rules->any_address)
		return 0;
	return refuse_address(peer, err);
}

static int read_list(struct access_text list, const struct access_rules *rules,
		     const struct address *peer, bool must,
		     struct found_address *ret, struct error *err)
{
	if (rules->proxies)
		read_from_right(rules->proxies, peer, list, ret);
	else
		read_from_left(list, ret);
	if (must && !ret->address.len && ret->odd.len && !rules->any_address)
		return refuse_address(ret->odd, err);
	return 0;
}

/* A private address in a list is worse than a public connected peer: it is in a
 * network behind the peer. */
static bool is_better(const struct address *said, const struct address *peer,
		      const struct access_rules *rules)
{
	if (!said->len)
		return false;
	return !peer->len || rules->proxies || !is_private(said) ||
	       is_private(peer);
}

/* Any connected peer may write any header; client_address checks lists. */
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
	struct found_address found = {0}, client = {0};

	if (t[ACCESS_CLIENT].len && may_say(rules, peer))
		read_from_left(t[ACCESS_CLIENT], &client);
	if (!client.address.len && list.len &&
	    read_list(list, rules, peer, !peer->len, &found, err) < 0)
		return -1;
	if (!client.address.len && client.odd.len && !found.address.len &&
	    !peer->len && !rules->any_address)
		return refuse_address(client.odd, err);
	if (client.address.len)
		*peer = client.address;
	else if (is_better(&found.address, peer, rules))
		*peer = found.address;
	else if (client.odd.len || found.odd.len)
		*ret_odd = client.odd.len ? client.odd : found.odd;
	return 0;
}

/* Fills ip, ip_len and odd_client of *v.  ERROR_INPUT when the connected peer
 * is neither an address nor a word for "none". */
static int read_address(const struct access_fields *fields,
			const struct access_rules *rules,
			struct access_visit *v, struct error *err)
{
	const struct access_text *t = fields->texts;
	struct address client = {0};
	struct found_address found = {0};

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

/* --- rest of a line ------------------------------------------------------- */

/* Returns whether it is what servers write if a client left before the
 * answer. */
static bool is_no_status(struct access_text t)
{
	return access_text_is(t, "-") || access_text_is(t, "0") ||
	       access_text_is(t, "000") || access_text_is(t, "-1");
}

static int read_status(struct access_text t, struct access_visit *v,
		       struct error *err)
{
	unsigned status = 0;

	if (!t.len)
		return 0;
	v->unanswered = is_no_status(t);
	if (v->unanswered)
		return 0;
	for (size_t i = 0; i < t.len; i++)
		status = isdigit((unsigned char)t.data[i]) && t.len <= 3
				 ? status * 10 + (unsigned)(t.data[i] - '0')
				 : 1000;
	if (status > 999)
		return error_set(err, ERROR_INPUT, "not a status: '%.*s'",
				 (int)(t.len < 40 ? t.len : 40), t.data);
	v->status = status;
	return 0;
}

static struct access_text split_text_at(struct access_text t, char c,
					struct access_text *rest)
{
	const char *at = t.len ? memchr(t.data, c, t.len) : NULL;

	*rest = (struct access_text){0};
	if (!at)
		return t;
	*rest = (struct access_text){at + 1,
				     (size_t)(t.data + t.len - (at + 1))};
	t.len = (size_t)(at - t.data);
	return t;
}

/* Requests to proxies are "GET http://host/path", and some servers log them so.
 * *ret_host is the part before the path, or empty. */
static struct access_text without_origin(struct access_text uri,
					 struct access_text *ret_host)
{
	const char *at = uri.len ? memmem(uri.data, uri.len, "://", 3) : NULL;
	const char *end, *slash;

	*ret_host = (struct access_text){0};
	if (!at || uri.data[0] == '/')
		return uri;
	at += 3;
	end = uri.data + uri.len;
	slash = memchr(at, '/', (size_t)(end - at));
	*ret_host =
		(struct access_text){at, (size_t)((slash ? slash : end) - at)};
	if (!slash)
		return (struct access_text){"/", 1};
	return (struct access_text){slash, (size_t)(end - slash)};
}

/* Splits path and query; a path begins with a slash. */
static void read_uri(struct access_text uri, struct access_visit *v)
{
	struct access_text query, host;

	uri = without_origin(uri, &host);
	if (!uri.len || uri.data[0] != '/')
		return;
	v->path = split_text_at(uri, '?', &query);
	if (query.len)
		v->query = query;
	if (host.len)
		v->host = host;
}

static bool is_method(struct access_text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!isupper((unsigned char)t.data[i]) && t.data[i] != '-' &&
		    t.data[i] != '_')
			return false;
	return t.len > 0;
}

/* Reads "METHOD URI" or "METHOD URI PROTOCOL"; anything else is no request. */
static void read_request(struct access_text request, struct access_visit *v)
{
	struct access_text uri, protocol;
	struct access_text method = split_text_at(request, ' ', &uri);

	if (!is_method(method))
		return;
	v->method = method;
	/* A lenient server logs blanks in a URI unchanged. */
	for (size_t n = uri.len; n > 0; n--) {
		protocol = (struct access_text){uri.data + n, uri.len - n};
		if (uri.data[n - 1] != ' ')
			continue;
		if (protocol.len > 5 && !memcmp(protocol.data, "HTTP/", 5))
			uri.len = n - 1;
		break;
	}
	read_uri(uri, v);
}

/* A day and a time of day are one time; a complete time in the day's column
 * counts alone. */
static int read_time(const struct access_text *t, const char *pattern,
		     bool local, int64_t *ret_ms, struct error *err)
{
	struct access_text date = t[ACCESS_DATE], time = t[ACCESS_TIME];
	char both[2 * ACCESS_TIME_MAX];
	struct error ignored = {0};

	if (!time.len)
		time = date;
	if (!time.len)
		return error_set(err, ERROR_INPUT, "it has no time");
	if (!date.len || time.data == date.data ||
	    time.len + date.len + 1 > sizeof(both) ||
	    access_time_read(time.data, time.len, pattern, local, ret_ms,
			     &ignored) == 0)
		return access_time_read(time.data, time.len, pattern, local,
					ret_ms, err);
	memcpy(both, date.data, date.len);
	both[date.len] = ' ';
	memcpy(both + date.len + 1, time.data, time.len);
	return access_time_read(both, date.len + 1 + time.len, pattern, local,
				ret_ms, err);
}

static void read_query(struct access_text query, struct access_visit *v)
{
	if (query.len)
		v->query = query;
	if (v->query.len && v->query.data[0] == '?')
		v->query = (struct access_text){v->query.data + 1,
						v->query.len - 1};
}

int access_visit_read(const struct access_fields *fields, const char *pattern,
		      const struct access_rules *rules,
		      struct access_visit *ret_visit, struct error *err)
{
	const struct access_text *t = fields->texts;
	struct access_visit v = {0};

	if (read_time(t, pattern, rules->local_times, &v.time_ms, err) < 0 ||
	    read_status(t[ACCESS_STATUS], &v, err) < 0 ||
	    read_address(fields, rules, &v, err) < 0)
		return -1;
	read_request(t[ACCESS_REQUEST], &v);
	if (t[ACCESS_METHOD].len)
		v.method = t[ACCESS_METHOD];
	if (t[ACCESS_URI].len)
		read_uri(t[ACCESS_URI], &v);
	read_query(t[ACCESS_QUERY], &v);
	v.referrer = t[ACCESS_REFERRER];
	v.user_agent = t[ACCESS_USER_AGENT];
	v.language = t[ACCESS_LANGUAGE];
	if (t[ACCESS_HOST].len)
		v.host = t[ACCESS_HOST];
	v.purpose = t[ACCESS_PURPOSE];
	*ret_visit = v;
	return 0;
}
