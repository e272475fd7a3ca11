#include "common/domain_list.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/hash.h"
#include "common/read_file.h"

/* An entry of the pool: its length, its kind, its text. */
#define ENTRY_HEAD 2
#define EXACT	   1 /* the name itself */
#define BELOW	   2 /* every name that ends in a dot and it */

struct domain_list {
	struct hash_key hash_key; /* keyed: clients choose the names */
	struct buf pool;
	uint32_t *offsets; /* into the pool */
	uint8_t *tags;	   /* seven bits of the hash and 0x80; 0: empty */
	uint64_t slots;
	size_t count;
};

/* --- the table ------------------------------------------------------------ */

struct probe {
	uint64_t slot;
	uint8_t tag;
	uint8_t *entry; /* NULL: not found, `slot` is free for it */
};

static bool entry_is(const uint8_t *entry, const char *text, size_t len)
{
	return entry[0] == len && !memcmp(entry + ENTRY_HEAD, text, len);
}

static struct probe find_name_slot(const struct domain_list *list,
				   const char *text, size_t len)
{
	struct probe p = {0};
	uint8_t *entry;
	uint64_t hash = hash_bytes(&list->hash_key, text, len);

	p.tag = (uint8_t)(0x80 | (hash & 0x7f));
	/* The upper half, scaled to any number of slots. */
	for (p.slot = (hash >> 32) * list->slots >> 32; list->tags[p.slot];
	     p.slot = p.slot + 1 < list->slots ? p.slot + 1 : 0) {
		if (list->tags[p.slot] != p.tag)
			continue;
		entry = (uint8_t *)list->pool.data + list->offsets[p.slot];
		if (!entry_is(entry, text, len))
			continue;
		p.entry = entry;
		break;
	}
	return p;
}

static unsigned find_entry_kind(const struct domain_list *list,
				const char *text, size_t len)
{
	const struct probe p = find_name_slot(list, text, len);

	return p.entry ? p.entry[1] : 0;
}

bool domain_list_has(const struct domain_list *list, const struct host *host)
{
	const char *at = host->text, *end = host->text + host->len;

	if (list->count == 0)
		return false;
	if (find_entry_kind(list, at, host->len))
		return true;
	if (host->kind != HOST_NAME)
		return false;
	while ((at = memchr(at, '.', (size_t)(end - at)))) {
		at++;
		if (find_entry_kind(list, at, (size_t)(end - at)) & BELOW)
			return true;
	}
	return false;
}

/* --- build ---------------------------------------------------------------- */

/* The pool doubles as it grows, so up to half of it may be unused. */
static void give_back_room(struct buf *pool)
{
	char *data = pool->len ? realloc(pool->data, pool->len) : NULL;

	if (!data)
		return;
	pool->data = data;
	pool->cap = pool->len;
}

/* Builds the table of the pool's entries; equal names share one slot. */
static int index_pool(struct domain_list *list, size_t entries,
		      struct error *err)
{
	uint8_t *pool = (uint8_t *)list->pool.data;
	struct probe p;

	list->slots = (uint64_t)entries + entries / 3 + 1;
	list->offsets = calloc(list->slots, sizeof(*list->offsets));
	list->tags = calloc(list->slots, sizeof(*list->tags));
	if (!list->offsets || !list->tags)
		return error_set_nomem(err);
	for (size_t at = 0; at < list->pool.len;
	     at += ENTRY_HEAD + (size_t)pool[at]) {
		p = find_name_slot(list, (char *)pool + at + ENTRY_HEAD,
				   pool[at]);
		if (p.entry) {
			p.entry[1] |= pool[at + 1];
			continue;
		}
		list->tags[p.slot] = p.tag;
		list->offsets[p.slot] = (uint32_t)at;
		list->count++;
	}
	give_back_room(&list->pool);
	return 0;
}

static int append_entry(struct domain_list *list, const struct listed_domain *d,
			struct error *err)
{
	const unsigned char head[ENTRY_HEAD] = {
		(unsigned char)d->host.len,
		d->and_below ? EXACT | BELOW : EXACT,
	};

	if (list->pool.len + ENTRY_HEAD + d->host.len > UINT32_MAX)
		return error_set(err, ERROR_INPUT,
				 "the list has more than 4 GiB of names");
	buf_append(&list->pool, head, sizeof(head));
	buf_append(&list->pool, d->host.text, d->host.len);
	return list->pool.failed ? error_set_nomem(err) : 0;
}

int listed_domain_parse(const char *text, size_t len, struct listed_domain *ret,
			struct error *err)
{
	struct listed_domain d = {.and_below = len > 0 && *text == '.'};

	if (host_parse(text + d.and_below, len - d.and_below, &d.host, err) < 0)
		return -1;
	if (d.and_below && d.host.kind != HOST_NAME)
		return error_set(err, ERROR_INPUT,
				 "nothing is below an address: write it "
				 "without the dot");
	*ret = d;
	return 0;
}

void listed_domain_put(const struct listed_domain *domain,
		       char ret[DOMAIN_TEXT_MAX])
{
	snprintf(ret, DOMAIN_TEXT_MAX, "%s%s", domain->and_below ? "." : "",
		 domain->host.text);
}

int listed_domain_normalise(const char *text, char ret[DOMAIN_TEXT_MAX],
			    struct error *err)
{
	struct listed_domain domain = {.and_below = false};

	if (listed_domain_parse(text, strlen(text), &domain, err) < 0)
		return -1;
	listed_domain_put(&domain, ret);
	return 0;
}

/* Returns 1 for a domain, 0 for a blank or a comment. */
static int read_line(struct domain_list *list, const char *line, size_t len,
		     struct error *err)
{
	const char *comment = memchr(line, '#', len);
	struct listed_domain domain = {.and_below = false};

	if (comment)
		len = (size_t)(comment - line);
	while (len && strchr(" \t\r\n", line[len - 1]))
		len--;
	for (; len && strchr(" \t", *line); line++)
		len--;
	if (len == 0)
		return 0;
	if (listed_domain_parse(line, len, &domain, err) < 0)
		return -1;
	return append_entry(list, &domain, err) < 0 ? -1 : 1;
}

static int read_lines(struct domain_list *list, FILE *file, const char *path,
		      struct error *err)
{
	char *line = NULL;
	size_t size = 0, number = 0, entries = 0;
	ssize_t len;
	int found = 0;

	while (found >= 0 && (len = getline(&line, &size, file)) >= 0) {
		number++;
		found = read_line(list, line, (size_t)len, err);
		entries += found > 0;
	}
	free(line);
	if (found < 0) {
		err->code = ERROR_CONFIG;
		return error_wrap(err, "%s:%zu", path, number);
	}
	if (ferror(file))
		return error_set(err, ERROR_CONFIG, "%s: cannot be read: %s",
				 path, strerror(errno));
	return index_pool(list, entries, err);
}

static struct domain_list *list_new(struct error *err)
{
	struct domain_list *list = calloc(1, sizeof(*list));

	if (!list) {
		error_set_nomem(err);
		return NULL;
	}
	if (hash_key_make(&list->hash_key, err) == 0)
		return list;
	free(list);
	return NULL;
}

struct domain_list *domain_list_load(const char *path, struct error *err)
{
	struct domain_list *list = list_new(err);
	struct error why;
	FILE *file;
	int status;

	if (!list)
		return NULL;
	file = plain_file_stream(path, &why);
	if (file) {
		status = read_lines(list, file, path, err);
		fclose(file);
	} else {
		status = error_set(err, ERROR_CONFIG, "%s: %s", path, why.text);
	}
	if (status == 0)
		return list;
	domain_list_free(list);
	return NULL;
}

static int append_texts(struct domain_list *list, const char *const *texts,
			size_t count, struct error *err)
{
	struct listed_domain domain = {.and_below = false};

	for (size_t i = 0; i < count; i++) {
		if (listed_domain_parse(texts[i], strlen(texts[i]), &domain,
					err) < 0 ||
		    append_entry(list, &domain, err) < 0)
			return -1;
	}
	return index_pool(list, count, err);
}

struct domain_list *domain_list_of(const char *const *texts, size_t count,
				   struct error *err)
{
	struct domain_list *list = list_new(err);

	if (!list || append_texts(list, texts, count, err) == 0)
		return list;
	domain_list_free(list);
	return NULL;
}

void domain_list_free(struct domain_list *list)
{
	if (!list)
		return;
	buf_free(&list->pool);
	free(list->offsets);
	free(list->tags);
	free(list);
}

size_t domain_list_count(const struct domain_list *list)
{
	return list->count;
}
