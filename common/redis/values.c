#include "common/redis/values.h"

/* An array's length has another type in hiredis 1. */
#if HIREDIS_MAJOR >= 1
typedef size_t array_length;
#else
typedef int array_length;
#endif

/* Never NULL: that would mean that memory has run out. */
static void *hand_out(const redisReadTask *task, struct redis_value value)
{
	struct value_sink *sink = task->privdata;

	if (task->parent && task->parent->parent)
		sink->nested = true;
	else
		sink->fn(sink->arg, task->parent ? (size_t)task->idx : 0,
			 &value);
	return &sink->nobody;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is hiredis' signature */
static void *on_string(const redisReadTask *task, char *text, size_t len)
{
	bool error = task->type == REDIS_REPLY_ERROR;

	return hand_out(task, (struct redis_value){
				      .type = error ? REDIS_VALUE_ERROR
						    : REDIS_VALUE_TEXT,
				      .text = text,
				      .len = len,
			      });
}

static void *on_array(const redisReadTask *task, array_length elements)
{
	struct value_sink *sink = task->privdata;

	(void)elements;
	if (task->parent)
		sink->nested = true;
	return &sink->nobody;
}

static void *on_integer(const redisReadTask *task, long long number)
{
	return hand_out(task, (struct redis_value){.type = REDIS_VALUE_NUMBER,
						   .number = number});
}

static void *on_nil(const redisReadTask *task)
{
	return hand_out(task, (struct redis_value){.type = REDIS_VALUE_NIL});
}

static void on_free(void *object)
{
	(void)object;
}

void values_begin(redisContext *context, struct value_sink *sink)
{
	sink->functions = (redisReplyObjectFunctions){
		.createString = on_string,
		.createArray = on_array,
		.createInteger = on_integer,
		.createNil = on_nil,
		.freeObject = on_free,
	};
	sink->nobody = (redisReply){.type = REDIS_REPLY_NIL};
	sink->before = context->reader->fn;
	context->reader->fn = &sink->functions;
	context->reader->privdata = sink;
}

void values_end(redisContext *context)
{
	struct value_sink *sink = context->reader->privdata;

	context->reader->fn = sink->before;
	context->reader->privdata = NULL;
}
