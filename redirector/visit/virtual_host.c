#include "redirector/visit/virtual_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/uri.h"
#include "linkstore/visit/visit_rule.h"

struct virtual_hosts {
	const struct domains *domains;
	size_t count; /* number of domains */
	bool refuse;
	const struct virtual_host *otherwise; /* for a Host of no domain */
	struct virtual_host items[];	      /* by index of the domain */
};

/* `url` is NULL if there is no fallback. */
static int set_fallback(struct virtual_host *vhost, const char *url,
			struct error *err)
{
	struct buf uri = {0};

	if (!url)
		return 0;
	uri_put(&uri, url, strlen(url));
	if (!buf_cstr(&uri)) {
		buf_free(&uri);
		return error_set_nomem(err);
	}
	vhost->fallback_url = uri.data;
	return 0;
}

/* `tag` is NULL if there is none. */
static int set_robots_line(struct virtual_host *vhost, const char *tag,
			   struct error *err)
{
	if (tag &&
	    asprintf(&vhost->robots_line, "X-Robots-Tag: %s\r\n", tag) < 0) {
		vhost->robots_line = NULL;
		return error_set_nomem(err);
	}
	return 0;
}

static int fill_virtual_host(struct virtual_host *vhost,
			     const struct link_domain *domain,
			     const struct linkstore *store,
			     const char *fallback_url, struct error *err)
{
	size_t spaces = linkstore_space_count(store);

	vhost->name = domain->name;
	vhost->is_default = domain->is_default;
	vhost->is_paused = domain->paused;
	for (size_t i = 0; i < spaces && i < 64; i++) {
		if (domains_allow(domain, linkstore_space(store, i)->name))
			vhost->spaces |= UINT64_C(1) << i;
	}
	if (set_robots_line(vhost, domain->x_robots_tag, err) < 0)
		return -1;
	return set_fallback(vhost,
			    domain->fallback_url ? domain->fallback_url
						 : fallback_url,
			    err);
}

static int fill_all(struct virtual_hosts *hosts, const struct linkstore *store,
		    const char *fallback_url, struct error *err)
{
	hosts->otherwise = &hosts->items[0];
	if (hosts->count == 0) {
		hosts->items[0].spaces = UINT64_MAX;
		return set_fallback(&hosts->items[0], fallback_url, err);
	}
	hosts->otherwise =
		&hosts->items[domains_default(hosts->domains)->index];
	for (size_t i = 0; i < hosts->count; i++) {
		if (fill_virtual_host(&hosts->items[i],
				      domains_at(hosts->domains, i), store,
				      fallback_url, err) < 0)
			return -1;
	}
	return 0;
}

struct virtual_hosts *
virtual_hosts_new(const struct domains *domains, const struct linkstore *store,
		  const struct redirector_settings *settings, struct error *err)
{
	size_t count = domains_count(domains);
	struct virtual_hosts *hosts = calloc(
		1, sizeof(*hosts) + (count + 1) * sizeof(hosts->items[0]));

	if (!hosts) {
		error_set_nomem(err);
		return NULL;
	}
	hosts->domains = domains;
	hosts->count = count;
	hosts->refuse = count && !strcmp(settings->unknown_hosts, "refuse");
	if (fill_all(hosts, store, settings->fallback_url, err) == 0)
		return hosts;
	virtual_hosts_free(hosts);
	return NULL;
}

void virtual_hosts_free(struct virtual_hosts *hosts)
{
	if (!hosts)
		return;
	for (size_t i = 0; i <= hosts->count; i++) {
		free(hosts->items[i].fallback_url);
		free(hosts->items[i].robots_line);
		for (int kind = 0; kind < APP_FILE_KINDS; kind++)
			app_file_release(hosts->items[i].app_files[kind]);
	}
	free(hosts);
}

/* --- files ---------------------------------------------------------------- */

static const char *const file_settings[APP_FILE_KINDS] = {
	[APP_FILE_APPLE] = "apple_app_site_association",
	[APP_FILE_ANDROID] = "assetlinks",
	[APP_FILE_ROBOTS] = "robots_txt",
};

static const char *path_of(const struct link_domain *domain,
			   enum app_file_kind kind)
{
	switch (kind) {
	case APP_FILE_APPLE:
		return domain->apple_app_site_association;
	case APP_FILE_ANDROID:
		return domain->assetlinks;
	case APP_FILE_ROBOTS:
		return domain->robots_txt;
	case APP_FILE_KINDS:
		break;
	}
	return NULL;
}

/* Returns the former file of the domain with that name; NULL: there was
 * none. */
static struct app_file *file_before(const struct virtual_hosts *before,
				    const char *name, enum app_file_kind kind)
{
	for (size_t i = 0; i < before->count; i++)
		if (!strcmp(before->items[i].name, name))
			return app_file_share(before->items[i].app_files[kind]);
	return NULL;
}

static void note_rejected_file(struct app_file_rejections *all,
			       const struct error *why)
{
	if (!all->count++)
		all->first = *why;
}

static int read_file(struct virtual_host *vhost,
		     const struct link_domain *domain, enum app_file_kind kind,
		     const struct virtual_hosts *before,
		     struct app_file_rejections *rejections, struct error *err)
{
	const char *path = path_of(domain, kind);
	struct app_file **file = &vhost->app_files[kind];

	if (!path)
		return 0;
	*file = app_file_load(path, kind, err);
	if (*file)
		return 0;
	error_wrap(err, "domains.list: %s: %s", domain->name,
		   file_settings[kind]);
	if (!before)
		return -1;
	note_rejected_file(rejections, err);
	*file = file_before(before, domain->name, kind);
	return 0;
}

int virtual_hosts_read_files(struct virtual_hosts *hosts,
			     const struct virtual_hosts *before,
			     struct app_file_rejections *ret_rejections,
			     struct error *err)
{
	struct app_file_rejections rejections = {.count = 0};

	for (size_t i = 0; i < hosts->count; i++)
		for (int kind = 0; kind < APP_FILE_KINDS; kind++)
			if (read_file(&hosts->items[i],
				      domains_at(hosts->domains, i),
				      (enum app_file_kind)kind, before,
				      &rejections, err) < 0)
				return -1;
	*ret_rejections = rejections;
	return 0;
}

/* --- finding -------------------------------------------------------------- */

bool virtual_hosts_refuse_some(const struct virtual_hosts *hosts)
{
	return hosts->refuse;
}

bool virtual_hosts_refuse(const struct virtual_hosts *hosts,
			  struct http_slice host)
{
	return hosts->refuse &&
	       !domains_by_host(hosts->domains, host.data, host.len);
}

const struct virtual_host *virtual_hosts_find(const struct virtual_hosts *hosts,
					      struct http_slice host)
{
	const struct link_domain *domain =
		domains_by_host(hosts->domains, host.data, host.len);

	return domain ? &hosts->items[domain->index] : hosts->otherwise;
}

bool virtual_host_shows(const struct virtual_host *vhost,
			struct http_slice host, const struct cached_link *link)
{
	return (vhost->spaces >> link->space & 1) &&
	       visit_rule_shows(vhost->name, vhost->is_default, link->domain,
				host);
}
