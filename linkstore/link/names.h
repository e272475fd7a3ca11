/* names.h - the names of a link record's values in the API, the audit and the
 * archive. */
#ifndef LINKSTORE_LINK_NAMES_H
#define LINKSTORE_LINK_NAMES_H

#include <stdint.h>

#include "schemas/link.pb-c.h"

/* "live", "deleted", "blocked", "paused"; "unknown" for a state of a later
 * version. */
const char *link_state_name(Shortloop__LinkState state);

/* "default", "ios", "android", "wechat"; "unknown" for a device of a later
 * version. */
const char *link_device_name(Shortloop__Device device);

/* "single", "batch"; "unknown" for a value of a later version. */
const char *link_source_name(Shortloop__LinkSource source);

/* "none", "add", "override"; "unknown" for a value of a later version. */
const char *link_query_pass_name(Shortloop__QueryPass pass);

/* The status of a link that names none: its record has 0. */
#define LINK_REDIRECT_STATUS 302

/* Returns the status that a record's redirect_status stands for. */
uint32_t link_redirect_status(uint32_t recorded);

#endif
