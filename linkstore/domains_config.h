/* domains_config.h - section `domains` of the configuration */
#ifndef LINKSTORE_DOMAINS_CONFIG_H
#define LINKSTORE_DOMAINS_CONFIG_H

#include <stdbool.h>

#include "common/config/setting.h"
#include "common/error.h"
#include "common/host.h"
#include "linkstore/config.h"

#define DOMAIN_NAME_MAX 65 /* with its NUL */

struct domain_config {
	char *name; /* what links store */
	struct setting_strings hosts;
	char *scheme;		       /* "https", "http" */
	char *base_url;		       /* NULL: the scheme and the first host */
	char *fallback_url;	       /* NULL: redirector.fallback_url */
	struct setting_strings spaces; /* names; none: all */
	/* Names, or "*"; none: admins only, or all of the default domain. */
	struct setting_strings accounts;
	/* Paths of files that redirectors serve; NULL: none. */
	char *apple_app_site_association, *assetlinks, *robots_txt;
	char *x_robots_tag; /* a header's value; NULL: none */
};

struct domains_config {
	char *file;		  /* has the rest instead; NULL: none */
	bool shared;		  /* and Redis, before both */
	char *default_domain;	  /* a name; NULL: the first */
	struct setting_list list; /* domain_config */
};

extern const struct setting_section domains_section; /* "domains" */

/* What one setting cannot tell: names and hosts that are used once, spaces that
 * exist, URLs that lead to their own domain.  Fills err with ERROR_CONFIG. */
int domains_config_validate(const struct domains_config *config,
			    const struct links_config *links,
			    struct error *err);

/* Reads a file as domains.file, whose section `domains` is all it has, without
 * `file` and `shared`, and validates it.  On failure, too, *ret_config is to be
 * released. */
int domains_config_load(const char *path, const struct links_config *links,
			struct domains_config *ret_config, struct error *err);
/* The same of a text, which is not empty; messages name it `name`. */
int domains_config_parse(const char *name, const char *text,
			 const struct links_config *links,
			 struct domains_config *ret_config, struct error *err);
void domains_config_release(struct domains_config *config);

/* The text that domains_config_parse reads; the caller frees it.  NULL: out of
 * memory. */
char *domains_config_text(const struct domains_config *config,
			  struct error *err);

/* What short URLs may start with: "https://host" or "http://host", with or
 * without a port and a path, and no slash at the end.  It is written into JSON
 * and headers as it is, so it has only what needs no care there.  ERROR_CONFIG
 * says what is wrong, without naming the setting. */
int base_url_check(const char *url, struct host *ret_host, struct error *err);

#endif
