#include "common/keys/api_keyring.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/read_file.h"

static const char blanks[] = " \t\r\n";

struct api_key {
	struct api_key_info info;
	struct rate_rule rate;
};

struct key_table {
	struct api_key *keys; /* by digest */
	size_t count;
};

/* Lists of names and buckets live as long as the ring, even if the file no
 * longer contains their key: a request may still use them, and the key may come
 * back. */
struct kept_names {
	struct key_names *names;
	struct kept_names *next;
};

struct key_bucket {
	char name[API_KEY_NAME_MAX];
	struct rate_limiter *limiter;
	struct metric *limited;
	struct key_bucket *next;
};

struct api_keyring {
	struct api_keyring_options options; /* with a path of our own */
	char *path;
	pthread_rwlock_t lock; /* guards the table */
	struct key_table table;
	_Atomic uint64_t file_version; /* counts loads of the file, from 1 */
	/* Only the thread that loads the file uses these. */
	struct key_bucket *buckets;
	struct kept_names *names;
};

/* --- rules of accounts ---------------------------------------------------- */

/* Gives each key the rules of its account. */
static int attach_rules(const struct api_keyring *ring, struct key_table *table,
			struct error *err)
{
	const struct account_reader *reader = &ring->options.accounts;
	struct api_key_info *info;

	for (size_t i = 0; reader->find && i < table->count; i++) {
		info = &table->keys[i].info;
		if (info->roles & API_ADMIN)
			continue;
		if (reader->find(reader->arg, info->account, &info->rules,
				 err) < 0)
			return -1;
	}
	return 0;
}

/* --- lists of names ------------------------------------------------------- */

/* Sets *ret to the line's list, which the ring takes over, or to an equal one
 * that the ring has. */
static int keep_names(struct api_keyring *ring, struct key_names **list,
		      const struct key_names **ret, struct error *err)
{
	struct kept_names *kept;

	*ret = NULL;
	if (!*list)
		return 0;
	for (kept = ring->names; kept; kept = kept->next) {
		if (key_names_equal(kept->names, *list)) {
			*ret = kept->names;
			return 0;
		}
	}
	kept = malloc(sizeof(*kept));
	if (!kept)
		return error_set_nomem(err);
	*kept = (struct kept_names){*list, ring->names};
	ring->names = kept;
	*list = NULL;
	*ret = kept->names;
	return 0;
}

static void free_names(struct api_keyring *ring)
{
	struct kept_names *next;

	for (struct kept_names *kept = ring->names; kept; kept = next) {
		next = kept->next;
		key_names_free(kept->names);
		free(kept);
	}
}

/* --- buckets -------------------------------------------------------------- */

static struct key_bucket *bucket_named(const struct api_keyring *ring,
				       const char *name)
{
	for (struct key_bucket *b = ring->buckets; b; b = b->next) {
		if (!strcmp(b->name, name))
			return b;
	}
	return NULL;
}

static struct key_bucket *bucket_add(struct api_keyring *ring, const char *name,
				     const struct rate_rule *rule,
				     struct error *err)
{
	struct key_bucket *b = calloc(1, sizeof(*b));
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
	b->limited = metrics_counter(ring->options.metrics,
				     ring->options.limited_metric, label,
				     ring->options.limited_help);
	b->next = ring->buckets;
	ring->buckets = b;
	return b;
}

/* Gives the key the bucket of its name, so that requests before and after a
 * reload share it.  A key without a limit gets none, unless it had one. */
static int attach_bucket(struct api_keyring *ring, struct api_key *key,
			 struct error *err)
{
	struct key_bucket *b = bucket_named(ring, key->info.name);

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

static int table_append(struct api_keyring *ring, struct key_table *table,
			struct key_line *line, struct error *err)
{
	struct api_key *keys =
		reallocarray(table->keys, table->count + 1, sizeof(*keys));
	struct api_key *key;

	if (!keys)
		return error_set_nomem(err);
	table->keys = keys;
	key = &keys[table->count++];
	*key = (struct api_key){.rate = line->rate};
	if (!line->has_rate && !(line->roles & API_ADMIN))
		key->rate = ring->options.rate;
	key->info.roles = line->roles;
	memcpy(key->info.digest, line->digest, sizeof(key->info.digest));
	memcpy(key->info.name, line->name, sizeof(key->info.name));
	memcpy(key->info.account, line->account, sizeof(key->info.account));
	if (keep_names(ring, &line->owners, &key->info.owners, err) < 0)
		return -1;
	return keep_names(ring, &line->spaces, &key->info.spaces, err);
}

static int read_account(const struct api_keyring *ring, char *text, int number,
			struct error *err)
{
	const struct account_reader *reader = &ring->options.accounts;
	struct error why = {0};

	text[strcspn(text, "#")] = '\0';
	if (!reader->take || reader->take(reader->arg, text, &why) == 0)
		return 0;
	return error_set(err, ERROR_CONFIG, "%s:%d: %.300s", ring->path, number,
			 why.text);
}

/* Checks the names in spaces=: a typing error would otherwise only show as
 * refusals. */
static int check_spaces(const struct api_keyring *ring,
			const struct key_line *line, struct error *err)
{
	const struct api_keyring_options *o = &ring->options;
	const char *name = NULL;

	while (line->spaces && o->has_space &&
	       (name = key_names_next(line->spaces, name))) {
		if (!o->has_space(o->has_space_arg, name))
			return error_set(err, ERROR_INPUT,
					 "spaces=: '%.40s' is not one of "
					 "links.spaces",
					 name);
	}
	return 0;
}

/* Names have to be unique: two keys of one name could not be told apart in
 * metrics, logs and records of links. */
static int read_key(struct api_keyring *ring, struct key_table *table,
		    char *text, int number, struct error *err)
{
	struct key_line line;
	struct error why = {0};
	int found = key_line_parse(text, &line, &why), status = 0;

	if (found > 0 && check_spaces(ring, &line, &why) < 0)
		found = -1;
	if (found < 0)
		status = error_set(err, ERROR_CONFIG, "%s:%d: %.300s",
				   ring->path, number, why.text);
	else if (found > 0 && has_name(table, line.name))
		status = error_set(err, ERROR_CONFIG,
				   "%s:%d: the name '%s' is used twice",
				   ring->path, number, line.name);
	else if (found > 0)
		status = table_append(ring, table, &line, err);
	key_line_release(&line);
	return status;
}

static int read_line(struct api_keyring *ring, struct key_table *table,
		     char *text, int number, struct error *err)
{
	text += strspn(text, blanks);
	return *text == '@' ? read_account(ring, text + 1, number, err)
			    : read_key(ring, table, text, number, err);
}

/* Sorts the keys by digest and refuses two keys with one digest. */
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

static int table_read(struct api_keyring *ring, struct key_table *table,
		      struct error *err)
{
	const char *path = ring->path;
	struct error why;
	FILE *file = plain_file_stream(path, &why);
	char *line = NULL;
	size_t size = 0;
	int number = 0, status = 0;

	if (!file)
		return error_set(err, ERROR_CONFIG, "%s: %s: %s",
				 ring->options.setting, path, why.text);
	if (ring->options.accounts.begin)
		ring->options.accounts.begin(ring->options.accounts.arg);
	while (status == 0 && getline(&line, &size, file) >= 0)
		status = read_line(ring, table, line, ++number, err);
	if (status == 0 && ferror(file))
		status = error_set(err, ERROR_CONFIG, "%s: %s: cannot be read",
				   ring->options.setting, path);
	free(line);
	fclose(file);
	return status ? status : table_sort(table, path, err);
}

/* --- the ring ------------------------------------------------------------- */

struct api_keyring *api_keyring_new(const struct api_keyring_options *options,
				    struct error *err)
{
	struct api_keyring *ring = calloc(1, sizeof(*ring));

	if (!ring) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_rwlock_init(&ring->lock, NULL);
	ring->options = *options;
	ring->path = strdup(options->path);
	if (!ring->path)
		error_set_nomem(err);
	else if (api_keyring_reload(ring, err) == 0)
		return ring;
	api_keyring_free(ring);
	return NULL;
}

void api_keyring_free(struct api_keyring *ring)
{
	struct key_bucket *next;

	if (!ring)
		return;
	for (struct key_bucket *b = ring->buckets; b; b = next) {
		next = b->next;
		rate_limiter_free(b->limiter);
		free(b);
	}
	free_names(ring);
	pthread_rwlock_destroy(&ring->lock);
	free(ring->table.keys);
	free(ring->path);
	free(ring);
}

int api_keyring_reload(struct api_keyring *ring, struct error *err)
{
	struct key_table fresh = {0}, old;

	if (table_read(ring, &fresh, err) < 0 ||
	    attach_rules(ring, &fresh, err) < 0 ||
	    attach_buckets(ring, &fresh, err) < 0) {
		free(fresh.keys);
		return -1;
	}
	pthread_rwlock_wrlock(&ring->lock);
	old = ring->table;
	ring->table = fresh;
	atomic_fetch_add(&ring->file_version, 1);
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

static int read_ring(void *ring, struct error *err)
{
	return api_keyring_reload(ring, err);
}

static void describe_ring(void *ring, struct log_field ret[RELOAD_FIELDS])
{
	ret[0] = log_int("api_keys", (int64_t)api_keyring_count(ring));
}

const struct rereadable_kind api_keyring_kind = {
	.what = "API keys",
	.read = read_ring,
	.describe = describe_ring,
};

/* Called with the lock held. */
static bool find_key_by_digest(struct api_keyring *ring,
			       const struct api_key *wanted,
			       struct api_key_info *ret)
{
	const struct api_key *found = NULL;

	if (ring->table.count)
		found = bsearch(wanted, ring->table.keys, ring->table.count,
				sizeof(*wanted), compare_digests);
	if (!found)
		return false;
	*ret = found->info;
	ret->file_version = atomic_load(&ring->file_version);
	return true;
}

bool api_keyring_find(struct api_keyring *ring, const char *key, size_t len,
		      struct api_key_info *ret)
{
	struct api_key wanted = {0};
	bool found;

	crypto_hash_sha256(wanted.info.digest, (const unsigned char *)key, len);
	pthread_rwlock_rdlock(&ring->lock);
	found = find_key_by_digest(ring, &wanted, ret);
	pthread_rwlock_unlock(&ring->lock);
	return found;
}

bool api_keyring_still_may(struct api_keyring *ring, struct api_key_info *info,
			   enum api_role role)
{
	const struct api_key same = {.info = *info};
	struct api_key_info now = {.file_version = 0};

	if (atomic_load(&ring->file_version) == info->file_version)
		return info->roles & role;
	pthread_rwlock_rdlock(&ring->lock);
	/* A key that was renamed counts as another key. */
	if (find_key_by_digest(ring, &same, &now) &&
	    !strcmp(now.name, info->name))
		*info = now;
	else
		info->roles = 0;
	info->file_version = atomic_load(&ring->file_version);
	pthread_rwlock_unlock(&ring->lock);
	return info->roles & role;
}
