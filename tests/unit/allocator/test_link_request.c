#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "allocator/api/link_request.h"

static char ten_days[] = "10d", never[] = "never",
	    *classes[] = {ten_days, never};
static char secret[] = "0123456789abcdef", s7[] = "s7", s8[] = "s8",
	    sequence[] = "sequence";
static struct links_key_config key = {.version = 0, .key = secret};
static struct links_space_config spaces[] = {
	{s7, 1, 7, sequence, 1000, {&key, 1}},
	{s8, 2, 8, sequence, 1000, {&key, 1}},
};
static const struct links_config config = {
	.ttl_classes = {classes, 2},
	.hold_max = 1000,
	.quarantine = 1000,
	.renew_every = 1000,
	.grant_blocks = 1,
	.spaces = {spaces, 2},
};

static struct link_defaults defaults;

static int set_up(void **state)
{
	struct error err = {0};
	struct linkstore *store = linkstore_new(&config, &err);

	*state = store;
	if (!store)
		return -1;
	defaults = (struct link_defaults){.store = store,
					  .space = linkstore_space(store, 0)};
	return 0;
}

static int tear_down(void **state)
{
	linkstore_free(*state);
	return 0;
}

static int parse(struct link_request *request, const char *body,
		 struct error *err)
{
	return link_request_parse(request, &defaults,
				  (struct http_slice){body, strlen(body)}, err);
}

static void assert_refused(const char *body, const char *says)
{
	struct link_request request;
	struct error err = {0};

	assert_int_equal(parse(&request, body, &err), -1);
	link_request_release(&request);
	assert_int_equal(err.code, ERROR_INPUT);
	if (!strstr(err.text, says))
		fail_msg("%s: '%s' does not say '%s'", body, err.text, says);
}

static void all_fields_are_read(void **state)
{
	struct link_request r;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse(&r,
		      "{\"url\":\"https://a.example/\",\"ttl\":\"never\","
		      "\"space\":\"s8\",\"owner\":\"o\",\"campaign\":\"c\","
		      "\"tags\":[\"x\",\"y\"]}",
		      &err),
		0);
	assert_string_equal(r.url, "https://a.example/");
	assert_string_equal(r.ttl->name, "never");
	assert_string_equal(r.space->name, "s8");
	assert_string_equal(r.owner, "o");
	assert_string_equal(r.campaign, "c");
	assert_int_equal(r.tag_count, 2);
	assert_string_equal(r.tags[1], "y");
	link_request_release(&r);
}

static void what_is_left_open_comes_from_the_defaults(void **state)
{
	struct link_request r;
	struct error err = {0};

	(void)state;
	defaults.ttl = linkstore_class(defaults.store, 0);
	assert_int_equal(parse(&r, "{\"url\":\"https://a.example/\"}", &err),
			 0);
	assert_string_equal(r.ttl->name, "10d");
	assert_string_equal(r.space->name, "s7");
	assert_string_equal(r.owner, "");
	link_request_release(&r);
}

static void without_a_default_the_class_is_asked_for(void **state)
{
	(void)state;
	assert_refused("{\"url\":\"https://a.example/\"}", "10d, never");
}

static void an_unknown_field_is_named(void **state)
{
	(void)state;
	assert_refused("{\"url\":\"https://a.example/\",\"tll\":\"10d\"}",
		       "tll:");
}

static void an_unknown_class_gets_the_list(void **state)
{
	(void)state;
	assert_refused("{\"url\":\"https://a.example/\",\"ttl\":\"1d\"}",
		       "10d, never");
}

static void an_unknown_space_gets_the_list(void **state)
{
	(void)state;
	assert_refused("{\"url\":\"https://a.example/\",\"space\":\"x\"}",
		       "s7, s8");
}

static void a_field_given_twice_is_refused(void **state)
{
	(void)state;
	assert_refused("{\"ttl\":\"10d\",\"ttl\":\"never\"}", "not JSON");
}

static void a_nul_in_a_string_is_refused(void **state)
{
	(void)state;
	assert_refused("{\"owner\":\"a\\u0000b\"}", "not JSON");
}

static void the_bounds_on_texts_are_exact(void **state)
{
	char body[256];
	struct link_request r;
	struct error err = {0};

	(void)state;
	snprintf(body, sizeof(body),
		 "{\"url\":\"https://a.example/\",\"ttl\":\"10d\","
		 "\"owner\":\"%0*d\"}",
		 LINK_TEXT_MAX, 0);
	assert_int_equal(parse(&r, body, &err), 0);
	link_request_release(&r);
	snprintf(body, sizeof(body), "{\"owner\":\"%0*d\"}", LINK_TEXT_MAX + 1,
		 0);
	assert_refused(body, "owner");
}

static void too_many_tags_are_refused(void **state)
{
	char body[8 * LINK_TAGS_MAX] = "{\"tags\":[\"t\"";

	(void)state;
	for (int i = 0; i < LINK_TAGS_MAX; i++)
		strcat(body, ",\"t\"");
	strcat(body, "]}");
	assert_refused(body, "tags");
}

static void null_is_not_a_text(void **state)
{
	(void)state;
	assert_refused("{\"url\":null}", "url: expected a string");
	assert_refused("{\"owner\":null}", "owner: expected a string");
}

#define WITH_STORE(test)                                                       \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORE(all_fields_are_read),
		WITH_STORE(what_is_left_open_comes_from_the_defaults),
		WITH_STORE(without_a_default_the_class_is_asked_for),
		WITH_STORE(an_unknown_field_is_named),
		WITH_STORE(an_unknown_class_gets_the_list),
		WITH_STORE(an_unknown_space_gets_the_list),
		WITH_STORE(a_field_given_twice_is_refused),
		WITH_STORE(a_nul_in_a_string_is_refused),
		WITH_STORE(the_bounds_on_texts_are_exact),
		WITH_STORE(too_many_tags_are_refused),
		WITH_STORE(null_is_not_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
