#include "allocator/audit/audit_line.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "common/clock.h"
#include "common/json_text.h"
#include "linkstore/link/names.h"

enum {
	HEADER_SHOWN_MAX = 256 /* bytes of a client's header */
};

/* --- values --------------------------------------------------------------- */

static void put_text(struct buf *out, const char *text)
{
	if (text && *text)
		json_put_string(out, text, strlen(text));
	else
		buf_puts(out, "null");
}

/* Replaces bytes that are not printable ASCII: a client's header may hold any
 * byte, but JSON is UTF-8. */
static void put_header(struct buf *out, struct http_slice value)
{
	char text[HEADER_SHOWN_MAX];
	size_t len = value.len < sizeof(text) ? value.len : sizeof(text);

	if (!value.data) {
		buf_puts(out, "null");
		return;
	}
	for (size_t i = 0; i < len; i++) {
		text[i] = value.data[i];
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	}
	json_put_string(out, text, len);
}

static void put_peer(struct buf *out, const struct sockaddr_storage *peer)
{
	char text[INET6_ADDRSTRLEN] = "";
	const void *address = NULL;

	if (peer && peer->ss_family == AF_INET)
		address = &((const struct sockaddr_in *)peer)->sin_addr;
	else if (peer && peer->ss_family == AF_INET6)
		address = &((const struct sockaddr_in6 *)peer)->sin6_addr;
	if (address)
		inet_ntop(peer->ss_family, address, text, sizeof(text));
	put_text(out, text);
}

/* Writes the URL with `***` in place of user and password, which the readers of
 * the audit need not see. */
static void put_url(struct buf *out, const char *url)
{
	const char *authority, *at = NULL;
	struct buf masked = {0};
	size_t len;

	authority = url ? strstr(url, "://") : NULL;
	if (authority) {
		authority += 3;
		len = strcspn(authority, "/?#");
		at = memrchr(authority, '@', len);
	}
	if (!at) {
		put_text(out, url);
		return;
	}
	buf_append(&masked, url, (size_t)(authority - url));
	buf_puts(&masked, "***");
	buf_puts(&masked, at);
	if (masked.failed)
		out->failed = true;
	else
		json_put_string(out, masked.data, masked.len);
	buf_free(&masked);
}

static void put_time(struct buf *out, uint64_t ms)
{
	char text[RFC3339_TEXT_MAX];

	put_text(out, ms ? rfc3339_format((int64_t)ms, text) : NULL);
}

static void put_count(struct buf *out, uint64_t number)
{
	if (number)
		buf_printf(out, "%" PRIu64, number);
	else
		buf_puts(out, "null");
}

/* --- fields of a link ----------------------------------------------------- */

/* Each writes one field of a link, `null` when it is not set. */
typedef void field_fn(struct buf *out, const Shortloop__Link *link);

static void put_link_url(struct buf *out, const Shortloop__Link *link)
{
	put_url(out, link->url);
}

static void put_ttl(struct buf *out, const Shortloop__Link *link)
{
	put_text(out, link->ttl_class);
}

static void put_state(struct buf *out, const Shortloop__Link *link)
{
	put_text(out, link_state_name(link->state));
}

static void put_status(struct buf *out, const Shortloop__Link *link)
{
	put_count(out, link->redirect_status);
}

static void put_account(struct buf *out, const Shortloop__Link *link)
{
	put_text(out, link->account);
}

static void put_owner(struct buf *out, const Shortloop__Link *link)
{
	put_text(out, link->owner);
}

static void put_campaign(struct buf *out, const Shortloop__Link *link)
{
	put_text(out, link->campaign);
}

static void put_tags(struct buf *out, const Shortloop__Link *link)
{
	if (!link->n_tags) {
		buf_puts(out, "null");
		return;
	}
	for (size_t i = 0; i < link->n_tags; i++) {
		buf_putc(out, i ? ',' : '[');
		json_put_string(out, link->tags[i], strlen(link->tags[i]));
	}
	buf_putc(out, ']');
}

static void put_target(struct buf *out, const Shortloop__Target *target)
{
	if (!*target->app && !*target->mini_program) {
		put_url(out, target->url);
		return;
	}
	buf_puts(out, *target->app ? "{\"app\":" : "{\"mini_program\":");
	put_url(out, *target->app ? target->app : target->mini_program);
	buf_puts(out, ",\"fallback\":");
	put_url(out, target->url);
	buf_putc(out, '}');
}

static void put_targets(struct buf *out, const Shortloop__Link *link)
{
	if (!link->n_targets) {
		buf_puts(out, "null");
		return;
	}
	for (size_t i = 0; i < link->n_targets; i++) {
		buf_printf(out, "%s\"%s\":", i ? "," : "{",
			   link_device_name(link->targets[i]->device));
		put_target(out, link->targets[i]);
	}
	buf_putc(out, '}');
}

static void put_domain(struct buf *out, const Shortloop__Link *link)
{
	put_text(out, link->domain);
}

static void put_description(struct buf *out, const Shortloop__Link *link)
{
	put_text(out, link->description);
}

static void put_not_before(struct buf *out, const Shortloop__Link *link)
{
	put_time(out, link->not_before_ms);
}

static void put_max_visits(struct buf *out, const Shortloop__Link *link)
{
	put_count(out, link->max_visits);
}

static void put_pass_query(struct buf *out, const Shortloop__Link *link)
{
	put_text(out, link_query_pass_name(link->query_pass));
}

static void put_pass_path(struct buf *out, const Shortloop__Link *link)
{
	buf_puts(out, link->path_pass ? "true" : "false");
}

static const struct {
	const char *name;
	field_fn *put;
} fields[] = {
	{"url", put_link_url},
	{"ttl", put_ttl},
	{"state", put_state},
	{"redirect_status", put_status},
	{"account", put_account},
	{"owner", put_owner},
	{"campaign", put_campaign},
	{"tags", put_tags},
	{"targets", put_targets},
	{"domain", put_domain},
	{"description", put_description},
	{"not_before", put_not_before},
	{"max_visits", put_max_visits},
	{"pass_query", put_pass_query},
	{"pass_path", put_pass_path},
};

static void put_field(struct buf *out, field_fn *put,
		      const Shortloop__Link *link)
{
	if (link)
		put(out, link);
	else
		buf_puts(out, "null");
}

/* Both values are written, and removed again if they are equal. */
static void put_changes(struct buf *out, const struct audit_entry *entry)
{
	size_t mark, old, new, mid;
	bool first = true;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		/* The line names the account; a new link had no other. */
		if (!entry->before && fields[i].put == put_account)
			continue;
		mark = out->len;
		buf_printf(out, "%s\"%s\":{\"old\":", first ? "" : ",",
			   fields[i].name);
		old = out->len;
		put_field(out, fields[i].put, entry->before);
		mid = out->len;
		buf_puts(out, ",\"new\":");
		new = out->len;
		put_field(out, fields[i].put, entry->after);
		if (out->failed)
			return;
		if (mid - old == out->len - new &&
		    !memcmp(out->data + old, out->data + new, mid - old)) {
			out->len = mark;
			continue;
		}
		buf_putc(out, '}');
		first = false;
	}
}

/* --- line ----------------------------------------------------------------- */

static void put_source(struct buf *out, const struct audit_source *source)
{
	buf_puts(out, ",\"key\":");
	put_text(out, source->key);
	buf_puts(out, ",\"client\":");
	put_peer(out, source->peer);
	buf_puts(out, ",\"forwarded_for\":");
	put_header(out, source->forwarded_for);
	buf_puts(out, ",\"request_id\":");
	put_header(out, source->request_id);
}

void audit_url_line_write(const struct audit_url_entry *entry, int64_t now,
			  struct buf *out)
{
	char when[RFC3339_TEXT_MAX];

	buf_printf(out, "{\"time\":\"%s\",\"action\":\"%s\"",
		   rfc3339_format(now, when),
		   entry->blocked ? "url_blocked" : "url_lifted");
	put_source(out, entry->source);
	buf_puts(out, ",\"account\":");
	put_text(out, entry->account);
	buf_puts(out, ",\"url\":");
	if (*entry->url)
		put_url(out, entry->url);
	else
		buf_puts(out, "null");
	buf_puts(out, ",\"url_id\":");
	put_text(out, entry->id);
	buf_puts(out, "}\n");
}

void audit_line_write(enum audit_action action, const struct audit_entry *entry,
		      int64_t now, struct buf *out)
{
	static const char *const actions[] = {
		[AUDIT_CREATED] = "created",
		[AUDIT_CHANGED] = "changed",
		[AUDIT_DELETED] = "deleted",
		[AUDIT_RESTORED] = "restored",
	};
	const Shortloop__Link *link =
		entry->after ? entry->after : entry->before;
	char when[RFC3339_TEXT_MAX];

	buf_printf(out, "{\"time\":\"%s\",\"action\":\"%s\"",
		   rfc3339_format(now, when), actions[action]);
	put_source(out, entry->source);
	buf_puts(out, ",\"code\":");
	put_text(out, entry->code);
	buf_printf(out,
		   ",\"link_id\":\"%" PRIu64 "\",\"space\":", link->link_id);
	put_text(out, entry->space);
	buf_puts(out, ",\"owner\":");
	put_text(out, link->owner);
	buf_puts(out, ",\"account\":");
	put_text(out, link->account);
	buf_puts(out, ",\"changes\":{");
	put_changes(out, entry);
	buf_puts(out, "}}\n");
}
