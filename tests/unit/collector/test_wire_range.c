#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/enrich/event.h"
#include "schemas/click.pb-c.h"
#include "schemas/link.pb-c.h"

/* The range of each column by its table's type: the greatest number in a field
 * of the same name. */
struct column {
	const char *name, *type;
};

#define FIRST(name, type, left, write)	{#name, type},
#define COLUMN(name, type, left, write) {#name, type},
#define RUN(name, type, left, write)	{#name, type},
static const struct column click_columns[] = {
#include "schemas/click_columns.inc"
	{NULL, NULL}};
#undef RUN
#define COLUMN(name, type, left, write) {#name, type},
static const struct column link_columns[] = {
#include "schemas/link_columns.inc"
	{NULL, NULL}};

enum {
	EVENT_MAX = 256,
	CLICK,
	LINK_EVENT
};

struct event {
	uint8_t data[EVENT_MAX];
	size_t len;
};

static void put_varint(struct event *e, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		e->data[e->len++] = (uint8_t)(value | 0x80);
	e->data[e->len++] = (uint8_t)value;
}

static void put_number(struct event *e, unsigned field, uint64_t value)
{
	put_varint(e, (uint64_t)field << 3);
	put_varint(e, value);
}

static void put_message(struct event *e, unsigned field,
			const struct event *inner)
{
	put_varint(e, (uint64_t)field << 3 | 2);
	put_varint(e, inner->len);
	memcpy(&e->data[e->len], inner->data, inner->len);
	e->len += inner->len;
}

/* Makes a valid click or link event, up to the field under test. */
static struct event begin_event(int what)
{
	static const uint8_t code[] = {3 << 3 | 2, 1, 'c'};
	struct event e = {0};
	const ProtobufCFieldDescriptor *f;

	if (what == CLICK) {
		put_number(&e, 3, 1795289664000); /* time_ms */
		return e;
	}
	f = protobuf_c_message_descriptor_get_field_by_name(
		&shortloop__link_event__descriptor, "time_ms");
	put_number(&e, f->id, 1795289664000);
	f = protobuf_c_message_descriptor_get_field_by_name(
		&shortloop__link_event__descriptor, "code");
	memcpy(&e.data[e.len], code, sizeof(code));
	e.data[e.len] = (uint8_t)(f->id << 3 | 2);
	e.len += sizeof(code);
	return e;
}

static unsigned id_of_link(void)
{
	return protobuf_c_message_descriptor_get_field_by_name(
		       &shortloop__link_event__descriptor, "link")
		->id;
}

/* Makes an event with a number in one of its fields. */
static struct event with_number(int what, bool in_link, unsigned field,
				uint64_t value)
{
	struct event e = begin_event(what), link = {0};

	if (in_link || what == CLICK)
		put_number(what == CLICK ? &e : &link, field, value);
	else
		put_number(&e, field, value);
	if (what == LINK_EVENT)
		put_message(&e, id_of_link(), &link);
	return e;
}

static bool is_taken(int what, const struct event *e, struct error *err)
{
	struct click_decoder *decoder = event_decoder_new(err);
	struct arena arena = {0};
	bool taken;

	assert_non_null(decoder);
	taken = what == CLICK
			? event_click(decoder, &arena, e->data, e->len, err) !=
				  NULL
			: event_link(&arena, e->data, e->len, err) != NULL;
	arena_free(&arena);
	click_decoder_free(decoder);
	return taken;
}

static uint64_t find_greatest_number(const struct column *columns,
				     const ProtobufCFieldDescriptor *f)
{
	uint64_t most = f->type == PROTOBUF_C_TYPE_UINT32 ? UINT32_MAX
			: f->type == PROTOBUF_C_TYPE_ENUM ? INT32_MAX
							  : UINT64_MAX;
	const struct column *c = columns;

	while (c->name && strcmp(c->name, f->name) != 0)
		c++;
	if (c->name && !strcmp(c->type, "UInt16"))
		most = UINT16_MAX;
	if (c->name && !strcmp(c->type, "UInt32") && most > UINT32_MAX)
		most = UINT32_MAX;
	return most;
}

static bool is_number(const ProtobufCFieldDescriptor *f)
{
	return f->type == PROTOBUF_C_TYPE_UINT32 ||
	       f->type == PROTOBUF_C_TYPE_UINT64 ||
	       f->type == PROTOBUF_C_TYPE_ENUM;
}

static bool is_time(const ProtobufCFieldDescriptor *f)
{
	return !strcmp(f->name, "time_ms");
}

static void assert_refused(int what, bool in_link,
			   const ProtobufCFieldDescriptor *f, uint64_t value)
{
	struct event e = with_number(what, in_link, f->id, value);
	struct error err = {0};
	char said[64];

	snprintf(said, sizeof(said), "%s %llu", f->name,
		 (unsigned long long)value);
	assert_false(is_taken(what, &e, &err));
	assert_int_equal(err.code, ERROR_INPUT);
	if (!strstr(err.text, said))
		fail_msg("\"%s\" does not say %s", err.text, said);
}

/* Checks all fields; returns how many have a limit. */
static unsigned check_all(int what, bool in_link,
			  const ProtobufCMessageDescriptor *message,
			  const struct column *columns)
{
	unsigned bounded = 0;

	for (unsigned i = 0; i < message->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &message->fields[i];
		uint64_t most = find_greatest_number(columns, f);
		struct error err = {0};
		struct event e;

		if (!is_number(f) || is_time(f))
			continue;
		e = with_number(what, in_link, f->id, most);
		if (!is_taken(what, &e, &err))
			fail_msg("%s: %s", f->name, err.text);
		if (most == UINT64_MAX)
			continue;
		bounded++;
		assert_refused(what, in_link, f, most + 1);
		assert_refused(what, in_link, f, (UINT64_C(1) << 32) + 302);
		assert_refused(what, in_link, f, UINT64_MAX);
	}
	return bounded;
}

static void no_number_of_an_event_is_cut(void **state)
{
	(void)state;
	assert_int_not_equal(check_all(CLICK, false,
				       &shortloop__click__descriptor,
				       click_columns),
			     0);
	assert_int_not_equal(check_all(LINK_EVENT, false,
				       &shortloop__link_event__descriptor,
				       link_columns),
			     0);
	assert_int_not_equal(check_all(LINK_EVENT, true,
				       &shortloop__link__descriptor,
				       link_columns),
			     0);
}

static void a_status_of_five_digits_is_no_click(void **state)
{
	const ProtobufCFieldDescriptor *status =
		protobuf_c_message_descriptor_get_field_by_name(
			&shortloop__click__descriptor, "status");

	(void)state;
	assert_refused(CLICK, false, status, 99999);
	assert_refused(CLICK, false, status, 65536);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_number_of_an_event_is_cut),
		cmocka_unit_test(a_status_of_five_digits_is_no_click),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
