#include "allocator/filter/link_filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clickhouse/host_filter.h"
#include "common/clock.h"
#include "common/keys/key_access.h"
#include "linkstore/target.h"
#include "linkstore/visit/link_hosts.h"

/* --- query string --------------------------------------------------------- */

static int set_text(const char **text, const struct url_param *param,
		    struct error *err)
{
	(void)err;
	*text = param->value;
	return 0;
}

static int set_host(struct link_filter *f, const struct url_param *param,
		    struct error *err)
{
	const char *text = f->host;

	if (listed_domain_normalise(param->value, f->host, err) < 0)
		return error_wrap(err, "url_host");
	f->hosts = domain_list_of(&text, 1, err);
	return f->hosts ? 0 : -1;
}

/* Reads a day, or an instant. */
static int read_instant(const char *text, size_t len, int64_t *ret,
			struct error *err)
{
	char instant[RFC3339_TEXT_MAX];

	if (len == strlen("2026-11-01"))
		snprintf(instant, sizeof(instant), "%.*sT00:00:00Z", (int)len,
			 text);
	else
		snprintf(instant, sizeof(instant), "%.*s", (int)len, text);
	return rfc3339_parse(instant, ret, err);
}

static int set_created(struct link_filter *f, const struct url_param *param,
		       struct error *err)
{
	const char *dots = strstr(param->value, "..");

	if (dots &&
	    read_instant(param->value, (size_t)(dots - param->value), &f->from,
			 err) == 0 &&
	    read_instant(dots + 2, strlen(dots + 2), &f->to, err) == 0 &&
	    f->from >= 0 && f->from < f->to)
		return 0;
	return error_set(err, ERROR_INPUT,
			 "created: expected two days or instants, the second "
			 "of which is after the range, such as "
			 "2026-11-01..2026-11-08");
}

static int set_after(struct link_filter *f, const struct url_param *param,
		     struct error *err)
{
	if (strlen(param->value) >= ALIAS_TEXT_MAX)
		return error_set(err, ERROR_INPUT,
				 "after: expected the last code that was "
				 "answered");
	f->after = param->value;
	return 0;
}

static int read_filter(struct link_filter *f, const struct url_param *param,
		       struct error *err)
{
	if (!strcmp(param->key, "account"))
		return set_text(&f->account, param, err);
	if (!strcmp(param->key, "owner"))
		return set_text(&f->owner, param, err);
	if (!strcmp(param->key, "campaign"))
		return set_text(&f->campaign, param, err);
	if (!strcmp(param->key, "domain"))
		return set_text(&f->domain, param, err);
	if (!strcmp(param->key, "tag"))
		return set_text(&f->tag, param, err);
	if (!strcmp(param->key, "url_host"))
		return set_host(f, param, err);
	if (!strcmp(param->key, "created"))
		return set_created(f, param, err);
	if (!strcmp(param->key, "after"))
		return set_after(f, param, err);
	return error_set(err, ERROR_INPUT,
			 "%.64s: is not a parameter of this resource; these "
			 "are: account, owner, campaign, domain, tag, "
			 "url_host, created, after, dry_run, answer",
			 param->key);
}

static int read_param(struct link_filter *f, size_t i,
		      struct edit_options *options, struct error *err)
{
	const struct url_param *param = &f->params.items[i];
	int read;

	for (size_t j = 0; j < i; j++)
		if (!strcmp(f->params.items[j].key, param->key))
			return error_set(err, ERROR_INPUT,
					 "%.64s: is given twice", param->key);
	read = edit_options_read(options, param, err);
	if (read)
		return read < 0 ? -1 : 0;
	return read_filter(f, param, err);
}

static bool has_filter(const struct link_filter *f)
{
	return f->account || f->owner || f->campaign || f->domain || f->tag ||
	       f->hosts || f->to;
}

/* --- caller --------------------------------------------------------------- */

static int set_bounds(struct link_filter *f, const struct api_key_info *caller,
		      struct error *err)
{
	const struct key_bounds bounds = key_change_bounds_of(caller);

	f->bound_account = bounds.account;
	f->bound_owners = bounds.owners;
	if (f->account && bounds.account &&
	    strcmp(f->account, bounds.account) != 0)
		return error_set(err, ERROR_NOT_OWNER,
				 "account: it takes an API key with the role "
				 "'admin' to edit links of another account");
	if (f->owner && !bounds.account && !f->account)
		return error_set(err, ERROR_INPUT,
				 "owner: expected one account=NAME beside it, "
				 "since an owner is one of an account");
	if (f->owner && !key_names_have(bounds.owners, f->owner))
		return error_set(err, ERROR_NOT_OWNER,
				 "owner: this API key may not write for it");
	return 0;
}

int link_filter_parse(struct link_filter *f, struct http_slice query,
		      const struct api_key_info *caller,
		      struct edit_options *options, struct error *err)
{
	*f = (struct link_filter){.after = ""};
	if (url_params_parse(&f->params, query, err) < 0)
		return -1;
	for (size_t i = 0; i < f->params.count; i++)
		if (read_param(f, i, options, err) < 0)
			return -1;
	if (!has_filter(f))
		return error_set(
			err, ERROR_INPUT,
			"a filter is needed: account, owner, campaign, domain, "
			"tag, url_host or created; edits of single links are "
			"sent as application/x-ndjson");
	return set_bounds(f, caller, err);
}

void link_filter_release(struct link_filter *f)
{
	url_params_free(&f->params);
	domain_list_free(f->hosts);
}

/* --- links ---------------------------------------------------------------- */

static bool text_matches(const char *wanted, const char *text)
{
	return !wanted || !strcmp(wanted, text ? text : "");
}

static bool has_tag(const struct link_filter *f, const Shortloop__Link *link)
{
	for (size_t i = 0; f->tag && i < link->n_tags; i++)
		if (!strcmp(link->tags[i], f->tag))
			return true;
	return !f->tag;
}

static bool was_created_then(const struct link_filter *f,
			     const Shortloop__Link *link)
{
	return !f->to || (link->created_ms >= (uint64_t)f->from &&
			  link->created_ms < (uint64_t)f->to);
}

bool link_filter_matches(const struct link_filter *f,
			 const Shortloop__Link *link)
{
	return text_matches(f->account, link->account) &&
	       text_matches(f->owner, link->owner) &&
	       text_matches(f->campaign, link->campaign) &&
	       text_matches(f->domain, link->domain) && has_tag(f, link) &&
	       was_created_then(f, link) &&
	       (!f->hosts || link_leads_to(link, f->hosts));
}

/* --- SQL ------------------------------------------------------------------ */

/* The links of the caller's owners; a name has no byte below a space, so a
 * newline separates names. */
static const char is_of_owners_sql[] =
	" AND has(splitByChar('\\n', {bound_owners:String}), owner)";

static const char was_created_sql[] =
	" AND created_at >= fromUnixTimestamp64Milli({created_from:Int64}, "
	"'UTC') AND created_at < fromUnixTimestamp64Milli({created_to:Int64}, "
	"'UTC')";

void link_filter_put_sql(const struct link_filter *f, struct buf *sql)
{
	buf_puts(sql, f->deleted ? "state = 'deleted'"
				 : "state NOT IN ('deleted', 'forgotten')");
	if (f->bound_account)
		buf_puts(sql, " AND account = {bound_account:String}");
	if (f->bound_owners)
		buf_puts(sql, is_of_owners_sql);
	if (f->account)
		buf_puts(sql, " AND account = {account:String}");
	if (f->owner)
		buf_puts(sql, " AND owner = {owner:String}");
	if (f->campaign)
		buf_puts(sql, " AND campaign = {campaign:String}");
	if (f->domain)
		buf_puts(sql, " AND domain = {domain:String}");
	if (f->tag)
		buf_puts(sql, " AND has(tags, {tag:String})");
	if (f->hosts)
		buf_printf(sql, " AND %s AND %s",
			   host_filter_narrowing(f->host),
			   host_filter_condition(f->host));
	if (f->to)
		buf_puts(sql, was_created_sql);
}

/* Adds a parameter; NULL: none. */
static void add_text(struct link_filter_params *p, const char *name,
		     const char *text)
{
	struct buf *escaped = &p->texts[p->count];

	if (!text)
		return;
	clickhouse_escape(escaped, text, strlen(text));
	p->items[p->count++] =
		(struct clickhouse_param){name, buf_cstr(escaped)};
}

static void add_number(struct link_filter_params *p, const char *name,
		       int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, number);
	add_text(p, name, text);
}

static void add_owners(struct link_filter_params *p,
		       const struct key_names *owners)
{
	struct buf list = {0};
	const char *name = NULL, *first = key_names_next(owners, NULL);

	while ((name = key_names_next(owners, name)))
		buf_printf(&list, "%s%s", name == first ? "" : "\n", name);
	add_text(p, "param_bound_owners", buf_cstr(&list));
	p->texts[0].failed |= list.failed;
	buf_free(&list);
}

static void add_host(struct link_filter_params *p, const char *host)
{
	struct buf *names = &p->texts[p->count];

	host_filter_put_names(names, host);
	p->items[p->count++] = (struct clickhouse_param){
		"param_url_host_domains", buf_cstr(names)};
	add_text(p, "param_url_host", host);
}

int link_filter_fill(struct link_filter_params *p, const struct link_filter *f,
		     const char *after, struct error *err)
{
	bool failed = false;

	*p = (struct link_filter_params){0};
	add_text(p, "param_after", after);
	add_text(p, "param_bound_account", f->bound_account);
	if (f->bound_owners)
		add_owners(p, f->bound_owners);
	add_text(p, "param_account", f->account);
	add_text(p, "param_owner", f->owner);
	add_text(p, "param_campaign", f->campaign);
	add_text(p, "param_domain", f->domain);
	add_text(p, "param_tag", f->tag);
	if (f->hosts)
		add_host(p, f->host);
	if (f->to) {
		add_number(p, "param_created_from", f->from);
		add_number(p, "param_created_to", f->to);
	}
	for (size_t i = 0; i < p->count; i++)
		failed |= p->texts[i].failed;
	return failed ? error_set_nomem(err) : 0;
}

void link_filter_params_release(struct link_filter_params *p)
{
	for (size_t i = 0; i < LINK_FILTER_PARAMS; i++)
		buf_free(&p->texts[i]);
}
