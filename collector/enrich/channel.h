/* channel.h - the channel of a visit: from its campaign, or else its
 * referrer. */
#ifndef COLLECTOR_ENRICH_CHANNEL_H
#define COLLECTOR_ENRICH_CHANNEL_H

#include "collector/enrich/sources.h"
#include "collector/enrich/utm.h"

/*
 * Parameters that were put on the link on purpose count more than the browser's
 * data.  The order is: utm_medium (email, cpc, social, qr ...), the mark of an
 * advertiser (gclid: paid), utm_source if it is a known site, the referrer's
 * channel; if that is direct or unknown, the mark of a network (fbclid:
 * social).
 *
 * Channels in addition to those of referrer.h: paid | display | affiliate | sms
 * | push | offline.
 */
const char *channel_of_visit(const struct utm *utm, const char *by_referrer,
			     const struct sources *sources);

#endif
