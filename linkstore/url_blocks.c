#include "linkstore/url_blocks.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "linkstore/async_call.h"

#define PAGE 500 /* entries, approximately */

/* --- URLs ----------------------------------------------------------------- */

static size_t add_url(const char *ret[LINK_URLS_MAX], size_t count,
		      const char *url)
{
	if (!url || !*url || count == LINK_URLS_MAX)
		return count;
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(ret[i], url))
			return count;
	}
	ret[count] = url;
	return count + 1;
}

size_t link_urls(const Shortloop__Link *link, const char *ret[LINK_URLS_MAX])
{
	size_t count = add_url(ret, 0, link->url);

	for (size_t i = 0; i < link->n_targets; i++) {
		count = add_url(ret, count, link->targets[i]->url);
		count = add_url(ret, count, link->targets[i]->app);
		count = add_url(ret, count, link->targets[i]->mini_program);
	}
	return count;
}

void url_block_id(const char *url, char ret[URL_BLOCK_ID])
{
	unsigned char digest[16];

	crypto_generichash(digest, sizeof(digest), (const unsigned char *)url,
			   strlen(url), NULL, 0);
	sodium_bin2hex(ret, URL_BLOCK_ID, digest, sizeof(digest));
}

/* --- decisions ------------------------------------------------------------ */

static void put_key(struct command *c, const char *account)
{
	command_format(c, "blocked:{%s}", account);
	c->keys++;
}

static void put_id(struct command *c, const char *url)
{
	char id[URL_BLOCK_ID];

	url_block_id(url, id);
	command_text(c, id);
}

static int parse_done(const redisReply *reply, const void *about,
		      void *ret_value, struct error *err)
{
	(void)about;
	(void)ret_value;
	return reply->type == REDIS_REPLY_INTEGER
		       ? 0
		       : reply_malformed("url_block", err);
}

static const struct async_call_type done_call = {
	.parse = parse_done,
	.deliver = async_call_deliver_done,
};

int url_block_async(struct redis_async *redis, const struct linkstore *store,
		    const char *account, const struct url_decision *decision,
		    const char *const *urls, size_t count, url_block_fn *fn,
		    void *arg, struct error *err)
{
	struct command c;

	command_script(&c, linkstore_space(store, 0), SCRIPT_URL_BLOCK);
	put_key(&c, account);
	command_number(&c, decision->link_id);
	command_text(&c, decision->code);
	command_text(&c, decision->key);
	command_number(&c, URL_BLOCK_LINKS);
	for (size_t i = 0; i < count; i++) {
		put_id(&c, urls[i]);
		command_text(&c, urls[i]);
	}
	return async_call_send(&c, redis, &done_call, NULL, (async_call_fn *)fn,
			       arg, err);
}

int url_let_go_async(struct redis_async *redis, const struct linkstore *store,
		     const char *account, uint64_t link_id,
		     const char *const *urls, size_t count, url_block_fn *fn,
		     void *arg, struct error *err)
{
	struct command c;

	command_script(&c, linkstore_space(store, 0), SCRIPT_URL_LET_GO);
	put_key(&c, account);
	command_number(&c, link_id);
	for (size_t i = 0; i < count; i++)
		put_id(&c, urls[i]);
	return async_call_send(&c, redis, &done_call, NULL, (async_call_fn *)fn,
			       arg, err);
}

static int parse_number(const redisReply *reply, const void *about,
			void *ret_number, struct error *err)
{
	(void)about;
	if (reply->type != REDIS_REPLY_INTEGER)
		return reply_malformed("HDEL", err);
	*(int64_t *)ret_number = reply->integer;
	return 0;
}

static const struct async_call_type lift_call = {
	.value_size = sizeof(int64_t),
	.parse = parse_number,
	.deliver = async_call_deliver_number,
};

int url_lift_async(struct redis_async *redis, const char *account,
		   const char *id, url_lifted_fn *fn, void *arg,
		   struct error *err)
{
	struct command c;

	command_plain(&c, "HDEL");
	command_format(&c, "blocked:{%s}", account);
	command_text(&c, id);
	return async_call_send(&c, redis, &lift_call, NULL, (async_call_fn *)fn,
			       arg, err);
}

/* --- reading -------------------------------------------------------------- */

struct blocks_reading {
	url_blocks_fn *fn;
	void *arg;
	char id[URL_BLOCK_ID]; /* the id to read; "": a page */
};

/* Splits "link_id ms code key"; returns false if the text is not a decision. */
static bool read_decision(char *line, struct url_decision *ret)
{
	char *words[4], *end, *rest = line;

	for (int i = 0; i < 4; i++) {
		words[i] = strsep(&rest, " ");
		if (!words[i] || !*words[i])
			return false;
	}
	ret->link_id = strtoull(words[0], &end, 10);
	if (*end)
		return false;
	ret->decided_ms = strtoll(words[1], &end, 10);
	ret->code = words[2];
	ret->key = words[3];
	return !*end && !rest;
}

static void tell_entry(const struct blocks_reading *r, const char *id,
		       const redisReply *value)
{
	char *text = strndup(value->str, value->len), *rest = text, *line;
	struct url_block_entry entry = {.id = id, .first = {0, "-", "-", 0}};
	struct url_decision decision;

	if (!text)
		return;
	entry.url = strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n"))) {
		if (!read_decision(line, &decision))
			continue;
		if (!entry.decisions++)
			entry.first = decision;
	}
	r->fn(r->arg, &entry, NULL, NULL);
	free(text);
}

static void tell_page(const struct blocks_reading *r, const redisReply *page)
{
	for (size_t i = 0; i + 1 < page->elements; i += 2) {
		if (page->element[i]->type == REDIS_REPLY_STRING &&
		    page->element[i + 1]->type == REDIS_REPLY_STRING)
			tell_entry(r, page->element[i]->str,
				   page->element[i + 1]);
	}
}

static void on_read(void *arg, const redisReply *reply, const struct error *err)
{
	struct blocks_reading *r = arg;
	struct error why;

	if (err) {
		r->fn(r->arg, NULL, NULL, err);
	} else if (*r->id) {
		if (reply->type == REDIS_REPLY_STRING)
			tell_entry(r, r->id, reply);
		r->fn(r->arg, NULL, "0", NULL);
	} else if (!reply_is_array(reply, 2) ||
		   reply->element[1]->type != REDIS_REPLY_ARRAY) {
		reply_malformed("HSCAN", &why);
		r->fn(r->arg, NULL, NULL, &why);
	} else {
		tell_page(r, reply->element[1]);
		r->fn(r->arg, NULL, reply_text(reply, 0), NULL);
	}
	free(r);
}

int url_blocks_read_async(struct redis_async *redis, const char *account,
			  const char *cursor, const char *id, url_blocks_fn *fn,
			  void *arg, struct error *err)
{
	struct blocks_reading *r = calloc(1, sizeof(*r));
	struct command c;

	if (!r)
		return error_set_nomem(err);
	r->fn = fn;
	r->arg = arg;
	strncpy(r->id, id ? id : "", sizeof(r->id) - 1);
	command_plain(&c, id ? "HGET" : "HSCAN");
	command_format(&c, "blocked:{%s}", account);
	command_text(&c, id ? id : cursor);
	if (!id) {
		command_text(&c, "COUNT");
		command_number(&c, PAGE);
	}
	if (command_send(&c, redis, on_read, r, err) == 0)
		return 0;
	free(r);
	return -1;
}
