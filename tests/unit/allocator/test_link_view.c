#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "allocator/link/link_view.h"
#include "common/clock.h"
#include "common/drop_const.h"

static Shortloop__Link some_link(void)
{
	Shortloop__Link link;

	shortloop__link__init(&link);
	link.link_id = UINT64_C(9223372036854775807);
	link.generation = 2;
	link.version = 1;
	link.ttl_class = drop_const("10d");
	link.created_ms = 1795224814000;
	link.url = drop_const("https://example.org/\"q\"");
	return link;
}

static void assert_shows(const Shortloop__Link *link, int64_t expires,
			 const char *part)
{
	const struct link_view view = {"https://sho.rt", "s7", "abcdefg", link,
				       expires};
	struct buf out = {0};

	link_view_write(&view, &out);
	if (!strstr(buf_cstr(&out), part))
		fail_msg("%s lacks %s", out.data, part);
	buf_free(&out);
}

static void the_id_is_a_string(void **state)
{
	Shortloop__Link link = some_link();

	(void)state;
	assert_shows(&link, 1, "\"link_id\":\"9223372036854775807\"");
}

static void the_short_url_is_base_and_code(void **state)
{
	Shortloop__Link link = some_link();

	(void)state;
	assert_shows(&link, 1, "\"short_url\":\"https://sho.rt/abcdefg\"");
}

static void times_are_rfc_3339(void **state)
{
	Shortloop__Link link = some_link();

	(void)state;
	assert_shows(&link, 1795224874500,
		     "\"created_at\":\"2026-11-21T01:33:34Z\","
		     "\"expires_at\":\"2026-11-21T01:34:34.500Z\"");
}

static void a_link_that_never_expires_has_no_time(void **state)
{
	Shortloop__Link link = some_link();

	(void)state;
	assert_shows(&link, DURATION_NEVER, "\"expires_at\":null");
}

static void a_target_is_shown_as_it_was_given(void **state)
{
	Shortloop__Link link = some_link();
	Shortloop__Target ios, wechat, android,
		*targets[] = {&ios, &wechat, &android};

	(void)state;
	shortloop__target__init(&ios);
	shortloop__target__init(&wechat);
	shortloop__target__init(&android);
	ios.device = SHORTLOOP__DEVICE__DEVICE_IOS;
	ios.url = drop_const("https://store.example/");
	ios.app = drop_const("myapp://item/\"7\"");
	wechat.device = SHORTLOOP__DEVICE__DEVICE_WECHAT;
	wechat.url = drop_const("https://web.example/");
	wechat.mini_program = drop_const("weixin://dl/business/?t=a");
	android.device = SHORTLOOP__DEVICE__DEVICE_ANDROID;
	android.url = drop_const("https://and.example/");
	link.targets = targets;
	link.n_targets = 3;
	assert_shows(
		&link, 1,
		"\"targets\":{"
		"\"ios\":{\"app\":\"myapp://item/\\\"7\\\"\","
		"\"fallback\":\"https://store.example/\"},"
		"\"wechat\":{\"mini_program\":\"weixin://dl/business/?t=a\","
		"\"fallback\":\"https://web.example/\"},"
		"\"android\":\"https://and.example/\"}");
}

static void what_is_not_set_is_null(void **state)
{
	Shortloop__Link link = some_link();

	(void)state;
	assert_shows(&link, 1, "\"owner\":null,\"campaign\":null,\"tags\":[]");
}

static void tags_keep_their_order(void **state)
{
	Shortloop__Link link = some_link();
	char b[] = "b", a[] = "a", *tags[] = {b, a};

	(void)state;
	link.tags = tags;
	link.n_tags = 2;
	assert_shows(&link, 1, "\"tags\":[\"b\",\"a\"]");
}

static void quotes_in_a_url_are_escaped(void **state)
{
	Shortloop__Link link = some_link();

	(void)state;
	assert_shows(&link, 1, "https://example.org/\\\"q\\\"");
}

static void a_blocked_link_says_so(void **state)
{
	Shortloop__Link link = some_link();

	(void)state;
	link.state = SHORTLOOP__LINK_STATE__LINK_BLOCKED;
	assert_shows(&link, 1, "\"state\":\"blocked\"");
}

static void the_whole_is_json(void **state)
{
	Shortloop__Link link = some_link();
	const struct link_view view = {"https://sho.rt", "s7", "abcdefg", &link,
				       DURATION_NEVER};
	struct buf out = {0};
	json_t *root;

	(void)state;
	link.owner = drop_const("a\x01\"\\\n\xc3\xa4");
	link_view_write(&view, &out);
	root = json_loadb(out.data, out.len, 0, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "owner")),
			    link.owner);
	json_decref(root);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_id_is_a_string),
		cmocka_unit_test(the_short_url_is_base_and_code),
		cmocka_unit_test(times_are_rfc_3339),
		cmocka_unit_test(a_link_that_never_expires_has_no_time),
		cmocka_unit_test(a_target_is_shown_as_it_was_given),
		cmocka_unit_test(what_is_not_set_is_null),
		cmocka_unit_test(tags_keep_their_order),
		cmocka_unit_test(quotes_in_a_url_are_escaped),
		cmocka_unit_test(a_blocked_link_says_so),
		cmocka_unit_test(the_whole_is_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
