/*
 * utm.h - the campaign of a visit: the utm_ fields of a query string, in the
 * format of Google's URL builder and of mailing tools.
 */
#ifndef COLLECTOR_ENRICH_UTM_H
#define COLLECTOR_ENRICH_UTM_H

#include <stddef.h>

enum {
	UTM_MAX = 255 /* bytes of a value; a longer one is cut */
};

enum utm_field {
	UTM_SOURCE,
	UTM_MEDIUM,
	UTM_CAMPAIGN,
	UTM_TERM,
	UTM_CONTENT,
	UTM_FIELDS,
};

/* Parameters that advertisers and networks add to links automatically. */
enum utm_mark {
	UTM_MARK_NONE,
	UTM_MARK_PAID,	 /* gclid, msclkid ... */
	UTM_MARK_SOCIAL, /* fbclid, igshid ... */
};

struct utm {
	/* The first value of each field that is not empty; NUL-terminated, but
	 * the bytes are the visitor's and may include NUL. */
	char text[UTM_FIELDS][UTM_MAX + 1];
	size_t len[UTM_FIELDS];
	enum utm_mark mark;
};

/*
 * Reads a query string without its '?'.  Names and values are percent-decoded
 * with '+' as a space; a '%' that starts no escape stays.  Names are compared
 * without regard to case.  A value is cut before the first UTF-8 character that
 * does not fit.
 */
void utm_parse(const char *query, size_t len, struct utm *ret_utm);

#endif
