/*
 * registrable_domain.h - which part of a host name somebody has registered, by
 * the public suffix list that libpsl was built with: example.co.uk of
 * www.example.co.uk.
 *
 * The list changes with each release.  So what is stored must be found even if
 * it was made by another list.
 */
#ifndef COMMON_REGISTRABLE_DOMAIN_H
#define COMMON_REGISTRABLE_DOMAIN_H

#include <stdbool.h>

#include "common/host.h"

/* Returns the registrable domain, a part of host->text.  It is the whole host
 * if that is an address or a public suffix. */
const char *registrable_domain(const struct host *host);

/* Returns whether names below the host belong to different owners: com, co.uk,
 * github.io.  A name of one label always counts. */
bool is_public_suffix(const struct host *host);

#endif
