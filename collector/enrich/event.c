#include "collector/enrich/event.h"

#include "collector/enrich/wire_range.h"

/* A time after the year 2200 shows a broken clock or a broken message. */
#define TIME_MAX_MS UINT64_C(7258118400000)

static void *allocate_in_arena(void *arg, size_t size)
{
	return arena_alloc(arg, size);
}

static void release_nothing(void *arg, void *memory)
{
	(void)arg; /* the arena is reset as a whole */
	(void)memory;
}

static ProtobufCAllocator allocator_of(struct arena *arena)
{
	return (ProtobufCAllocator){allocate_in_arena, release_nothing, arena};
}

/* Sets the reason why unpacking failed, which protobuf-c does not report. */
static void set_reason(const struct arena *arena, struct error *err)
{
	if (arena->failed)
		error_set_nomem(err);
	else
		error_set(err, ERROR_INPUT, "not a protobuf message");
}

#define FIRST(name, type, left, write)	{#name, type},
#define COLUMN(name, type, left, write) {#name, type},
#define RUN(name, type, left, write)	{#name, type},
static const struct wire_column click_columns[] = {
#include "schemas/click_columns.inc"
	{NULL, NULL}};
#define COLUMN(name, type, left, write) {#name, type},
static const struct wire_column link_columns[] = {
#include "schemas/link_columns.inc"
	{NULL, NULL}};

struct click_decoder *event_decoder_new(struct error *err)
{
	return click_decoder_new(&shortloop__click__descriptor, click_columns,
				 err);
}

static const Shortloop__Click *
decode_or_unpack_click(const struct click_decoder *decoder, struct arena *arena,
		       const void *event, size_t len, struct error *err)
{
	ProtobufCAllocator allocator = allocator_of(arena);
	Shortloop__Click *click = arena_alloc(arena, sizeof(*click));

	if (click && click_decode(decoder, arena, event, len, click))
		return click;
	click = click ? shortloop__click__unpack(&allocator, len, event) : NULL;
	if (!click)
		set_reason(arena, err);
	else if (wire_check_ranges(&shortloop__click__descriptor, click_columns,
				   event, len, "a click", err) < 0)
		return NULL;
	return click;
}

const Shortloop__Click *event_click(const struct click_decoder *decoder,
				    struct arena *arena, const void *event,
				    size_t len, struct error *err)
{
	const Shortloop__Click *click =
		decode_or_unpack_click(decoder, arena, event, len, err);
	size_t ip;

	if (!click)
		return NULL;
	ip = click->client_ip.len;
	if (!click->time_ms || click->time_ms > TIME_MAX_MS) {
		error_set(err, ERROR_INPUT, "not a click: time %llu ms",
			  (unsigned long long)click->time_ms);
		return NULL;
	}
	if (ip != 0 && ip != 4 && ip != 16) {
		error_set(err, ERROR_INPUT,
			  "not a click: a client address of %zu bytes", ip);
		return NULL;
	}
	return click;
}

const Shortloop__LinkEvent *event_link(struct arena *arena, const void *event,
				       size_t len, struct error *err)
{
	ProtobufCAllocator allocator = allocator_of(arena);
	const Shortloop__LinkEvent *e =
		shortloop__link_event__unpack(&allocator, len, event);

	if (!e) {
		set_reason(arena, err);
		return NULL;
	}
	if (!e->time_ms || e->time_ms > TIME_MAX_MS || !e->link || !*e->code) {
		error_set(err, ERROR_INPUT,
			  "not a link event: without time, code or link");
		return NULL;
	}
	if (wire_check_ranges(&shortloop__link_event__descriptor, link_columns,
			      event, len, "a link event", err) < 0)
		return NULL;
	return e;
}
