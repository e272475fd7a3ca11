/*
 * watermark.h - `aggregator watermark`: shows what is promised as complete, and
 * lowers it where a clock that was wrong made it promise too much.
 */
#ifndef AGGREGATOR_WATERMARK_H
#define AGGREGATOR_WATERMARK_H

#include "aggregator/aggregator_config.h"
#include "common/app/app.h"
#include "common/error.h"

/*
 * 0: what is promised can be, or was mended; 1: it lies beyond ClickHouse's
 * clock.  With --mend, to what the collectors' reports promise or to --to;
 * ERROR_UNSAFE when there is nothing to mend.
 */
int command_watermark(const struct aggregator_config *config, struct app *app,
		      struct error *err);

#endif
