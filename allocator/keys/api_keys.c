#include "allocator/keys/api_keys.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/keys/key_line.h"

#define KEY_PREFIX "slk_"
#define KEY_BYTES  32
#define ROLES_MAX  60
#define LIMIT_MAX  12 /* characters of a rate or a burst */

struct api_key {
	struct api_key_info info;
	struct rate_rule rate;
};

struct key_table {
	struct api_key *keys; /* by digest */
	size_t count;
};

/* A bucket stays when its key goes: a request may still hold it, and the key
 * may come back. */
struct bucket {
	char name[API_KEY_NAME_MAX];
	struct rate_limiter *limiter;
	struct metric *limited;
	struct bucket *next;
};

struct api_keyring {
	char *path;
	struct metrics *metrics;
	pthread_rwlock_t lock; /* of the table */
	struct key_table table;
	_Atomic uint64_t reading; /* which one of the file this is, from 1 */
	struct bucket *buckets;	  /* of whoever loads */
};

/* --- buckets -------------------------------------------------------------- */

static struct bucket *bucket_named(const struct api_keyring *ring,
				   const char *name)
{
	for (struct bucket *b = ring->buckets; b; b = b->next) {
		if (!strcmp(b->name, name))
			return b;
	}
	return NULL;
}

static struct bucket *bucket_add(struct api_keyring *ring, const char *name,
				 const struct rate_rule *rule,
				 struct error *err)
{
	struct bucket *b = calloc(1, sizeof(*b));
	char label[API_KEY_NAME_MAX + 8];

	if (!b) {
		error_set_nomem(err);
		return NULL;
	}
	b->limiter = rate_limiter_new(rule, err);
	if (!b->limiter) {
		free(b);
		return NULL;
	}
	snprintf(b->name, sizeof(b->name), "%s", name);
	snprintf(label, sizeof(label), "key=\"%s\"", name);
	b->limited = metrics_counter(
		ring->metrics, "shortloop_allocator_rate_limited_total", label,
		"Requests refused, and waits of batches, because a key had "
		"used up its rate");
	b->next = ring->buckets;
	ring->buckets = b;
	return b;
}

/* Gives the key its bucket.  One that had a limit keeps the bucket, so that a
 * request under way and the next one agree. */
static int attach_bucket(struct api_keyring *ring, struct api_key *key,
			 struct error *err)
{
	struct bucket *b = bucket_named(ring, key->info.name);

	if (!b && key->rate.count) {
		b = bucket_add(ring, key->info.name, &key->rate, err);
		if (!b)
			return -1;
	}
	if (b) {
		key->info.limiter = b->limiter;
		key->info.limited = b->limited;
	}
	return 0;
}

static int attach_buckets(struct api_keyring *ring, struct key_table *table,
			  struct error *err)
{
	for (size_t i = 0; i < table->count; i++) {
		if (attach_bucket(ring, &table->keys[i], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < table->count; i++) {
		if (table->keys[i].info.limiter)
			rate_limiter_set(table->keys[i].info.limiter,
					 &table->keys[i].rate);
	}
	return 0;
}

/* --- the file ------------------------------------------------------------- */

static int compare_digests(const void *a, const void *b)
{
	return memcmp(((const struct api_key *)a)->info.digest,
		      ((const struct api_key *)b)->info.digest, API_KEY_DIGEST);
}

static bool has_name(const struct key_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++) {
		if (!strcmp(table->keys[i].info.name, name))
			return true;
	}
	return false;
}

static int table_append(struct key_table *table, const struct key_line *line,
			struct error *err)
{
	struct api_key *keys =
		reallocarray(table->keys, table->count + 1, sizeof(*keys));
	struct api_key *key;

	if (!keys)
		return error_set_nomem(err);
	table->keys = keys;
	key = &keys[table->count++];
	*key = (struct api_key){.rate = line->rate};
	key->info.roles = line->roles;
	memcpy(key->info.digest, line->digest, sizeof(key->info.digest));
	snprintf(key->info.name, sizeof(key->info.name), "%s", line->name);
	return 0;
}

static int read_line(struct key_table *table, char *text, const char *path,
		     int number, struct error *err)
{
	struct key_line line;
	struct error why = {0};
	int found = key_line_parse(text, &line, &why);

	if (found < 0)
		return error_set(err, ERROR_CONFIG, "%s:%d: %.300s", path,
				 number, why.text);
	if (found == 0)
		return 0;
	if (has_name(table, line.name))
		return error_set(err, ERROR_CONFIG,
				 "%s:%d: the name '%s' is used twice", path,
				 number, line.name);
	return table_append(table, &line, err);
}

/* By digest, each of which must be one key's. */
static int table_sort(struct key_table *table, const char *path,
		      struct error *err)
{
	const struct api_key *keys = table->keys;

	if (table->count)
		qsort(table->keys, table->count, sizeof(*table->keys),
		      compare_digests);
	for (size_t i = 1; i < table->count; i++) {
		if (!compare_digests(&keys[i - 1], &keys[i]))
			return error_set(err, ERROR_CONFIG,
					 "%s: the names '%s' and '%s' have the "
					 "same digest: a key has one name",
					 path, keys[i - 1].info.name,
					 keys[i].info.name);
	}
	return 0;
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
	return status ? status : table_sort(table, path, err);
}

/* --- the ring ------------------------------------------------------------- */

struct api_keyring *api_keyring_new(const char *path, struct metrics *metrics,
				    struct error *err)
{
	struct api_keyring *ring = calloc(1, sizeof(*ring));

	if (!ring) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_rwlock_init(&ring->lock, NULL);
	ring->metrics = metrics;
	ring->path = strdup(path);
	if (!ring->path)
		error_set_nomem(err);
	else if (api_keyring_reload(ring, err) == 0)
		return ring;
	api_keyring_free(ring);
	return NULL;
}

void api_keyring_free(struct api_keyring *ring)
{
	struct bucket *next;

	if (!ring)
		return;
	for (struct bucket *b = ring->buckets; b; b = next) {
		next = b->next;
		rate_limiter_free(b->limiter);
		free(b);
	}
	pthread_rwlock_destroy(&ring->lock);
	free(ring->table.keys);
	free(ring->path);
	free(ring);
}

int api_keyring_reload(struct api_keyring *ring, struct error *err)
{
	struct key_table fresh = {0}, old;

	if (table_read(&fresh, ring->path, err) < 0 ||
	    attach_buckets(ring, &fresh, err) < 0) {
		free(fresh.keys);
		return -1;
	}
	pthread_rwlock_wrlock(&ring->lock);
	old = ring->table;
	ring->table = fresh;
	atomic_fetch_add(&ring->reading, 1);
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

/* Under the lock. */
static bool find(struct api_keyring *ring, const struct api_key *wanted,
		 struct api_key_info *ret)
{
	const struct api_key *found = NULL;

	if (ring->table.count)
		found = bsearch(wanted, ring->table.keys, ring->table.count,
				sizeof(*wanted), compare_digests);
	if (!found)
		return false;
	*ret = found->info;
	ret->reading = atomic_load(&ring->reading);
	return true;
}

bool api_keyring_find(struct api_keyring *ring, const char *key, size_t len,
		      struct api_key_info *ret)
{
	struct api_key wanted = {0};
	bool found;

	crypto_hash_sha256(wanted.info.digest, (const unsigned char *)key, len);
	pthread_rwlock_rdlock(&ring->lock);
	found = find(ring, &wanted, ret);
	pthread_rwlock_unlock(&ring->lock);
	return found;
}

bool api_keyring_still_may(struct api_keyring *ring, struct api_key_info *info,
			   enum api_role role)
{
	const struct api_key same = {.info = *info};
	struct api_key_info now = {.reading = 0};

	if (atomic_load(&ring->reading) == info->reading)
		return info->roles & role;
	pthread_rwlock_rdlock(&ring->lock);
	/* Under another name it is another key. */
	if (find(ring, &same, &now) && !strcmp(now.name, info->name))
		*info = now;
	else
		info->roles = 0;
	info->reading = atomic_load(&ring->reading);
	pthread_rwlock_unlock(&ring->lock);
	return info->roles & role;
}

bool api_key_may_change(const struct api_key_info *key, const char *creator)
{
	return (key->roles & API_ADMIN) ||
	       ((key->roles & API_CREATE) && !strcmp(key->name, creator));
}

/* --- making one ----------------------------------------------------------- */

/* " rate=100/s burst=200", as far as they are given. */
static int format_limits(const char *rate, const char *burst,
			 char ret[3 * LIMIT_MAX + 1], struct error *err)
{
	struct rate_rule rule;
	struct error why = {0};

	ret[0] = '\0';
	if (burst && !rate)
		return error_set(err, ERROR_USAGE,
				 "--burst: expected a --rate beside it");
	if (!rate)
		return 0;
	if (strlen(rate) > LIMIT_MAX || rate_rule_parse(rate, &rule, &why) < 0)
		return error_set(err, ERROR_USAGE,
				 "--rate '%.20s': expected a number, 1 to %d, "
				 "and /s, /m or /h",
				 rate, RATE_COUNT_MAX);
	if (burst && (strlen(burst) > LIMIT_MAX ||
		      rate_burst_parse(burst, &rule.burst, &why) < 0))
		return error_set(err, ERROR_USAGE,
				 "--burst '%.20s': expected a number, 1 to %d",
				 burst, RATE_COUNT_MAX);
	snprintf(ret, 3 * LIMIT_MAX + 1, " rate=%s%s%s", rate,
		 burst ? " burst=" : "", burst ? burst : "");
	return 0;
}

int api_key_make(const char *name, const char *roles, const char *rate,
		 const char *burst, char ret_key[API_KEY_TEXT_MAX],
		 char ret_line[API_KEY_LINE_MAX], struct error *err)
{
	unsigned char secret[KEY_BYTES], digest[API_KEY_DIGEST];
	char hex[2 * API_KEY_DIGEST + 1], text[64];
	char limits[3 * LIMIT_MAX + 1];

	if (!key_name_is_good(name))
		return error_set(err, ERROR_USAGE,
				 "'%s': expected a name of at most 64 of "
				 "[0-9A-Za-z._-]",
				 name);
	if (strlen(roles) > ROLES_MAX || !key_roles_parse(roles))
		return error_set(err, ERROR_USAGE,
				 "'%s': expected roles out of read, create and "
				 "admin, separated by commas",
				 roles);
	if (format_limits(rate, burst, limits, err) < 0)
		return -1;
	randombytes_buf(secret, sizeof(secret));
	sodium_bin2base64(text, sizeof(text), secret, sizeof(secret),
			  sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	snprintf(ret_key, API_KEY_TEXT_MAX, KEY_PREFIX "%.58s", text);
	crypto_hash_sha256(digest, (const unsigned char *)ret_key,
			   strlen(ret_key));
	sodium_bin2hex(hex, sizeof(hex), digest, sizeof(digest));
	snprintf(ret_line, API_KEY_LINE_MAX, "%s %s " KEY_DIGEST_PREFIX "%s%s",
		 name, roles, hex, limits);
	sodium_memzero(secret, sizeof(secret));
	return 0;
}
