/*
 * charge.h - is there room for one more link: of Redis, and of its account?
 * For allocator/create/ only.
 */
#ifndef ALLOCATOR_CREATE_CHARGE_H
#define ALLOCATOR_CREATE_CHARGE_H

#include "allocator/create/creation.h"

/* Ends the creation unless its owner and its TTL class are ones that the caller
 * may create links of.  True: they are. */
bool charge_may_begin(struct creation *c, const struct api_key_info *caller);

/* Might a link that is wanted be refused, if it is not there yet? */
bool charge_might_refuse(const struct creation *c);

/* Takes the link out of what its account may store, once; goes on with
 * creation_charged or ends the creation. */
void charge(struct creation *c);

/* The creation ends: gives back what no link was stored for. */
void charge_end(struct creation *c);

#endif
