/*
 * click_decode.h - decodes a usual Click without a message descriptor.
 *
 * It knows the fields that redirectors send, in their usual encoding.  Anything
 * else (unknown fields, another wire type, bytes that are no message) is left
 * to protobuf-c, which takes three times as long and decides what a valid
 * message is.
 */
#ifndef COLLECTOR_ENRICH_CLICK_DECODE_H
#define COLLECTOR_ENRICH_CLICK_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "schemas/click.pb-c.h"

/*
 * If it returns true, *ret_click is what protobuf-c would make of the bytes.
 * Its texts are in the arena; its bytes fields point into the event, which must
 * outlive it.
 */
bool click_decode(struct arena *arena, const void *event, size_t len,
		  Shortloop__Click *ret_click);

#endif
