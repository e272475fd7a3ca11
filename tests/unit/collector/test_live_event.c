#include "tests/unit/collector/enricher_settings.h"

#include <jansson.h>
#include <string.h>

#include "collector/enrich/enricher.h"
#include "collector/enrich/live_event.h"
#include "common/drop_const.h"

#define NOW INT64_C(1795255620123) /* 2026-11-21T10:07:00.123Z */

struct world {
	char rules[64];
	struct collector_settings settings;
	struct enricher *enricher;
	struct buf row, text;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err = {0};

	*state = w;
	if (!w)
		return -1;
	w->settings = enricher_settings(w->rules);
	w->enricher = enricher_new(&w->settings, &err);
	unlink(w->rules);
	return w->enricher ? 0 : -1;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	enricher_free(w->enricher);
	buf_free(&w->row);
	buf_free(&w->text);
	free(w);
	return 0;
}

static ProtobufCBinaryData make_bytes(const char *text)
{
	return (ProtobufCBinaryData){strlen(text), drop_const(text)};
}

static Shortloop__Click some_click(void)
{
	Shortloop__Click click;

	shortloop__click__init(&click);
	click.event_id_high = UINT64_C(0x0123456789abcdef);
	click.event_id = 42;
	click.time_ms = (uint64_t)NOW;
	click.domain = drop_const("go.example.com");
	click.code = drop_const("abc");
	click.link_id = UINT64_MAX;
	click.account = drop_const("acme");
	click.owner = drop_const("a\"\xff\nb");
	click.outcome = SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED;
	click.client_ip =
		(ProtobufCBinaryData){4, drop_const("\x08\x08\x09\x09")};
	click.user_agent = make_bytes("Alpha/7 (Windows) secret-agent");
	click.referrer = make_bytes("https://www.example.org/secret");
	click.query = make_bytes("token=secret");
	return click;
}

/* Returns whether a stream that begins at `since` shows the click; the text is
 * in w->text. */
static bool show_click(struct world *w, const Shortloop__Click *click,
		       int64_t append_ms, int64_t since, bool *ret_old)
{
	const struct event_origin origin = {.topic = "clicks",
					    .append_ms = append_ms};
	struct error err = {0};
	int64_t ts;

	buf_reset(&w->row);
	buf_reset(&w->text);
	assert_int_equal(enricher_click_row(w->enricher, &origin, click,
					    &w->row, &ts, &err),
			 0);
	return live_event_put(&w->text, w->row.data, w->row.len, since,
			      ret_old);
}

static void a_click_says_all_but_who_the_visitor_is(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();
	bool old;

	assert_true(show_click(w, &click, NOW + 5, NOW - 60000, &old));
	assert_string_equal(
		buf_cstr(&w->text),
		"{\"id\":\"01234567-89ab-cdef-0000-00000000002a\","
		"\"ts\":\"2026-11-21T10:07:00.123Z\",\"code\":\"abc\","
		"\"link_id\":\"18446744073709551615\","
		"\"domain\":\"go.example.com\",\"account\":\"acme\","
		"\"owner\":\"a\\\"?\\nb\","
		"\"campaign\":\"\",\"country\":\"\","
		"\"device_class\":\"desktop\",\"os_family\":\"Windows\","
		"\"ua_family\":\"Alpha\",\"channel\":\"referral\","
		"\"referrer_host\":\"www.example.org\","
		"\"referrer_site\":\"example.org\",\"verdict\":\"human\","
		"\"reason\":\"\",\"human\":true}");
	assert_null(strstr(buf_cstr(&w->text), "secret"));
}

/* Lists and maps are not shown, and precede fields that are. */
static void lists_and_maps_are_passed_over(void **state)
{
	static char one[] = "one", two[] = "two";
	char *tags[] = {one, two};
	Shortloop__Click__CookiesEntry cookie, *cookies[] = {&cookie, &cookie};
	struct world *w = *state;
	Shortloop__Click click = some_click();
	struct buf without = {0};
	bool old;

	assert_true(show_click(w, &click, NOW + 5, NOW - 60000, &old));
	buf_append(&without, w->text.data, w->text.len);
	shortloop__click__cookies_entry__init(&cookie);
	cookie.key = one;
	cookie.value = two;
	click.tags = tags;
	click.n_tags = 2;
	click.cookies = cookies;
	click.n_cookies = 2;
	assert_true(show_click(w, &click, NOW + 5, NOW - 60000, &old));
	assert_string_equal(buf_cstr(&w->text), buf_cstr(&without));
	buf_free(&without);
}

static void a_robot_has_a_reason(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();
	json_t *json;
	bool old;

	click.user_agent = make_bytes("");
	assert_true(show_click(w, &click, NOW, 0, &old));
	json = json_loadb(w->text.data, w->text.len, 0, NULL);
	assert_non_null(json);
	assert_true(json_is_false(json_object_get(json, "human")));
	assert_string_equal(json_string_value(json_object_get(json, "verdict")),
			    "bot");
	assert_true(json_string_length(json_object_get(json, "reason")) > 0);
	json_decref(json);
}

static void what_is_old_by_either_clock_is_not_shown(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();
	bool old;

	assert_true(show_click(w, &click, NOW, NOW, &old));
	assert_false(old);
	assert_false(show_click(w, &click, NOW, NOW + 1, &old));
	assert_true(old);
	/* The click was stored long ago, and its edge's clock is ahead. */
	assert_false(show_click(w, &click, NOW - 1000, NOW - 500, &old));
	assert_true(old);
	assert_int_equal(w->text.len, 0);
}

static void only_redirects_are_clicks(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();
	bool old;

	for (int outcome = 0; outcome <= 5; outcome++) {
		click.outcome = (Shortloop__Outcome)outcome;
		assert_int_equal(
			show_click(w, &click, NOW, 0, &old),
			outcome == SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED);
		assert_false(old);
	}
}

static void a_row_that_is_cut_is_not_read_beyond(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();
	bool old;

	show_click(w, &click, NOW, 0, &old);
	for (size_t len = 0; len < w->row.len; len++) {
		/* The copy has a block of its own, so that a sanitizer reports
		 * a read beyond it. */
		char *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy, w->row.data, len);
		assert_false(live_event_put(&w->text, copy, len, 0, &old));
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_click_says_all_but_who_the_visitor_is, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(lists_and_maps_are_passed_over,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_robot_has_a_reason, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_old_by_either_clock_is_not_shown, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(only_redirects_are_clicks,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_row_that_is_cut_is_not_read_beyond, set_up,
			tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
