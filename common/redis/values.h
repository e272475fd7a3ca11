/*
 * values.h - replies read without being kept: for the blocking connection,
 * whose pipelines may have replies by the million.  For common/redis/ only.
 */
#ifndef COMMON_REDIS_VALUES_H
#define COMMON_REDIS_VALUES_H

#include <stdbool.h>

#include "common/redis/redis.h"

/* Where the values of one reply go. */
struct value_sink {
	redis_value_fn *fn;
	void *arg;
	bool nested;	   /* the reply had arrays in an array */
	redisReply nobody; /* stands for every object hiredis asks for */
	redisReplyObjectFunctions functions, *before;
};

/* Makes `context` hand the values of its next reply to the sink; take that
 * reply with redisGetReply, do not free it, and end with values_end. */
void values_begin(redisContext *context, struct value_sink *sink);
void values_end(redisContext *context);

#endif
