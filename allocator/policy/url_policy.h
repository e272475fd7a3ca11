/*
 * url_policy.h - where a short link may lead.
 *
 *  - http and https, and app schemes that the configuration lists;
 *  - at most LINK_URL_MAX bytes as a URI, no blanks or control characters,
 * nothing that draws nothing (common/unseen.h), no backslashes where a browser
 * would take them for something else;
 *  - no user and password, unless allowed;
 *  - not to one of our own hosts, whatever the port and path: that is a loop;
 *    where base_url says localhost, all that a machine calls itself is ours;
 *  - a host that is on the allow list, if there is one, and not on the deny
 *    list.  A listed app scheme has no domain and is allowed as it is.
 *
 * Lists are files (allocator/policy/domain_list.h), read again on request while
 * other threads go on checking with the old ones.
 */
#ifndef ALLOCATOR_POLICY_URL_POLICY_H
#define ALLOCATOR_POLICY_URL_POLICY_H

#include <stddef.h>

#include "common/buf.h"
#include "common/config/setting.h"
#include "common/error.h"
#include "linkstore/domains.h"

#define LINK_URL_MAX 8192 /* bytes */

/* Among the settings of section `allocator`. */
struct url_policy_config {
	struct setting_strings schemes; /* beside http and https */
	bool credentials;
	char *ip_hosts;	  /* "allow", "refuse" */
	char *allow_file; /* NULL: everything that is not denied */
	char *deny_file;  /* NULL: nothing is denied */
};

extern const char *const url_ip_hosts_choices[];

/* Refuses schemes that are none, or that run or read things on the visitor's
 * machine (javascript, data, file...).  ERROR_CONFIG. */
int url_policy_config_check(const struct url_policy_config *config,
			    struct error *err);

struct url_policy;

/* `config` must be valid; its texts and `domains` must outlive the policy.  The
 * host of `base_url` (NULL: none) is ours like those of the domains.  Reads the
 * lists. */
struct url_policy *url_policy_new(const struct url_policy_config *config,
				  const struct domains *domains,
				  const char *base_url, struct error *err);
void url_policy_free(struct url_policy *policy); /* NULL accepted */

/* Reads both lists again, beside the present ones; on failure those stay. */
int url_policy_reload(struct url_policy *policy, struct error *err);

/* Domains on the lists; from any thread. */
void url_policy_count(struct url_policy *policy, size_t *ret_allowed,
		      size_t *ret_denied);

/*
 * May a link lead to this URL?  Then ret_normalised is the URL to store, in
 * place of what was in the buffer and followed by a NUL that its length does
 * not count: scheme and host in lower case, the host as A-labels or as a plain
 * address, without a dot or an empty port behind; what may not stand in a URI
 * is percent-encoded (common/uri.h), all else as given.
 *
 * ERROR_INPUT says what is wrong, without the field's name: "the host ...".
 * From any thread.
 */
int url_policy_check(struct url_policy *policy, const char *url, size_t len,
		     struct buf *ret_normalised, struct error *err);

/* The same of a URL that opens an app: of a listed scheme, and not intent,
 * which wraps others. */
int url_policy_check_app(struct url_policy *policy, const char *url, size_t len,
			 struct buf *ret_normalised, struct error *err);

/* The same of a URL that has to be https. */
int url_policy_check_https(struct url_policy *policy, const char *url,
			   size_t len, struct buf *ret_normalised,
			   struct error *err);

#endif
