/*
 * utm.h - the campaign a visitor came with: the utm_ fields of a query string,
 * as Google's URL builder and every mailing tool write them.
 */
#ifndef COLLECTOR_ENRICH_UTM_H
#define COLLECTOR_ENRICH_UTM_H

#include <stddef.h>

enum {
	UTM_MAX = 255 /* bytes of a value; longer ones are cut */
};

enum utm_field {
	UTM_SOURCE,
	UTM_MEDIUM,
	UTM_CAMPAIGN,
	UTM_TERM,
	UTM_CONTENT,
	UTM_FIELDS,
};

/* Parameters that advertisers and networks add to links by themselves. */
enum utm_mark {
	UTM_MARK_NONE,
	UTM_MARK_PAID,	 /* gclid, msclkid ... */
	UTM_MARK_SOCIAL, /* fbclid, igshid ... */
};

struct utm {
	/* Of a field's values the first that is not empty; NUL-terminated, but
	 * the bytes are the visitor's: any, a NUL too. */
	char text[UTM_FIELDS][UTM_MAX + 1];
	size_t len[UTM_FIELDS];
	enum utm_mark mark;
};

/*
 * Reads a query string without its '?'.  Names and values are
 * percent-decoded with '+' as a space; a '%' that starts no escape stays. Names
 * are compared without regard to case.  A value is cut before a UTF-8 character
 * that no longer fits.
 */
void utm_parse(const char *query, size_t len, struct utm *ret_utm);

#endif
