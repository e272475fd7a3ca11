/*
 * host_table.h - the virtual hosts in use, which are made anew when the
 * domains are read again.  Each thread uses those that it took last, until
 * it looks again; they are freed when nobody uses them any more.
 */
#ifndef REDIRECTOR_HOST_TABLE_H
#define REDIRECTOR_HOST_TABLE_H

#include <stddef.h>

#include "common/error.h"
#include "common/versions.h"
#include "linkstore/linkstore.h"
#include "redirector/redirector_config.h"
#include "redirector/virtual_host.h"

struct host_table;

/* Reads domains.file, if one is named, and the files that domains name.  Both
 * must outlive the table. */
struct host_table *host_table_new(const struct redirector_config *config,
				  const struct linkstore *store,
				  struct error *err);
/* After all that was taken was given back.  NULL accepted. */
void host_table_free(struct host_table *t);

struct host_reload {
	size_t domains; /* how many there are now */
	struct app_file_rejections files;
};

/*
 * Reads the domains again, as domains_open does; -1: they have a mistake, and
 * those in use stay.  A mistake in a file that a domain names holds up no
 * change of domains: it is in *ret, and the file in use stays.  From one thread
 * at a time.
 */
int host_table_reload(struct host_table *t, const char *shared,
		      struct host_reload *ret, struct error *err);

/* What one thread uses.  Zeroed at first. */
struct host_user {
	struct host_table *table;
	struct versions_user user;
};

/* Those in use now, until the next call or host_table_leave.  On the user's
 * thread; costs nothing while they stay the same. */
const struct virtual_hosts *host_table_use(struct host_user *user);
void host_table_leave(struct host_user *user);

#endif
