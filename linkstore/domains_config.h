/* domains_config.h - section `domains` of the configuration */
#ifndef LINKSTORE_DOMAINS_CONFIG_H
#define LINKSTORE_DOMAINS_CONFIG_H

#include <stdbool.h>

#include "common/config/setting.h"
#include "common/error.h"
#include "common/host.h"
#include "linkstore/links_config.h"

#define DOMAIN_NAME_MAX 65 /* with its NUL */

struct domain_config {
	char *name; /* the name that links store */
	struct setting_strings hosts;
	char *scheme;		       /* "https", "http" */
	char *base_url;		       /* NULL: the scheme and the first host */
	char *fallback_url;	       /* NULL: redirector.fallback_url */
	struct setting_strings spaces; /* names; empty: all */
	/* Names, or "*"; empty: admins only, but all for the default domain. */
	struct setting_strings accounts;
	/* Paths of files that redirectors serve; NULL: none. */
	char *apple_app_site_association, *assetlinks, *robots_txt;
	char *x_robots_tag; /* a header's value; NULL: none */
	bool paused;	    /* its links answer as paused ones do */
};

struct domains_config {
	char *file;		  /* replaces the settings below; NULL: none */
	bool shared;		  /* Redis comes before file and settings */
	char *base_url;		  /* the start of short URLs without domains */
	char *default_domain;	  /* a name; NULL: the first */
	struct setting_list list; /* domain_config */
};

extern const struct setting_section domains_section; /* "domains" */

/* Runs the checks that need more than one setting: names and hosts that are
 * used once, spaces that exist (`links` NULL: not checked), a base_url with one
 * of the domain's own hosts.  Sets ERROR_CONFIG. */
int domains_config_validate(const struct domains_config *config,
			    const struct links_config *links,
			    struct error *err);

/* Reads and validates a domains.file, which has only the section `domains`
 * without `file`, `shared` and
 * `base_url`.  Release *ret_config also after a failure. */
int domains_config_load(const char *path, const struct links_config *links,
			struct domains_config *ret_config, struct error *err);
/* The same for a text, which must not be empty; messages call it `name`. */
int domains_config_parse(const char *name, const char *text,
			 const struct links_config *links,
			 struct domains_config *ret_config, struct error *err);
void domains_config_release(struct domains_config *config);

/* Returns the text that domains_config_parse reads; the caller frees it.
 * Returns NULL if memory runs out. */
char *domains_config_text(const struct domains_config *config,
			  struct error *err);

/* Checks the start of short URLs: "https://host" or "http://host", with or
 * without a port and a path, and no slash at the end.  It is written into JSON
 * and headers unchanged, so it may have only characters that need no escaping
 * there.  ERROR_CONFIG says what is wrong, without the setting's name. */
int base_url_check(const char *url, struct host *ret_host, struct error *err);

#endif
