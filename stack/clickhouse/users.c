#include "stack/clickhouse/users.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/http/url.h"
#include "stack/clickhouse/failure.h"

#define CREDENTIAL_MAX 512

struct credentials {
	char user[CREDENTIAL_MAX];
	char password[CREDENTIAL_MAX];
};

int users_init(struct users *u, const char *name, const char *password_file,
	       struct error *err)
{
	char line[CREDENTIAL_MAX] = "";
	FILE *f;

	if (password_file) {
		f = fopen(password_file, "re");
		if (!f)
			return error_set_errno(err, "%s", password_file);
		if (!fgets(line, sizeof(line), f))
			line[0] = '\0';
		fclose(f);
		line[strcspn(line, "\r\n")] = '\0';
		if (!line[0])
			return error_set(err, ERROR_CONFIG,
					 "%s: the first line is the password, "
					 "and is empty",
					 password_file);
	}
	u->name = name;
	u->password = strdup(line);
	sodium_memzero(line, sizeof(line));
	return u->password ? 0 : error_set_nomem(err);
}

void users_release(struct users *u)
{
	if (u->password)
		sodium_memzero(u->password, strlen(u->password));
	free(u->password);
	u->password = NULL;
}

static bool copy_credential(char out[CREDENTIAL_MAX], const char *data,
			    size_t len)
{
	if (len >= CREDENTIAL_MAX)
		return false;
	if (len > 0)
		memcpy(out, data, len);
	out[len] = '\0';
	return true;
}

/* Reads "Basic dXNlcjpwYXNz"; any other value leaves `c` unchanged. */
static bool read_basic(struct credentials *c, struct http_slice header)
{
	char plain[2 * CREDENTIAL_MAX];
	size_t len;
	const char *colon;

	if (header.len < 6 || strncasecmp(header.data, "Basic ", 6) != 0)
		return true;
	if (sodium_base642bin((unsigned char *)plain, sizeof(plain),
			      header.data + 6, header.len - 6, " ", &len, NULL,
			      sodium_base64_VARIANT_ORIGINAL) != 0)
		return false;
	colon = memchr(plain, ':', len);
	if (!colon)
		return false;
	return copy_credential(c->user, plain, (size_t)(colon - plain)) &&
	       copy_credential(c->password, colon + 1,
			       len - (size_t)(colon + 1 - plain));
}

static bool read_url(struct credentials *c, struct http_slice query)
{
	struct url_params params = {0};
	const char *user, *password;
	struct error ignored;
	bool ok = true;

	/* A bad query string is reported later, with a better message. */
	if (url_params_parse(&params, query, &ignored) == 0) {
		user = url_param_get(&params, "user");
		password = url_param_get(&params, "password");
		if (user)
			ok = copy_credential(c->user, user, strlen(user));
		if (ok && password)
			ok = copy_credential(c->password, password,
					     strlen(password));
	}
	url_params_free(&params);
	return ok;
}

static bool read_credentials(struct credentials *c,
			     const struct http_request *req)
{
	struct http_slice user = http_header_get(req, "X-ClickHouse-User");
	struct http_slice key = http_header_get(req, "X-ClickHouse-Key");
	struct http_slice basic = http_header_get(req, "Authorization");

	strcpy(c->user, "default");
	c->password[0] = '\0';
	if (user.len > 0 || key.len > 0)
		return (user.len == 0 ||
			copy_credential(c->user, user.data, user.len)) &&
		       copy_credential(c->password, key.data, key.len);
	if (basic.len > 0)
		return read_basic(c, basic);
	return read_url(c, http_query(req));
}

/* Compares in constant time, so that the time does not show how much was
 * right. */
static bool is_same_password(const char *a, const char *b)
{
	char left[CREDENTIAL_MAX] = "", right[CREDENTIAL_MAX] = "";

	return copy_credential(left, a, strlen(a)) &&
	       copy_credential(right, b, strlen(b)) &&
	       sodium_memcmp(left, right, sizeof(left)) == 0;
}

int users_check(const struct users *u, const struct http_request *req,
		struct error *err)
{
	struct credentials c;
	bool ok = read_credentials(&c, req) && strcmp(c.user, u->name) == 0 &&
		  is_same_password(c.password, u->password);

	sodium_memzero(c.password, sizeof(c.password));
	if (ok)
		return 0;
	return failure_set(err, FAILURE_AUTHENTICATION,
			   "%.100s: Authentication failed: password is "
			   "incorrect, or there is no user with such name",
			   c.user);
}
