#include "allocator/policy/url_policy.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/domain_list.h"
#include "common/url_parts.h"
#include "linkstore/denied_hosts_follower.h"

struct lists {
	struct domain_list *allow, *deny; /* NULL: there is none */
};

struct url_policy {
	struct url_policy_config config; /* its texts belong to the caller */
	const struct domains *domains;
	struct host base;   /* len 0: none */
	bool base_is_local; /* the host of base_url is a name of this machine */
	bool ip_hosts;
	pthread_rwlock_t lock; /* guards the lists */
	struct lists lists;
	struct versions *denied; /* hosts; NULL: none are followed */
};

const char *const url_ip_hosts_choices[] = {"allow", "refuse", NULL};

/* --- configuration -------------------------------------------------------- */

static int check_scheme(const char *text, struct error *err)
{
	char with_colon[URL_SCHEME_MAX + 1], scheme[URL_SCHEME_MAX] = "";
	size_t len = strlen(text);

	snprintf(with_colon, sizeof(with_colon), "%s:", text);
	if (len >= URL_SCHEME_MAX || strchr(text, ':') ||
	    !url_scheme(with_colon, len + 1, scheme))
		return error_set(err, ERROR_CONFIG,
				 "allocator.url_schemes: '%.40s' is not a "
				 "scheme: expected a name such as weixin, "
				 "without colon and slashes",
				 text);
	if (url_scheme_is_web(scheme))
		return error_set(err, ERROR_CONFIG,
				 "allocator.url_schemes: %s is allowed always",
				 scheme);
	if (url_scheme_is_dangerous(scheme))
		return error_set(err, ERROR_CONFIG,
				 "allocator.url_schemes: %s is never allowed: "
				 "it would run or read things on the visitor's "
				 "machine",
				 scheme);
	return 0;
}

int url_policy_config_check(const struct url_policy_config *config,
			    struct error *err)
{
	for (size_t i = 0; i < config->schemes.count; i++) {
		if (check_scheme(config->schemes.items[i], err) < 0)
			return -1;
	}
	return 0;
}

/* --- lists ---------------------------------------------------------------- */

static void lists_free(struct lists *lists)
{
	domain_list_free(lists->allow);
	domain_list_free(lists->deny);
}

static int load_configured_list(const char *path, const char *setting,
				struct domain_list **ret_list,
				struct error *err)
{
	if (!path)
		return 0;
	*ret_list = domain_list_load(path, err);
	return *ret_list ? 0 : error_wrap(err, "%s", setting);
}

int url_policy_reload(struct url_policy *policy, struct error *err)
{
	const struct url_policy_config *c = &policy->config;
	struct lists fresh = {0}, old;

	if (load_configured_list(c->allow_file, "allocator.url_allow_file",
				 &fresh.allow, err) < 0 ||
	    load_configured_list(c->deny_file, "allocator.url_deny_file",
				 &fresh.deny, err) < 0) {
		lists_free(&fresh);
		return -1;
	}
	pthread_rwlock_wrlock(&policy->lock);
	old = policy->lists;
	policy->lists = fresh;
	pthread_rwlock_unlock(&policy->lock);
	lists_free(&old);
	return 0;
}

void url_policy_count(struct url_policy *policy, size_t *ret_allowed,
		      size_t *ret_denied)
{
	const struct lists *lists = &policy->lists;

	pthread_rwlock_rdlock(&policy->lock);
	*ret_allowed = lists->allow ? domain_list_count(lists->allow) : 0;
	*ret_denied = lists->deny ? domain_list_count(lists->deny) : 0;
	pthread_rwlock_unlock(&policy->lock);
}

static bool ends_with(const struct host *host, const char *end)
{
	size_t len = strlen(end);

	return host->len >= len &&
	       !memcmp(host->text + host->len - len, end, len);
}

/* The names of the machine itself: RFC 6761 (localhost), RFC 1122 (127/8), and
 * the unspecified addresses, which connect to it, too. */
static bool is_local(const struct host *host)
{
	switch (host->kind) {
	case HOST_IPV4:
		return !strncmp(host->text, "127.", 4) ||
		       !strncmp(host->text, "0.", 2);
	case HOST_IPV6:
		return !strcmp(host->text, "[::1]") ||
		       !strcmp(host->text, "[::]");
	case HOST_NAME:
		break;
	}
	return !strcmp(host->text, "localhost") ||
	       ends_with(host, ".localhost");
}

struct url_policy *url_policy_new(const struct url_policy_config *config,
				  const struct domains *domains,
				  const char *base_url, struct error *err)
{
	struct url_policy *policy = calloc(1, sizeof(*policy));
	struct url_parts parts;

	if (!policy) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_rwlock_init(&policy->lock, NULL);
	policy->config = *config;
	policy->domains = domains;
	policy->ip_hosts = strcmp(config->ip_hosts, "refuse") != 0;
	if (base_url) {
		if (url_parts_read(&parts, base_url, strlen(base_url), err) <
		    0) {
			err->code = ERROR_CONFIG;
			error_wrap(err, "domains.base_url");
			goto fail;
		}
		policy->base = parts.host;
		policy->base_is_local = is_local(&parts.host);
	}
	if (url_policy_reload(policy, err) == 0)
		return policy;
fail:
	url_policy_free(policy);
	return NULL;
}

void url_policy_free(struct url_policy *policy)
{
	if (!policy)
		return;
	pthread_rwlock_destroy(&policy->lock);
	lists_free(&policy->lists);
	free(policy);
}

const struct setting_strings *
url_policy_app_schemes(const struct url_policy *policy)
{
	return &policy->config.schemes;
}

void url_policy_follow(struct url_policy *policy, struct versions *denied)
{
	policy->denied = denied;
}

struct versions *url_policy_denied_hosts(const struct url_policy *policy)
{
	return policy->denied;
}

/* --- check ---------------------------------------------------------------- */

static bool is_listed(const struct url_policy *policy, const char *scheme)
{
	const struct setting_strings *schemes = &policy->config.schemes;

	for (size_t i = 0; i < schemes->count; i++) {
		if (strcasecmp(schemes->items[i], scheme) == 0)
			return true;
	}
	return false;
}

static int refuse_empty(const struct url_parts *parts, struct error *err)
{
	return parts->rest.len
		       ? 0
		       : error_set(err, ERROR_INPUT,
				   "has nothing behind %s:", parts->scheme);
}

static int check_app(const struct url_policy *policy,
		     const struct url_parts *parts, struct error *err)
{
	const struct setting_strings *schemes = &policy->config.schemes;
	struct buf list = {0};
	const char *text;

	if (is_listed(policy, parts->scheme))
		return refuse_empty(parts, err);
	for (size_t i = 0; i < schemes->count; i++)
		buf_printf(&list, ", %s:", schemes->items[i]);
	text = buf_cstr(&list);
	error_set(err, ERROR_INPUT, "must begin with http:// or https://%s",
		  text ? text : "");
	buf_free(&list);
	return -1;
}

/* These URLs are opened from a page of ours, which a visitor trusts. */
static int check_opening(const struct url_policy *policy,
			 const struct url_parts *parts, struct error *err)
{
	if (parts->is_web)
		return error_set(err, ERROR_INPUT,
				 "opens no app: expected a URL with the app's "
				 "scheme, such as myapp://item/7");
	if (!strcmp(parts->scheme, "intent"))
		return error_set(err, ERROR_INPUT,
				 "may lead anywhere, as intent: wraps other "
				 "URLs: give that of the app itself");
	if (!is_listed(policy, parts->scheme))
		return error_set(err, ERROR_INPUT,
				 "the scheme %s is none of those in "
				 "allocator.url_schemes",
				 parts->scheme);
	return refuse_empty(parts, err);
}

static bool is_ours(const struct url_policy *policy, const struct host *host)
{
	if (host->len == policy->base.len &&
	    !memcmp(host->text, policy->base.text, host->len))
		return true;
	if (policy->base_is_local && is_local(host))
		return true;
	return domains_by_host(policy->domains, host->text, host->len);
}

static int check_denied(const struct url_policy *policy,
			const struct host *host, struct error *err)
{
	struct versions_user user = {.of = policy->denied};
	const struct denied_hosts *hosts;
	bool denied;

	if (!policy->denied)
		return 0;
	hosts = versions_use(&user);
	denied = domain_list_has(hosts->list, host);
	versions_leave(&user);
	if (!denied)
		return 0;
	return error_set(err, ERROR_INPUT,
			 "the host %.253s was taken down: links may not lead "
			 "to it",
			 host->text);
}

static int check_lists(struct url_policy *policy, const struct host *host,
		       struct error *err)
{
	const struct lists *lists = &policy->lists;
	bool allowed, denied;

	pthread_rwlock_rdlock(&policy->lock);
	denied = lists->deny && domain_list_has(lists->deny, host);
	allowed = !lists->allow || domain_list_has(lists->allow, host);
	pthread_rwlock_unlock(&policy->lock);
	if (denied)
		return error_set(err, ERROR_INPUT,
				 "the domain %.253s is on the list of those "
				 "that links may not lead to",
				 host->text);
	if (!allowed)
		return error_set(
			err, ERROR_INPUT,
			"the domain %.253s is not on the list of those "
			"that links may lead to",
			host->text);
	return 0;
}

static int check_web(struct url_policy *policy, const struct url_parts *parts,
		     struct error *err)
{
	if (parts->user.len && !policy->config.credentials)
		return error_set(err, ERROR_INPUT,
				 "has a user or a password before its host: "
				 "leave them out, they would be shown to "
				 "every visitor");
	if (parts->host.kind != HOST_NAME && !policy->ip_hosts)
		return error_set(err, ERROR_INPUT,
				 "has the address %.80s for a host: write a "
				 "domain name",
				 parts->host.text);
	if (is_ours(policy, &parts->host))
		return error_set(
			err, ERROR_INPUT,
			"the host %.253s is our own: a short link to a "
			"short link could go round in circles; give "
			"the URL that it leads to",
			parts->host.text);
	if (check_denied(policy, &parts->host, err) < 0)
		return -1;
	return check_lists(policy, &parts->host, err);
}

static int check_length(size_t len, struct error *err)
{
	if (len == 0)
		return error_set(err, ERROR_INPUT, "is empty");
	if (len <= LINK_URL_MAX)
		return 0;
	return error_set(err, ERROR_INPUT,
			 "has %zu bytes, at most %d are allowed", len,
			 LINK_URL_MAX);
}

static int read_parts(struct url_parts *parts, const char *url, size_t len,
		      struct error *err)
{
	if (check_length(len, err) < 0)
		return -1;
	return url_parts_read(parts, url, len, err);
}

/* The URL may have grown: by a host as A-labels, by percent signs. */
static int check_written(const struct buf *uri, struct error *err)
{
	if (uri->failed)
		return error_set_nomem(err);
	if (uri->len <= LINK_URL_MAX)
		return 0;
	return error_set(err, ERROR_INPUT,
			 "has %zu bytes as a URI, where each byte that is not "
			 "of ASCII takes three; at most %d are allowed",
			 uri->len, LINK_URL_MAX);
}

static int normalise_url(const struct url_parts *parts,
			 struct buf *ret_normalised, struct error *err)
{
	struct buf uri = {0};
	int status;

	url_parts_put_normal(parts, &uri);
	status = check_written(&uri, err);
	if (status == 0) {
		buf_reset(ret_normalised);
		buf_append(ret_normalised, uri.data, uri.len);
		if (!buf_cstr(ret_normalised))
			status = error_set_nomem(err);
	}
	buf_free(&uri);
	return status;
}

int url_policy_check(struct url_policy *policy, const char *url, size_t len,
		     struct buf *ret_normalised, struct error *err)
{
	struct url_parts parts;
	int status;

	if (read_parts(&parts, url, len, err) < 0)
		return -1;
	status = parts.is_web ? check_web(policy, &parts, err)
			      : check_app(policy, &parts, err);
	return status < 0 ? -1 : normalise_url(&parts, ret_normalised, err);
}

int url_policy_check_app(struct url_policy *policy, const char *url, size_t len,
			 struct buf *ret_normalised, struct error *err)
{
	struct url_parts parts;

	if (read_parts(&parts, url, len, err) < 0 ||
	    check_opening(policy, &parts, err) < 0)
		return -1;
	return normalise_url(&parts, ret_normalised, err);
}

int url_policy_check_https(struct url_policy *policy, const char *url,
			   size_t len, struct buf *ret_normalised,
			   struct error *err)
{
	struct url_parts parts;

	if (read_parts(&parts, url, len, err) < 0)
		return -1;
	if (strcmp(parts.scheme, "https") != 0)
		return error_set(err, ERROR_INPUT, "must begin with https://");
	if (check_web(policy, &parts, err) < 0)
		return -1;
	return normalise_url(&parts, ret_normalised, err);
}
