#include "linkstore/denied_hosts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/unseen.h"
#include "linkstore/command.h"
#include "linkstore/scripts.h"

/* The highest integer that Lua counts exactly. */
#define REVISION_MAX ((UINT64_C(1) << 53) - 1)
/* Elements of a reply before the changes, and of each change. */
#define PAGE_HEAD      2
#define CHANGE_MEMBERS 3

static int refuse_damaged(struct error *err)
{
	return error_set(err, ERROR_DAMAGED,
			 "the denied hosts in Redis (keys %s, %s) are damaged",
			 DENIED_HOSTS_KEY, DENIED_CHANGES_KEY);
}

/* --- texts ---------------------------------------------------------------- */

/* Copies the text up to a tab, or to the end.  Returns the text behind it;
 * NULL: it does not fit. */
static const char *copy_word(const char *text, const char *end, char *ret,
			     size_t size)
{
	const char *tab = memchr(text, '\t', (size_t)(end - text));
	size_t len = (size_t)((tab ? tab : end) - text);

	if (len >= size)
		return NULL;
	memcpy(ret, text, len);
	ret[len] = '\0';
	return tab ? tab + 1 : end;
}

static bool is_plain(const char *text)
{
	enum unseen kind;

	unseen_find(text, strlen(text), UNSEEN_IN_TEXT, &kind);
	return kind == UNSEEN_NONE;
}

bool denial_parse(const char *text, size_t len, struct denial *ret)
{
	const char *at = text, *end = text + len;
	struct denial d = {0};
	char number[24];

	if (memchr(text, '\0', len))
		return false;
	at = copy_word(at, end, number, sizeof(number));
	at = at ? copy_word(at, end, d.who, sizeof(d.who)) : NULL;
	if (!at || (size_t)(end - at) >= sizeof(d.reason))
		return false;
	memcpy(d.reason, at, (size_t)(end - at));
	if (!*number || strspn(number, "0123456789") != strlen(number) ||
	    strlen(number) > 15 || !*d.who || !is_plain(d.who) ||
	    !is_plain(d.reason))
		return false;
	d.time_ms = strtoll(number, NULL, 10);
	*ret = d;
	return true;
}

int denied_hosts_check_reason(const char *reason, struct error *err)
{
	if (strlen(reason) >= DENIED_REASON_MAX)
		return error_set(err, ERROR_INPUT,
				 "the reason has %zu bytes, at most %d are "
				 "kept",
				 strlen(reason), DENIED_REASON_MAX - 1);
	if (!is_plain(reason))
		return error_set(err, ERROR_INPUT,
				 "the reason is not UTF-8, or has characters "
				 "that nobody sees, such as a line's end");
	return 0;
}

/* --- changes -------------------------------------------------------------- */

static int parse_result(const redisReply *reply, struct denied_result *ret,
			struct error *err)
{
	struct denied_result r = {0};
	const char *value;
	int64_t revision;

	if (!reply_is_array(reply, 2))
		return refuse_damaged(err);
	r.changed = reply_number(reply, 0, 0) == 1;
	revision = reply_number(reply, 1, 0);
	value = reply->elements > 2 ? reply_text(reply, 2) : "";
	if (revision <= 0 ||
	    (*value && !denial_parse(value, strlen(value), &r.before)))
		return refuse_damaged(err);
	r.revision = (uint64_t)revision;
	*ret = r;
	return 0;
}

static int change_host(struct redis *redis, const struct linkstore *store,
		       int argc, const char **argv, struct denied_result *ret,
		       struct error *err)
{
	redisReply *reply;
	int status;

	if (redis_eval(redis, &linkstore_scripts(store)->items[SCRIPT_DENY], 2,
		       argc, argv, NULL, &reply, err) < 0)
		return -1;
	status = parse_result(reply, ret, err);
	freeReplyObject(reply);
	return status;
}

int denied_hosts_deny(struct redis *redis, const struct linkstore *store,
		      const char *domain, const char *who, const char *reason,
		      struct denied_result *ret, struct error *err)
{
	const char *argv[] = {DENIED_HOSTS_KEY, DENIED_CHANGES_KEY, domain, who,
			      reason};

	if (denied_hosts_check_reason(reason, err) < 0)
		return -1;
	return change_host(redis, store, 5, argv, ret, err);
}

int denied_hosts_lift(struct redis *redis, const struct linkstore *store,
		      const char *domain, struct denied_result *ret,
		      struct error *err)
{
	const char *argv[] = {DENIED_HOSTS_KEY, DENIED_CHANGES_KEY, domain};

	return change_host(redis, store, 3, argv, ret, err);
}

/* --- reading -------------------------------------------------------------- */

static bool parse_revision(const redisReply *reply, size_t i, uint64_t *ret)
{
	int64_t number = reply_number(reply, i, -1);

	if (number < 0 || (uint64_t)number > REVISION_MAX)
		return false;
	*ret = (uint64_t)number;
	return true;
}

static int pass_change(const redisReply *reply, size_t at, uint64_t before,
		       denied_change_fn *fn, void *arg, uint64_t *ret_revision,
		       struct error *err)
{
	struct denied_change change = {.domain = reply_text(reply, at)};
	const redisReply *value = reply->element[at + 2];

	if (!parse_revision(reply, at + 1, &change.revision) ||
	    change.revision <= before || value->type != REDIS_REPLY_STRING)
		return refuse_damaged(err);
	change.value = value->str;
	change.value_len = value->len;
	*ret_revision = change.revision;
	return fn(arg, &change, err);
}

static int pass_changes(const redisReply *reply, uint64_t since,
			denied_change_fn *fn, void *arg,
			struct denied_page *ret, struct error *err)
{
	struct denied_page page = {.last = since};
	int64_t hosts;

	if (!reply_is_array(reply, PAGE_HEAD) ||
	    (reply->elements - PAGE_HEAD) % CHANGE_MEMBERS)
		return refuse_damaged(err);
	hosts = reply_number(reply, 1, -1);
	if (hosts < 0 || !parse_revision(reply, 0, &page.revision))
		return refuse_damaged(err);
	page.hosts = (size_t)hosts;
	for (size_t i = PAGE_HEAD; i < reply->elements; i += CHANGE_MEMBERS) {
		if (pass_change(reply, i, page.last, fn, arg, &page.last, err) <
		    0)
			return -1;
		page.changes++;
	}
	*ret = page;
	return 0;
}

int denied_hosts_read(struct redis *redis, const struct linkstore *store,
		      uint64_t since, denied_change_fn *fn, void *arg,
		      struct denied_page *ret, struct error *err)
{
	char from[24], limit[24];
	const char *argv[] = {DENIED_HOSTS_KEY, DENIED_CHANGES_KEY, from,
			      limit};
	redisReply *reply;
	int status;

	snprintf(from, sizeof(from), "%" PRIu64, since);
	snprintf(limit, sizeof(limit), "%d", DENIED_PAGE);
	if (redis_eval(redis, &linkstore_scripts(store)->items[SCRIPT_DENIED],
		       2, 4, argv, NULL, &reply, err) < 0)
		return -1;
	status = pass_changes(reply, since, fn, arg, ret, err);
	freeReplyObject(reply);
	return status;
}
