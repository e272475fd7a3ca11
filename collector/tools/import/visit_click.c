#include "collector/tools/import/visit_click.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "codespace/path_code.h"
#include "common/drop_const.h"
#include "common/host.h"

enum {
	DOMAIN_MAX = 253,
};

static char *copy_text_to_arena(struct arena *arena, struct access_text t)
{
	char *text = arena_alloc(arena, t.len + 1);

	if (!text)
		return NULL;
	if (t.len)
		memcpy(text, t.data, t.len);
	text[t.len] = '\0';
	return text;
}

static ProtobufCBinaryData copy_bytes(struct arena *arena, struct access_text t)
{
	if (!t.len)
		return (ProtobufCBinaryData){0};
	return (ProtobufCBinaryData){t.len,
				     (uint8_t *)copy_text_to_arena(arena, t)};
}

/* Removes the prefix from the path, except its slash; returns false if the path
 * does not begin with it. */
static bool take_prefix(struct access_text path, const char *prefix,
			struct http_slice *ret_path)
{
	size_t len = strlen(prefix);

	while (len && prefix[len - 1] == '/')
		len--;
	if (path.len < len || memcmp(path.data, prefix, len) != 0)
		return false;
	*ret_path = (struct http_slice){path.data + len, path.len - len};
	return !ret_path->len || *ret_path->data == '/';
}

/* Returns the code of a path; empty for paths to which the redirector answers
 * 404 by their form.  The code may be in `text`. */
static struct http_slice code_of(struct http_slice path, bool pass_path,
				 struct path_text_code *text)
{
	struct http_slice code = path_code(path), rest;

	text->trimmed = false;
	if (!code.len && path_code_in_text(path, true, text))
		code = text->code;
	if (!code.len || text->trimmed)
		return code;
	rest = path_code_rest(path);
	if (!path_code_trims(rest) && !pass_path)
		code.len = 0;
	return code;
}

static Shortloop__Outcome outcome_of(const struct access_visit *v)
{
	switch (v->status) {
	case 404:
		return SHORTLOOP__OUTCOME__OUTCOME_NOT_FOUND;
	case 410:
		return SHORTLOOP__OUTCOME__OUTCOME_EXPIRED;
	case 451:
		return SHORTLOOP__OUTCOME__OUTCOME_BLOCKED;
	default:
		break;
	}
	if (v->unanswered)
		return SHORTLOOP__OUTCOME__OUTCOME_UNSPECIFIED;
	if (v->status && (v->status < 200 || v->status > 399))
		return SHORTLOOP__OUTCOME__OUTCOME_UNSPECIFIED;
	if (access_text_is(v->method, "HEAD"))
		return SHORTLOOP__OUTCOME__OUTCOME_HEAD;
	/* A log without methods contains page requests. */
	if (access_text_is(v->method, "GET") || !v->method.len)
		return SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED;
	return SHORTLOOP__OUTCOME__OUTCOME_UNSPECIFIED;
}

/* Writes the domain as the redirector does: lower case, without the port. */
static char *domain_of(struct arena *arena, struct access_text host)
{
	char *text;

	if (host.len)
		host.len = host_length(host.data, host.len);
	if (host.len > DOMAIN_MAX)
		host.len = 0;
	text = copy_text_to_arena(arena, host);
	for (char *c = text; c && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return text;
}

static void fill_visitor(const struct access_visit *v, struct arena *arena,
			 Shortloop__Click *c)
{
	c->client_ip = copy_bytes(
		arena, (struct access_text){(const char *)v->ip, v->ip_len});
	c->user_agent = copy_bytes(arena, v->user_agent);
	c->referrer = copy_bytes(arena, v->referrer);
	c->accept_language = copy_bytes(arena, v->language);
	c->query = copy_bytes(arena, v->query);
	c->prefetch = copy_text_to_arena(arena, v->purpose);
}

enum visit_kind visit_click(const struct access_visit *visit,
			    const struct visit_rules *rules, uint64_t offset,
			    struct arena *arena, Shortloop__Click *ret_click)
{
	Shortloop__Click *c = ret_click;
	struct path_text_code text;
	struct http_slice path, code;

	if (!visit->path.len)
		return VISIT_NO_REQUEST;
	if (!take_prefix(visit->path, rules->path_prefix, &path))
		return VISIT_ELSEWHERE;
	code = code_of(path, rules->pass_path, &text);
	if (!code.len)
		return VISIT_NO_CODE;
	shortloop__click__init(c);
	c->event_id_high = rules->event_id;
	c->event_id = offset;
	c->time_ms = (uint64_t)visit->time_ms;
	c->edge = drop_const(rules->edge);
	c->code = copy_text_to_arena(arena,
				     (struct access_text){code.data, code.len});
	c->domain = rules->domain ? drop_const(rules->domain)
				  : domain_of(arena, visit->host);
	c->outcome = outcome_of(visit);
	c->status = visit->status;
	fill_visitor(visit, arena, c);
	return arena->failed ? VISIT_NO_MEMORY : VISIT_CLICK;
}
