/*
 * event.h - decodes received events into an arena.
 */
#ifndef COLLECTOR_ENRICH_EVENT_H
#define COLLECTOR_ENRICH_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "collector/enrich/click_decode.h"
#include "common/arena.h"
#include "common/error.h"
#include "schemas/click.pb-c.h"
#include "schemas/link.pb-c.h"

/* The position of an event in Kafka. */
struct event_origin {
	uint32_t epoch; /* 0: the setting collector.epoch */
	const char *topic;
	uint32_t partition;
	uint64_t offset;
	int64_t append_ms; /* when Kafka stored it */
};

/* Makes the decoder of clicks whose numbers fit the table's columns. */
struct click_decoder *event_decoder_new(struct error *err);

/*
 * Returns NULL with ERROR_INPUT when the bytes are no Click, or one that no
 * redirector sends (without a time, or with an address of five bytes).  The
 * result is in the arena, and partly in the event's own bytes.
 */
const Shortloop__Click *event_click(const struct click_decoder *decoder,
				    struct arena *arena, const void *event,
				    size_t len, struct error *err);

/* Does the same for a LinkEvent, which must have a time, a code and a link. */
const Shortloop__LinkEvent *event_link(struct arena *arena, const void *event,
				       size_t len, struct error *err);

#endif
