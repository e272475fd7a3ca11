#include "common/redis/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A password may precede an '@', which no address contains: the text is not
 * shown. */
static int bad_address(const char *text, struct error *err)
{
	if (strchr(text, '@'))
		return error_set(err, ERROR_CONFIG,
				 "redis: an address is host:port, [v6 "
				 "address]:port or unix:/path: user and "
				 "password are redis.username and "
				 "redis.password");
	return error_set(err, ERROR_CONFIG,
			 "redis: the address '%.100s': expected host:port, "
			 "[v6 address]:port or unix:/path",
			 text);
}

static bool parse_port(const char *text, int *ret_port)
{
	char *end;
	long port = strtol(text, &end, 10);

	if (end == text || *end || port < 1 || port > 65535)
		return false;
	*ret_port = (int)port;
	return true;
}

int redis_address_parse(const char *text, struct redis_address *ret_address,
			struct error *err)
{
	struct redis_address address = {.port = 0};
	const char *host = text, *end;
	size_t len;

	if (!strncmp(text, "unix:", 5)) {
		host = text + 5;
		end = host + strlen(host);
	} else {
		end = strrchr(text, ':');
		if (!end || !parse_port(end + 1, &address.port))
			return bad_address(text, err);
		if (host[0] == '[' && end[-1] == ']') {
			host++;
			end--;
		}
	}
	len = (size_t)(end - host);
	if (len == 0 || len >= sizeof(address.host) ||
	    (address.port && strcspn(host, " @/") < len))
		return bad_address(text, err);
	memcpy(address.host, host, len);
	address.host[len] = '\0';
	snprintf(address.text, sizeof(address.text), "%s", text);
	*ret_address = address;
	return 0;
}

/* "<sign><number>\r\n" */
static void put_header(struct buf *out, char sign, size_t number)
{
	char text[24], *p = text + sizeof(text);

	*--p = '\n';
	*--p = '\r';
	do {
		*--p = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	*--p = sign;
	buf_append(out, p, (size_t)(text + sizeof(text) - p));
}

void redis_wire_begin(struct buf *out, size_t argc)
{
	put_header(out, '*', argc);
}

void redis_wire_argument(struct buf *out, const char *data, size_t len)
{
	put_header(out, '$', len);
	buf_append(out, data, len);
	buf_append(out, "\r\n", 2);
}

static void put_arguments(struct buf *out, int argc, const char **argv,
			  const size_t *lens)
{
	for (int i = 0; i < argc; i++)
		redis_wire_argument(out, argv[i],
				    lens ? lens[i] : strlen(argv[i]));
}

void redis_wire_command(struct buf *out, int argc, const char **argv,
			const size_t *lens)
{
	redis_wire_begin(out, (size_t)argc);
	put_arguments(out, argc, argv, lens);
}

void redis_wire_eval(struct buf *out, const struct redis_script *script,
		     int keys, int argc, const char **argv, const size_t *lens)
{
	char count[12];
	int len = snprintf(count, sizeof(count), "%d", keys);

	redis_wire_begin(out, (size_t)argc + 3);
	redis_wire_argument(out, "EVALSHA", 7);
	redis_wire_argument(out, script->sha, 40);
	redis_wire_argument(out, count, (size_t)len);
	put_arguments(out, argc, argv, lens);
}

static bool starts_with(const char *text, size_t len, const char *prefix)
{
	size_t size = strlen(prefix);

	return len >= size && !memcmp(text, prefix, size);
}

bool redis_error_is(const redisReply *reply, const char *kind)
{
	return reply->type == REDIS_REPLY_ERROR &&
	       starts_with(reply->str, reply->len, kind);
}

int redis_error_text(const char *text, size_t len, struct error *err)
{
	static const char *const passing[] = {
		"LOADING",    "TRYAGAIN", "CLUSTERDOWN",
		"MASTERDOWN", "BUSY ",	  "READONLY",
	};

	error_set(err, ERROR_REMOTE, "redis: %.*s", (int)len, text);
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (starts_with(text, len, passing[i]))
			err->retriable = true;
	if (starts_with(text, len, "NOSCRIPT")) {
		error_set_retriable(err, ERROR_REMOTE,
				    "redis: the scripts were dropped (SCRIPT "
				    "FLUSH): they are loaded again");
		return error_keep_inside(err, REDIS_AWAY);
	}
	if (starts_with(text, len, "DAMAGED ")) {
		text += strlen("DAMAGED ");
		len -= strlen("DAMAGED ");
		error_set(err, ERROR_DAMAGED, "redis: %.*s", (int)len, text);
	}
	if (starts_with(text, len, "OOM"))
		return error_set_retriable(
			err, ERROR_REMOTE,
			"redis is full: it has reached its maxmemory and "
			"refuses what takes more of it");
	return error_keep_inside(err, REDIS_REFUSED);
}

int redis_error_reply(const redisReply *reply, struct error *err)
{
	return redis_error_text(reply->str, reply->len, err);
}
