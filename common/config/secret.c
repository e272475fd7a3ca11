#include "common/config/secret.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/read_file.h"

#define SECRET_BYTES_MAX 65536

static const char *const prefixes[] = {"file:", "credential:", "env:"};

bool secret_is_reference(const char *text)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(text, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static int copy_secret(const char *value, char **ret_secret, struct error *err)
{
	*ret_secret = strdup(value);
	return *ret_secret ? 0 : error_set_nomem(err);
}

static int check_file(const char *path, struct buf *secret, struct error *err)
{
	while (secret->len && strchr("\r\n", secret->data[secret->len - 1]))
		secret->len--;
	if (!buf_cstr(secret))
		return error_set_nomem(err);
	if (secret->len == 0)
		return error_set(err, ERROR_CONFIG, "the secret in %s is empty",
				 path);
	if (secret->len > SECRET_BYTES_MAX)
		return error_set(err, ERROR_CONFIG,
				 "the secret in %s is longer than %d bytes",
				 path, SECRET_BYTES_MAX);
	if (strlen(secret->data) != secret->len)
		return error_set(err, ERROR_CONFIG,
				 "the secret in %s has a zero byte", path);
	return 0;
}

static int read_secret_file(const char *path, char **ret_secret,
			    struct error *err)
{
	struct buf secret = {0};
	struct error why;
	int status;

	if (read_file(path, SECRET_BYTES_MAX, &secret, &why) < 0)
		status = error_set(err, ERROR_CONFIG,
				   "cannot read the secret in %s: %s", path,
				   why.text);
	else
		status = check_file(path, &secret, err);
	if (status == 0)
		status = copy_secret(secret.data, ret_secret, err);
	if (secret.data)
		explicit_bzero(secret.data, secret.cap);
	buf_free(&secret);
	return status;
}

/* Reads a credential that systemd has put where only this unit can read it. */
static int read_credential(const char *name, char **ret_secret,
			   struct error *err)
{
	const char *directory = getenv("CREDENTIALS_DIRECTORY");
	char path[PATH_MAX];
	int len;

	if (!*name || strchr(name, '/') || *name == '.')
		return error_set(err, ERROR_CONFIG,
				 "'%.60s' is no name of a credential", name);
	if (!directory || !*directory)
		return error_set(err, ERROR_CONFIG,
				 "there is no $CREDENTIALS_DIRECTORY: start it "
				 "by systemd with LoadCredential=%.60s:FILE",
				 name);
	len = snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (len < 0 || (size_t)len >= sizeof(path))
		return error_set(err, ERROR_CONFIG,
				 "the path of a credential is too long");
	return read_secret_file(path, ret_secret, err);
}

static int read_variable(const char *name, char **ret_secret, struct error *err)
{
	const char *value = getenv(name);

	if (!value)
		return error_set(err, ERROR_CONFIG,
				 "the environment has no variable %.60s", name);
	return copy_secret(value, ret_secret, err);
}

int secret_read(const char *reference, char **ret_secret, struct error *err)
{
	if (!strncmp(reference, "file:", 5))
		return read_secret_file(reference + 5, ret_secret, err);
	if (!strncmp(reference, "credential:", 11))
		return read_credential(reference + 11, ret_secret, err);
	if (!strncmp(reference, "env:", 4))
		return read_variable(reference + 4, ret_secret, err);
	return error_set(err, ERROR_CONFIG,
			 "a secret is written " SECRET_FORMS
			 ", never as itself");
}

void secret_free(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

int secret_name_length(const char *text)
{
	static const char of_names[] = "abcdefghijklmnopqrstuvwxyz"
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789-_.";
	size_t len = strspn(text, of_names);

	return len < 60 ? (int)len : 60;
}

void secret_mask_urls(const char *text, struct buf *out)
{
	const char *scheme, *from, *at;
	size_t len;

	while ((scheme = strstr(text, "://"))) {
		from = scheme + 3;
		buf_append(out, text, (size_t)(from - text));
		len = strcspn(from, "/?#, ");
		at = len ? memrchr(from, '@', len) : NULL;
		if (at)
			buf_puts(out, "***");
		text = at ? at : from;
	}
	buf_puts(out, text);
}
