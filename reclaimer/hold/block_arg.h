/* block_arg.h - blocks on the command line: "42" or "40-49". */
#ifndef RECLAIMER_HOLD_BLOCK_ARG_H
#define RECLAIMER_HOLD_BLOCK_ARG_H

#include <stdint.h>

#include "common/error.h"

/* ERROR_USAGE if `text` is neither, or its range is reversed. */
int block_arg_read(const char *text, uint64_t *ret_first, uint64_t *ret_last,
		   struct error *err);

#endif
