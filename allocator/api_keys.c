#include "allocator/api_keys.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"

#define DIGEST_BYTES  crypto_hash_sha256_BYTES
#define DIGEST_PREFIX "sha256:"
#define KEY_PREFIX    "slk_"
#define KEY_BYTES     32
#define ROLES_MAX     60
#define NAME_SYMBOLS                                                           \
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._-"

struct api_key {
	unsigned char digest[DIGEST_BYTES];
	unsigned roles;
	char name[API_KEY_NAME_MAX];
};

struct key_table {
	struct api_key *keys; /* by digest */
	size_t count;
};

struct api_keyring {
	char *path;
	pthread_rwlock_t lock;
	struct key_table table;
};

static const struct {
	const char *name;
	unsigned roles;
} known_roles[] = {
	{"read", API_READ},
	{"create", API_CREATE},
	{"admin", API_READ | API_CREATE | API_ADMIN},
};

/* --- one line ---------------------------------------------------------- */

static unsigned role_named(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(known_roles) / sizeof(known_roles[0]);
	     i++) {
		if (strlen(known_roles[i].name) == len &&
		    !memcmp(known_roles[i].name, name, len))
			return known_roles[i].roles;
	}
	return 0;
}

/* "read,create"; 0 when one of them is unknown. */
static unsigned parse_roles(const char *text)
{
	unsigned all = 0, one;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		one = role_named(text, len);
		if (!one)
			return 0;
		all |= one;
		if (!text[len])
			return all;
	}
}

static bool name_is_good(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len < API_KEY_NAME_MAX &&
	       strspn(name, NAME_SYMBOLS) == len;
}

static int parse_digest(const char *text, unsigned char digest[DIGEST_BYTES])
{
	size_t prefix = strlen(DIGEST_PREFIX), len;
	const char *end;

	if (strncmp(text, DIGEST_PREFIX, prefix) != 0)
		return -1;
	text += prefix;
	if (sodium_hex2bin(digest, DIGEST_BYTES, text, strlen(text), NULL, &len,
			   &end) != 0)
		return -1;
	return len == DIGEST_BYTES && !*end ? 0 : -1;
}

/* Cuts the line up.  Returns 1 for a key, 0 for a blank or a comment, -1 with
 * what was expected. */
static int parse_line(char *line, struct api_key *ret, const char **ret_what)
{
	static const char blanks[] = " \t\r\n";
	char *rest = line, *name, *roles, *digest;

	line[strcspn(line, "#")] = '\0';
	name = strtok_r(rest, blanks, &rest);
	if (!name)
		return 0;
	roles = strtok_r(NULL, blanks, &rest);
	digest = strtok_r(NULL, blanks, &rest);
	*ret_what = "expected 'name roles sha256:digest'";
	if (!roles || !digest || strtok_r(NULL, blanks, &rest))
		return -1;
	*ret_what = "expected a name of at most 64 of [0-9A-Za-z._-]";
	if (!name_is_good(name))
		return -1;
	*ret_what = "expected roles out of read, create and admin";
	ret->roles = parse_roles(roles);
	if (!ret->roles)
		return -1;
	*ret_what = "expected sha256: and 64 hexadecimal digits";
	if (parse_digest(digest, ret->digest) < 0)
		return -1;
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return 1;
}

/* --- the file ---------------------------------------------------------- */

static int compare_digests(const void *a, const void *b)
{
	return memcmp(((const struct api_key *)a)->digest,
		      ((const struct api_key *)b)->digest, DIGEST_BYTES);
}

static bool has_name(const struct key_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++) {
		if (!strcmp(table->keys[i].name, name))
			return true;
	}
	return false;
}

static int table_append(struct key_table *table, const struct api_key *key,
			struct error *err)
{
	struct api_key *keys =
		reallocarray(table->keys, table->count + 1, sizeof(*keys));

	if (!keys)
		return error_set_nomem(err);
	keys[table->count++] = *key;
	table->keys = keys;
	return 0;
}

static int read_line(struct key_table *table, char *line, const char *path,
		     int number, struct error *err)
{
	struct api_key key;
	const char *what = "";
	int found = parse_line(line, &key, &what);

	if (found < 0)
		return error_set(err, ERROR_CONFIG, "%s:%d: %s", path, number,
				 what);
	if (found == 0)
		return 0;
	if (has_name(table, key.name))
		return error_set(err, ERROR_CONFIG,
				 "%s:%d: the name '%s' is used twice", path,
				 number, key.name);
	return table_append(table, &key, err);
}

static int table_read(struct key_table *table, const char *path,
		      struct error *err)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int number = 0, status = 0;

	if (!file)
		return error_set(err, ERROR_CONFIG,
				 "allocator.keys_file: %s: %s", path,
				 strerror(errno));
	while (status == 0 && getline(&line, &size, file) >= 0)
		status = read_line(table, line, path, ++number, err);
	if (status == 0 && ferror(file))
		status = error_set(err, ERROR_CONFIG,
				   "allocator.keys_file: %s: cannot be read",
				   path);
	free(line);
	fclose(file);
	if (status == 0 && table->count > 1)
		qsort(table->keys, table->count, sizeof(*table->keys),
		      compare_digests);
	return status;
}

struct api_keyring *api_keyring_new(const char *path, struct error *err)
{
	struct api_keyring *ring = calloc(1, sizeof(*ring));

	if (!ring) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_rwlock_init(&ring->lock, NULL);
	ring->path = strdup(path);
	if (!ring->path)
		error_set_nomem(err);
	else if (table_read(&ring->table, path, err) == 0)
		return ring;
	api_keyring_free(ring);
	return NULL;
}

void api_keyring_free(struct api_keyring *ring)
{
	if (!ring)
		return;
	pthread_rwlock_destroy(&ring->lock);
	free(ring->table.keys);
	free(ring->path);
	free(ring);
}

int api_keyring_reload(struct api_keyring *ring, struct error *err)
{
	struct key_table fresh = {0}, old;

	if (table_read(&fresh, ring->path, err) < 0) {
		free(fresh.keys);
		return -1;
	}
	pthread_rwlock_wrlock(&ring->lock);
	old = ring->table;
	ring->table = fresh;
	pthread_rwlock_unlock(&ring->lock);
	free(old.keys);
	return 0;
}

size_t api_keyring_count(struct api_keyring *ring)
{
	size_t count;

	pthread_rwlock_rdlock(&ring->lock);
	count = ring->table.count;
	pthread_rwlock_unlock(&ring->lock);
	return count;
}

unsigned api_keyring_roles(struct api_keyring *ring, const char *key,
			   size_t len)
{
	const struct api_key *found = NULL;
	struct api_key wanted = {0};
	unsigned roles;

	crypto_hash_sha256(wanted.digest, (const unsigned char *)key, len);
	pthread_rwlock_rdlock(&ring->lock);
	if (ring->table.count)
		found = bsearch(&wanted, ring->table.keys, ring->table.count,
				sizeof(wanted), compare_digests);
	roles = found ? found->roles : 0;
	pthread_rwlock_unlock(&ring->lock);
	return roles;
}

/* --- making one -------------------------------------------------------- */

int api_key_make(const char *name, const char *roles,
		 char ret_key[API_KEY_TEXT_MAX],
		 char ret_line[API_KEY_LINE_MAX], struct error *err)
{
	unsigned char secret[KEY_BYTES], digest[DIGEST_BYTES];
	char hex[2 * DIGEST_BYTES + 1], text[64];

	if (!name_is_good(name))
		return error_set(err, ERROR_USAGE,
				 "'%s': expected a name of at most 64 of "
				 "[0-9A-Za-z._-]",
				 name);
	if (strlen(roles) > ROLES_MAX || !parse_roles(roles))
		return error_set(err, ERROR_USAGE,
				 "'%s': expected roles out of read, create and "
				 "admin, separated by commas",
				 roles);
	randombytes_buf(secret, sizeof(secret));
	sodium_bin2base64(text, sizeof(text), secret, sizeof(secret),
			  sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	snprintf(ret_key, API_KEY_TEXT_MAX, KEY_PREFIX "%.58s", text);
	crypto_hash_sha256(digest, (const unsigned char *)ret_key,
			   strlen(ret_key));
	sodium_bin2hex(hex, sizeof(hex), digest, sizeof(digest));
	snprintf(ret_line, API_KEY_LINE_MAX, "%s %s " DIGEST_PREFIX "%s", name,
		 roles, hex);
	sodium_memzero(secret, sizeof(secret));
	return 0;
}
