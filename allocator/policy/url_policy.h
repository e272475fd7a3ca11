/*
 * url_policy.h - checks where a short link may lead.
 *
 * A URL must have
 *  - the scheme http or https, or an app scheme that the configuration lists;
 *  - at most LINK_URL_MAX bytes as a URI, no blanks or control characters, no
 *    invisible characters (common/unseen.h), and no backslash where a browser
 *    would take it for something else;
 *  - no user and password, unless they are allowed;
 *  - none of our own hosts, whatever the port and path, since that is a
 *    loop; if base_url says localhost, every name of this machine is ours;
 *  - a host that is on the allow list, if there is one, and not on the deny
 *    list, and that no moderator has taken down (linkstore/denied_hosts.h).  A
 *    listed app scheme has no domain and is allowed as it is.
 *
 * Lists are files (common/domain_list.h).  They are read again on
 * request; meanwhile other threads check with the old ones.
 */
#ifndef ALLOCATOR_POLICY_URL_POLICY_H
#define ALLOCATOR_POLICY_URL_POLICY_H

#include <stddef.h>

#include "common/buf.h"
#include "common/config/setting.h"
#include "common/error.h"
#include "common/versions.h"
#include "linkstore/domains.h"

#define LINK_URL_MAX 8192 /* bytes */

/* Part of the settings of section `allocator`. */
struct url_policy_config {
	struct setting_strings schemes; /* in addition to http and https */
	bool credentials;
	char *ip_hosts;	  /* "allow", "refuse" */
	char *allow_file; /* NULL: all that are not denied */
	char *deny_file;  /* NULL: nothing is denied */
};

extern const char *const url_ip_hosts_choices[];

/* Refuses texts that are not schemes, and schemes that run or read things on
 * the visitor's machine (javascript, data, file...) with ERROR_CONFIG. */
int url_policy_config_check(const struct url_policy_config *config,
			    struct error *err);

struct url_policy;

/* `config` must be valid; its texts and `domains` must outlive the policy.  The
 * host of `base_url` (NULL: none) is ours, like the hosts of the domains.
 * Reads the lists. */
struct url_policy *url_policy_new(const struct url_policy_config *config,
				  const struct domains *domains,
				  const char *base_url, struct error *err);
void url_policy_free(struct url_policy *policy); /* NULL accepted */

/* Returns the schemes of apps that links may have beside those of the web
 * (common/url_scheme.h). */
const struct setting_strings *
url_policy_app_schemes(const struct url_policy *policy);

/* Sets the denied hosts, which are refused from now on, too: `versions` of
 * linkstore/denied_hosts_follower.h, which must outlive the policy's checks.
 * Called before other threads check. */
void url_policy_follow(struct url_policy *policy, struct versions *denied);
/* Returns what it follows; NULL: nothing. */
struct versions *url_policy_denied_hosts(const struct url_policy *policy);

/* Reads both lists again.  On failure the present ones stay. */
int url_policy_reload(struct url_policy *policy, struct error *err);

/* Counts the domains on the lists.  Thread-safe. */
void url_policy_count(struct url_policy *policy, size_t *ret_allowed,
		      size_t *ret_denied);

/*
 * Checks whether a link may lead to this URL.  If so, ret_normalised is the URL
 * to store.  It replaces the contents of the buffer and ends with a NUL that
 * its length does not count.  Scheme and host are in lower case, the host as
 * A-labels or as a plain address, without a trailing dot or an empty port.
 * Characters that are not allowed in a URI are percent-encoded (common/uri.h);
 * the rest is as given.
 *
 * ERROR_INPUT says what is wrong, without the field's name: "the host ...".
 * Thread-safe.
 */
int url_policy_check(struct url_policy *policy, const char *url, size_t len,
		     struct buf *ret_normalised, struct error *err);

/* The same for a URL that opens an app: its scheme must be listed and not be
 * intent, which wraps other URLs. */
int url_policy_check_app(struct url_policy *policy, const char *url, size_t len,
			 struct buf *ret_normalised, struct error *err);

/* The same for a URL that has to be https. */
int url_policy_check_https(struct url_policy *policy, const char *url,
			   size_t len, struct buf *ret_normalised,
			   struct error *err);

#endif
