#include "allocator/link/link_request.h"
#include "tests/unit/allocator/link_world_fixture.h"

static int parse_link_body(struct link_request *request, const char *body,
			   struct error *err)
{
	static const struct api_key_info admin = {.roles = API_ADMIN};

	return link_request_parse(request, &world.defaults, &admin,
				  (struct http_slice){body, strlen(body)}, err);
}

static void assert_refused(const char *body, const char *says)
{
	struct link_request request;
	struct error err = {0};

	assert_int_equal(parse_link_body(&request, body, &err), -1);
	link_request_release(&request);
	assert_int_equal(err.code, ERROR_INPUT);
	if (!strstr(err.text, says))
		fail_msg("%s: '%s' does not say '%s'", body, err.text, says);
}

static void assert_mistakes(const char *body, const char *expected)
{
	struct link_request request;
	struct error err = {0};
	struct buf text = {0};

	assert_int_equal(parse_link_body(&request, body, &err), -1);
	field_mistakes_format(&request.fields.mistakes, "", &text);
	assert_string_equal(text.len ? buf_cstr(&text) : "", expected);
	buf_free(&text);
	link_request_release(&request);
}

static void all_mistakes_of_a_body_are_named(void **state)
{
	(void)state;
	assert_mistakes("{\"ttl\":\"10d\"}",
			",\"field\":\"url\",\"errors\":[{\"field\":\"url\","
			"\"detail\":\"url: is required\"}]");
	assert_mistakes("{\"owner\":7,\"url\":8,\"pass_path\":9,"
			"\"ttl\":\"10d\"}",
			",\"field\":\"owner\",\"errors\":["
			"{\"field\":\"owner\",\"detail\":\"owner: expected a "
			"string\"},"
			"{\"field\":\"url\",\"detail\":\"url: expected a "
			"string\"},"
			"{\"field\":\"pass_path\",\"detail\":\"pass_path: "
			"expected true or false\"}]");
	assert_mistakes(
		"{\"url\":\"https://a.example/\",\"ttl\":\"10d\","
		"\"space\":\"none\"}",
		",\"field\":\"space\",\"errors\":[{\"field\":\"space\","
		"\"detail\":\"space: expected one of s7, s8, names\"}]");
	/* A body that is no JSON has no fields. */
	assert_mistakes("{", "");
}

static void mistakes_beyond_a_bound_are_left_out(void **state)
{
	struct link_request request;
	struct error err = {0};
	struct buf body = {0};

	(void)state;
	buf_putc(&body, '{');
	for (int i = 0; i < 1000; i++)
		buf_printf(&body, "\"name\\\"%d\":1,", i);
	buf_puts(&body, "\"url\":1}");
	assert_int_equal(parse_link_body(&request, buf_cstr(&body), &err), -1);
	assert_int_equal(request.fields.mistakes.count, FIELD_MISTAKES_MAX);
	assert_int_equal(strncmp(err.text, "name\"0: is not", 14), 0);
	link_request_release(&request);
	buf_free(&body);
}

static void all_fields_are_read(void **state)
{
	struct link_request r;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_link_body(
			&r,
			"{\"url\":\"https://a.example/\",\"ttl\":\"never\","
			"\"space\":\"s8\",\"owner\":\"o\",\"campaign\":\"c\","
			"\"tags\":[\"x\",\"y\"]}",
			&err),
		0);
	assert_string_equal(r.fields.url, "https://a.example/");
	assert_string_equal(r.fields.ttl->name, "never");
	assert_string_equal(r.fields.space->name, "s8");
	assert_string_equal(r.fields.owner, "o");
	assert_string_equal(r.fields.campaign, "c");
	assert_int_equal(r.fields.tag_count, 2);
	assert_string_equal(r.fields.tags[1], "y");
	link_request_release(&r);
}

static void what_is_left_open_comes_from_the_defaults(void **state)
{
	struct link_request r;
	struct error err = {0};

	(void)state;
	world.defaults.ttl = linkstore_class(world.store, 0);
	assert_int_equal(
		parse_link_body(&r, "{\"url\":\"https://a.example/\"}", &err),
		0);
	assert_string_equal(r.fields.ttl->name, "10d");
	assert_string_equal(r.fields.space->name, "s7");
	assert_string_equal(r.fields.owner, "");
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
	assert_refused("{\"url\":\"https://a.example/\",\"ttl\":\"10d\","
		       "\"space\":\"x\"}",
		       "s7, s8, names");
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
	assert_int_equal(parse_link_body(&r, body, &err), 0);
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

static void how_a_link_behaves_is_read(void **state)
{
	struct link_request r;
	Shortloop__Link link;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_link_body(
			&r,
			"{\"url\":\"https://a.example/\",\"ttl\":\"never\","
			"\"targets\":{\"ios\":\"https://i.example/\","
			"\"wechat\":\"https://w.example/\"},"
			"\"not_before\":\"2026-12-01T08:00:00+08:00\","
			"\"max_visits\":3,\"redirect_status\":308,"
			"\"description\":\"d\",\"domain\":\"main\","
			"\"pass_query\":\"add\",\"pass_path\":true}",
			&err),
		0);
	link_request_fill(&r, &link);
	assert_int_equal(link.query_pass, SHORTLOOP__QUERY_PASS__QUERY_ADDED);
	assert_true(link.path_pass);
	assert_int_equal(link.n_targets, 2);
	assert_int_equal(link.targets[1]->device,
			 SHORTLOOP__DEVICE__DEVICE_WECHAT);
	assert_string_equal(link.targets[1]->url, "https://w.example/");
	assert_int_equal(link.not_before_ms, INT64_C(1796083200000));
	assert_int_equal(link.max_visits, 3);
	assert_int_equal(link.redirect_status, 308);
	assert_string_equal(link.description, "d");
	assert_string_equal(link.domain, "main");
	link_request_release(&r);
}

static void a_whole_number_may_have_a_point(void **state)
{
	struct link_request r;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_link_body(
			&r,
			"{\"url\":\"https://a.example/\",\"ttl\":\"10d\","
			"\"max_visits\":1e12,\"redirect_status\":307.0}",
			&err),
		0);
	assert_int_equal(r.fields.max_visits, INT64_C(1000000000000));
	assert_int_equal(r.fields.redirect_status, 307);
	link_request_release(&r);
	assert_refused("{\"max_visits\":1e300}", "max_visits: expected");
	assert_refused("{\"max_visits\":\"3\"}", "max_visits: expected");
}

static void a_default_target_is_the_url(void **state)
{
	struct link_request r;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_link_body(&r,
				"{\"ttl\":\"10d\",\"targets\":{\"default\":"
				"\"https://a.example/\"}}",
				&err),
		0);
	assert_string_equal(r.fields.url, "https://a.example/");
	assert_int_equal(r.fields.target_count, 0);
	link_request_release(&r);
}

static void two_different_defaults_are_refused(void **state)
{
	(void)state;
	assert_refused("{\"url\":\"https://a.example/\",\"targets\":"
		       "{\"default\":\"https://b.example/\"}}",
		       "default");
}

static void a_wrong_target_is_named(void **state)
{
	(void)state;
	assert_refused("{\"targets\":{\"tv\":\"https://a.example/\"}}",
		       "targets: tv: expected ios");
	assert_refused("{\"targets\":{\"ios\":\"nowhere\"}}", "targets: ios");
	assert_refused("{\"targets\":[]}", "targets: expected an object");
}

#define FALLBACK "\"fallback\":\"https://store.example/\""

static void a_target_may_open_an_app_or_a_mini_program(void **state)
{
	struct link_request r;
	Shortloop__Link link;
	struct error err = {0};

	(void)state;
	if (parse_link_body(
		    &r,
		    "{\"url\":\"https://a.example/"
		    "\",\"ttl\":\"10d\",\"targets\":{"
		    "\"ios\":{\"app\":\"MyApp://item/7\"," FALLBACK "},"
		    "\"android\":{\"mini_program\":\"HTTPS://wxaurl.cn/"
		    "x\"," FALLBACK "},"
		    "\"wechat\":{\"mini_program\":\"weixin://dl/business/"
		    "?t=a\"," FALLBACK "}}}",
		    &err) < 0)
		fail_msg("%s", err.text);
	link_request_fill(&r, &link);
	assert_int_equal(link.n_targets, 3);
	assert_string_equal(link.targets[0]->app, "myapp://item/7");
	assert_string_equal(link.targets[0]->mini_program, "");
	assert_string_equal(link.targets[1]->mini_program,
			    "https://wxaurl.cn/x");
	assert_string_equal(link.targets[2]->mini_program,
			    "weixin://dl/business/?t=a");
	/* A redirector without pages uses this URL. */
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(link.targets[i]->url,
				    "https://store.example/");
	link_request_release(&r);
}

static void a_page_leads_to_apps_that_are_allowed_only(void **state)
{
	static const char *const refused[][2] = {
		{"https://a.example/", "ios: app: opens no app"},
		{"http://a.example/", "ios: app: opens no app"},
		{"javascript:alert(1)", "ios: app: the scheme javascript"},
		{"data:text/html,x", "ios: app: the scheme data"},
		{"file:///etc/passwd", "ios: app: the scheme file"},
		{"vbscript:x", "ios: app: the scheme vbscript"},
		{"blob:x", "ios: app: the scheme blob"},
		{"about:blank", "ios: app: the scheme about"},
		{"intent://x#Intent;scheme=http;end", "ios: app: may lead"},
		{"other://x", "allocator.url_schemes"},
		{"myapp:", "ios: app: has nothing behind"},
		{"myapp://a b", "ios: app: has a blank"},
		{"item", "ios: app: is not an absolute URL"},
		{"", "ios: app: is empty"},
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		snprintf(text, sizeof(text),
			 "{\"targets\":{\"ios\":{\"app\":\"%s\"," FALLBACK
			 "}}}",
			 refused[i][0]);
		assert_refused(text, refused[i][1]);
	}
	assert_refused("{\"targets\":{\"wechat\":{\"mini_program\":"
		       "\"http://wxaurl.cn/x\"," FALLBACK "}}}",
		       "wechat: mini_program: opens no app");
}

static void what_a_page_lacks_is_named(void **state)
{
	(void)state;
	assert_refused("{\"targets\":{\"ios\":{\"app\":\"myapp://x\"}}}",
		       "targets: ios: fallback: is required");
	assert_refused("{\"targets\":{\"ios\":{" FALLBACK "}}}",
		       "targets: ios: expected one of app and mini_program");
	assert_refused("{\"targets\":{\"ios\":{\"app\":\"myapp://x\","
		       "\"mini_program\":\"weixin://x\"," FALLBACK "}}}",
		       "targets: ios: expected one of app and mini_program");
	assert_refused("{\"targets\":{\"ios\":{\"app\":\"myapp://x\","
		       "\"fallback\":\"http://a.example/\"}}}",
		       "targets: ios: fallback: must begin with https://");
	assert_refused("{\"targets\":{\"ios\":{\"app\":\"myapp://x\","
		       "\"fallback\":\"https://sho.rt/\"}}}",
		       "targets: ios: fallback: the host sho.rt is our own");
	assert_refused("{\"targets\":{\"ios\":{\"app\":7," FALLBACK "}}}",
		       "targets: ios: app: expected a string");
	assert_refused("{\"targets\":{\"ios\":{\"apps\":\"x\"}}}",
		       "targets: ios: apps: expected app or mini_program");
	assert_refused("{\"targets\":{\"ios\":7}}",
		       "targets: ios: expected a URL, or an object");
	assert_refused(
		"{\"targets\":{\"default\":{\"app\":\"myapp://x\"," FALLBACK
		"}}}",
		"targets: default: expected a URL");
}

static void wrong_numbers_and_times_are_refused(void **state)
{
	(void)state;
	assert_refused("{\"max_visits\":0}", "max_visits: expected");
	assert_refused("{\"max_visits\":1.5}", "max_visits: expected");
	assert_refused("{\"redirect_status\":303}", "301, 302, 307 or 308");
	assert_refused("{\"not_before\":\"soon\"}", "not_before: expected");
	assert_refused("{\"not_before\":5}", "not_before: expected");
	assert_refused("{\"pass_query\":true}", "none, add or override");
	assert_refused("{\"pass_query\":\"unknown\"}", "none, add or");
	assert_refused("{\"pass_path\":\"yes\"}", "true or false");
}

static void a_text_has_nothing_that_nobody_sees(void **state)
{
	struct link_request r;
	struct error err = {0};

	(void)state;
	assert_refused("{\"owner\":\"a\\u0085\"}", "owner: has a control");
	assert_refused("{\"campaign\":\"a\\u2028b\"}",
		       "campaign: has a control");
	assert_refused("{\"description\":\"\\u202emoc.elgoog\"}",
		       "description: has an invisible character");
	assert_refused("{\"tags\":[\"a\\u200b\"]}",
		       "tags: has an invisible character");
	assert_refused("{\"owner\":\"\\u2066ann\"}",
		       "owner: has an invisible character");
	assert_int_equal(
		parse_link_body(&r,
				"{\"url\":\"https://a.example/\",\"ttl\":"
				"\"10d\",\"description\":\"\\u2764\\ufe0f "
				"\\u0645\\u200c\\u3000\"}",
				&err),
		0);
	link_request_release(&r);
}

static void what_only_an_edit_can_say_is_refused(void **state)
{
	(void)state;
	assert_refused("{\"state\":\"blocked\"}", "state: is not a field");
}

static void a_chosen_code_goes_to_the_space_of_aliases(void **state)
{
	struct link_request r;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_link_body(
			&r,
			"{\"url\":\"https://a.example/\",\"ttl\":\"10d\","
			"\"code\":\"spring\"}",
			&err),
		0);
	assert_string_equal(r.fields.space->name, "names");
	assert_string_equal(r.fields.code, "spring");
	link_request_release(&r);
	assert_refused("{\"url\":\"https://a.example/\",\"ttl\":\"10d\","
		       "\"space\":\"s7\",\"code\":\"x\"}",
		       "code: codes of space s7");
	assert_refused("{\"url\":\"https://a.example/\",\"ttl\":\"10d\","
		       "\"space\":\"names\"}",
		       "code: is required");
}

static void a_url_is_kept_in_its_normal_form(void **state)
{
	struct link_request r;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_link_body(&r,
				"{\"url\":\"HTTPS://A.Example:/X\",\"ttl\":"
				"\"10d\",\"targets\":{\"ios\":"
				"\"https://B\\u00fccher.example/\"}}",
				&err),
		0);
	assert_string_equal(r.fields.url, "https://a.example/X");
	assert_string_equal(r.fields.targets[0].url,
			    "https://xn--bcher-kva.example/");
	link_request_release(&r);
}

static void no_visitor_chooses_the_host(void **state)
{
	static const char *const urls[] = {"myapp:///", "myapp:/",
					   "myapp://ann@", "myapp:item",
					   "myapp://?a=b/c"};
	char body[128];

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		snprintf(body, sizeof(body),
			 "{\"url\":\"%s\",\"pass_path\":true,\"ttl\":\"10d\"}",
			 urls[i]);
		assert_refused(body, "pass_path: url has neither");
	}
	assert_refused("{\"url\":\"https://a.example\",\"ttl\":\"10d\","
		       "\"pass_path\":true,\"targets\":{\"ios\":{\"app\":"
		       "\"myapp://\",\"fallback\":\"https://b.example\"}}}",
		       "pass_path: an app has neither");
}

static void a_link_of_no_domain_is_of_the_default_one(void **state)
{
	struct link_request r;
	Shortloop__Link link;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_link_body(
			&r, "{\"url\":\"https://a.example/\",\"ttl\":\"10d\"}",
			&err),
		0);
	link_request_fill(&r, &link);
	assert_string_equal(link.domain, "main");
	link_request_release(&r);
	assert_refused("{\"url\":\"https://a.example/\",\"ttl\":\"10d\","
		       "\"domain\":\"other\"}",
		       "domain: expected one of main");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORE(all_mistakes_of_a_body_are_named),
		WITH_STORE(mistakes_beyond_a_bound_are_left_out),
		WITH_STORE(all_fields_are_read),
		WITH_STORE(no_visitor_chooses_the_host),
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
		WITH_STORE(how_a_link_behaves_is_read),
		WITH_STORE(a_whole_number_may_have_a_point),
		WITH_STORE(a_default_target_is_the_url),
		WITH_STORE(two_different_defaults_are_refused),
		WITH_STORE(a_wrong_target_is_named),
		WITH_STORE(a_target_may_open_an_app_or_a_mini_program),
		WITH_STORE(a_page_leads_to_apps_that_are_allowed_only),
		WITH_STORE(what_a_page_lacks_is_named),
		WITH_STORE(wrong_numbers_and_times_are_refused),
		WITH_STORE(a_text_has_nothing_that_nobody_sees),
		WITH_STORE(what_only_an_edit_can_say_is_refused),
		WITH_STORE(a_chosen_code_goes_to_the_space_of_aliases),
		WITH_STORE(a_url_is_kept_in_its_normal_form),
		WITH_STORE(a_link_of_no_domain_is_of_the_default_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
