/* GET /v1/options: what a form for new links needs to know. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/handlers.h"
#include "allocator/api/place_lists.h"
#include "allocator/link/link_choices.h"
#include "common/clock.h"
#include "common/http/encoding.h"
#include "common/keys/key_access.h"
#include "common/url_scheme.h"
#include "linkstore/link/names.h"

#define TAG_MAX 24 /* quotes, 16 digits and the NUL */

/* --- TTL classes ---------------------------------------------------------- */

/* Returns the default domain if the caller may use it. */
static const struct link_domain *own_default(const struct api_call *call)
{
	const struct link_domain *domain =
		domains_default(call->api->defaults->rules.domains);

	return domain && !domain->paused &&
			       key_may_use_domain(call->caller,
						  domain->accounts, true)
		       ? domain
		       : NULL;
}

/* Returns the name of the space of a link that names neither space nor domain
 * nor code; NULL: the caller may use none. */
static const char *space_of_class(const struct api_call *call,
				  const struct link_class *class)
{
	const struct link_fields fields = {
		.ttl = class, .code = "", .domain = own_default(call)};
	const struct link_space *space =
		link_defaults_space(call->api->defaults, &fields, call->caller);

	return space ? space->name : NULL;
}

static void put_class(struct buf *out, const struct api_call *call,
		      const struct link_class *class)
{
	buf_puts(out, "{\"name\":");
	place_lists_put_name(out, class->name);
	buf_puts(out, ",\"ms\":");
	if (class->ttl == DURATION_NEVER)
		buf_puts(out, "null");
	else
		buf_put_uint(out, (uint64_t) class->ttl);
	buf_puts(out, ",\"allowed\":");
	buf_puts(out, account_rules_allow_ttl(call->caller->rules, class->name)
			      ? "true"
			      : "false");
	buf_puts(out, ",\"space\":");
	place_lists_put_name(out, space_of_class(call, class));
	buf_putc(out, '}');
}

static void put_classes(struct buf *out, const struct api_call *call)
{
	const struct linkstore *store = call->api->defaults->rules.store;

	buf_puts(out, "{\"ttl\":[");
	for (size_t i = 0; i < linkstore_class_count(store); i++) {
		buf_puts(out, i ? "," : "");
		put_class(out, call, linkstore_class(store, i));
	}
	buf_putc(out, ']');
}

/* --- values and limits ---------------------------------------------------- */

static void put_schemes(struct buf *out, const struct url_policy *urls)
{
	const struct setting_strings *apps = url_policy_app_schemes(urls);

	buf_puts(out, ",\"url_schemes\":[");
	for (size_t i = 0; url_web_schemes[i]; i++) {
		buf_puts(out, i ? "," : "");
		place_lists_put_name(out, url_web_schemes[i]);
	}
	for (size_t i = 0; i < apps->count; i++) {
		buf_putc(out, ',');
		place_lists_put_name(out, apps->items[i]);
	}
	buf_putc(out, ']');
}

static void put_choices(struct buf *out)
{
	buf_puts(out, ",\"redirect_status\":[");
	for (size_t i = 0; i < LINK_REDIRECT_STATUSES; i++)
		buf_printf(out, "%s%" PRIu32, i ? "," : "",
			   link_redirect_statuses[i]);
	buf_puts(out, "],\"pass_query\":[");
	for (size_t i = 0; i < LINK_QUERY_PASSES; i++)
		buf_printf(out, "%s\"%s\"", i ? "," : "",
			   link_query_pass_name(link_query_passes[i]));
	buf_putc(out, ']');
}

static void put_limits(struct buf *out)
{
	static const struct {
		const char *name;
		int64_t most;
	} limits[] = {
		{"url_bytes", LINK_URL_MAX},
		{"text_bytes", LINK_TEXT_MAX},
		{"description_bytes", LINK_DESCRIPTION_MAX},
		{"tags", LINK_TAGS_MAX},
		{"code_bytes", LINK_ALIAS_MAX},
		{"max_visits", LINK_VISITS_MAX},
		{"batch_line_bytes", BATCH_LINE_MAX},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		buf_printf(out, "%s\"%s\":%" PRId64, i ? "," : ",\"limits\":{",
			   limits[i].name, limits[i].most);
	buf_putc(out, '}');
}

/* Null where a request must name one. */
static void put_defaults(struct buf *out, const struct api_call *call)
{
	const struct link_domain *domain = own_default(call);
	const struct link_class *ttl = call->api->defaults->ttl;

	if (ttl && !account_rules_allow_ttl(call->caller->rules, ttl->name))
		ttl = NULL;
	buf_puts(out, ",\"defaults\":{\"ttl\":");
	place_lists_put_name(out, ttl ? ttl->name : NULL);
	buf_puts(out, ",\"space\":");
	place_lists_put_name(out, ttl ? space_of_class(call, ttl) : NULL);
	buf_puts(out, ",\"domain\":");
	place_lists_put_name(out, domain ? domain->name : NULL);
	buf_printf(out, ",\"redirect_status\":%d,\"pass_query\":\"%s\"}",
		   LINK_REDIRECT_STATUS,
		   link_query_pass_name(link_query_passes[0]));
}

/* --- the answer ----------------------------------------------------------- */

static void reply_options(struct http_request *req, const struct buf *out)
{
	char tag[TAG_MAX];
	const struct http_field fields[] = {
		{"Content-Type", "application/json"},
		{"ETag", tag},
		/* Each key has its own answer. */
		{"Cache-Control", "private, no-cache"},
		{"Vary", "Authorization"},
		{0}};

	snprintf(tag, sizeof(tag), "\"%016" PRIx64 "\"",
		 (uint64_t)XXH3_64bits(out->data, out->len));
	if (encoding_etag_matches(http_header_get(req, "If-None-Match"), tag))
		http_reply(req, 304, fields + 1, NULL, 0);
	else
		http_reply(req, 200, fields, out->data, out->len);
}

void handle_options(const struct api_call *call)
{
	const struct link_rules *rules = &call->api->defaults->rules;
	struct buf *out = &call->api->answer;

	buf_reset(out);
	put_classes(out, call);
	buf_puts(out, ",\"spaces\":");
	place_lists_put_spaces(out, rules->store, call->caller);
	buf_puts(out, ",\"domains\":");
	place_lists_put_domains(out, rules, call->caller);
	put_schemes(out, rules->urls);
	put_choices(out);
	put_limits(out);
	put_defaults(out, call);
	buf_putc(out, '}');
	if (out->failed)
		http_reply_problem(call->req, 500, NULL, "out of memory");
	else
		reply_options(call->req, out);
}
