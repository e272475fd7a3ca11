/* names.h - how the words of a link record are written, wherever they are
 * shown: the API, the audit and the archive. */
#ifndef LINKSTORE_LINK_NAMES_H
#define LINKSTORE_LINK_NAMES_H

#include "schemas/link.pb-c.h"

/* "live", "deleted", "blocked"; "unknown" for a state of a later version. */
const char *link_state_name(Shortloop__LinkState state);

/* "default", "ios", "android", "wechat"; "unknown" for one of a later version.
 */
const char *link_device_name(Shortloop__Device device);

/* "none", "add", "override"; "unknown" for one of a later version. */
const char *link_query_pass_name(Shortloop__QueryPass pass);

#endif
