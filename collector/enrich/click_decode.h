/*
 * click_decode.h - the usual Click, decoded without a description of it.
 *
 * Knows the fields that redirectors send, in their usual encoding; anything
 * else (fields not known, another wire type, bytes that are no
 * message) is left to protobuf-c, which takes three times as long and is the
 * judge of what a message is.
 */
#ifndef COLLECTOR_ENRICH_CLICK_DECODE_H
#define COLLECTOR_ENRICH_CLICK_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "schemas/click.pb-c.h"

/*
 * True: *ret_click is what protobuf-c would make of the bytes.  Its texts live
 * in the arena; its bytes fields are those of the event, which must outlive it.
 */
bool click_decode(struct arena *arena, const void *event, size_t len,
		  Shortloop__Click *ret_click);

#endif
