/*
 * click_decode.h - decodes a usual Click without protobuf-c.
 *
 * It knows the fields of the message's descriptor, in their usual encoding, and
 * skips others, which redirectors of a later version send.  Anything else (a
 * field of another type or wire type, a number too great, bytes that are no
 * message) is left to protobuf-c, which takes three times as long and decides
 * what a valid message is.
 */
#ifndef COLLECTOR_ENRICH_CLICK_DECODE_H
#define COLLECTOR_ENRICH_CLICK_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/enrich/wire_range.h"
#include "common/arena.h"
#include "common/error.h"
#include "schemas/click.pb-c.h"

/* The table of the message's fields; it does not change, and threads may share
 * it. */
struct click_decoder;

/* `message` is that of Click, and must outlive the decoder; the greatest number
 * of each field is that of its column (wire_range.h). */
struct click_decoder *
click_decoder_new(const ProtobufCMessageDescriptor *message,
		  const struct wire_column *columns, struct error *err);
void click_decoder_free(struct click_decoder *c); /* NULL accepted */

/*
 * If it returns true, *ret_click is what protobuf-c would make of the bytes,
 * without unknown fields.  Its texts are in the arena; its bytes fields point
 * into the event, which must outlive it.
 */
bool click_decode(const struct click_decoder *decoder, struct arena *arena,
		  const void *event, size_t len, Shortloop__Click *ret_click);

#endif
