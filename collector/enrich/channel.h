/* channel.h - the channel of a visit: the referrer's, unless its campaign says
 * better. */
#ifndef COLLECTOR_ENRICH_CHANNEL_H
#define COLLECTOR_ENRICH_CHANNEL_H

#include "collector/enrich/sources.h"
#include "collector/enrich/utm.h"

/*
 * What was written on the link on purpose counts more than what the browser
 * tells: in this order utm_medium (email, cpc, social, qr ...), the mark of an
 * advertiser (gclid: paid), utm_source where it is a site that is known, the
 * referrer's channel; the mark of a network (fbclid: social) where that is
 * direct or unknown.
 *
 * Beside those of referrer.h: paid | display | affiliate | sms | push |
 * offline.
 */
const char *channel_of_visit(const struct utm *utm, const char *by_referrer,
			     const struct sources *sources);

#endif
