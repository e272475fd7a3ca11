/* identity.h - what of a space is fixed when it is created, and comparing it.
 * For linkstore/space/ only. */
#ifndef LINKSTORE_SPACE_IDENTITY_H
#define LINKSTORE_SPACE_IDENTITY_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

#include "linkstore/linkstore.h"
#include "linkstore/space/record.h"

#define IDENTITY_FIELDS 6 /* at most */

struct identity_field {
	const char *name; /* NULL: there are no more */
	const char *old;  /* what a record means that was made without it */
	char text[24];
};

void identity_fields(const struct link_space *space,
		     struct identity_field ret_fields[IDENTITY_FIELDS]);

/*
 * Takes from a record how the codes of a hash space are made (NULL: the record
 * does not say, so it is from when there was one way only), unless the
 * configuration rules that out, which comparing the fields finds. ERROR_CONFIG:
 * in a way that is not known here.
 */
int identity_note_hash_codes(const struct link_space *space, const char *has,
			     struct error *err);

/* False when the space has no such key version. */
bool identity_fingerprint(const struct link_space *space, unsigned version,
			  char ret_text[CODE_FINGERPRINT_MAX]);

/* Fills err with ERROR_CONFIG.  Returns -1. */
int identity_differs(const struct link_space *space, const char *field,
		     const char *has, const char *configured,
		     struct error *err);

/* The answer of the script space_read, as space_check promises. */
int identity_check(const redisReply *reply, const struct link_space *space,
		   enum space_use use, struct error *err);

#endif
