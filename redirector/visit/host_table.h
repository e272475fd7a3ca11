/*
 * host_table.h - the virtual hosts in use, which are replaced when the domains
 * are read again.  Each thread uses the set that it took last, until it calls
 * again; a set is freed when no thread uses it any more.
 */
#ifndef REDIRECTOR_VISIT_HOST_TABLE_H
#define REDIRECTOR_VISIT_HOST_TABLE_H

#include <stddef.h>

#include "common/error.h"
#include "common/versions.h"
#include "linkstore/linkstore.h"
#include "redirector/redirector_config.h"
#include "redirector/visit/virtual_host.h"

struct host_table;

/* Reads domains.file, if one is named, and the files that domains name.
 * `config` and `store` must outlive the table. */
struct host_table *host_table_new(const struct redirector_config *config,
				  const struct linkstore *store,
				  struct error *err);
/* Called after every user has left.  NULL accepted. */
void host_table_free(struct host_table *t);

struct host_reload {
	size_t domains; /* number of domains now */
	struct app_file_rejections files;
};

/*
 * Reads the domains again, as domains_open does.  Returns -1 if they have a
 * mistake; then the set in use stays.  A mistake in a file that a domain names
 * does not prevent a change of domains: it is reported in *ret, and the file in
 * use stays.  Only one thread at a time may call this.
 */
int host_table_reload(struct host_table *t, const char *shared,
		      struct host_reload *ret, struct error *err);

/* The state of one thread.  Zeroed at first. */
struct host_user {
	struct host_table *table;
	struct versions_user user;
};

/* Returns the hosts in use now, valid until the next call or host_table_leave.
 * Called on the user's thread; costs nothing while they stay the same. */
const struct virtual_hosts *host_table_use(struct host_user *user);
void host_table_leave(struct host_user *user);

#endif
