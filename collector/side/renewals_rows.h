/*
 * renewals_rows.h - turns the renewals of links (schemas/renewal.proto) into
 * rows of link_ends, of which the greatest end of a link and version is right.
 */
#ifndef COLLECTOR_SIDE_RENEWALS_ROWS_H
#define COLLECTOR_SIDE_RENEWALS_ROWS_H

#include "collector/side/side_kind.h"

/* A record is invalid if its lists are not equally long, are empty or longer
 * than RENEWALS_ROWS_MAX, or have a renewal without link or end. */
extern const struct side_kind renewals_kind;

enum {
	RENEWALS_ROWS_MAX = 10000, /* redirectors send 500 at most */
	RENEWALS_ROW_SIZE = 8 + 4 + 8,
};

#endif
