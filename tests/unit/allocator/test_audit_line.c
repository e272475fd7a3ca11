#include "tests/unit/allocator/audit_world.h"

static void a_line_says_who_did_what_to_which_link(void **state)
{
	struct world *w = *state;
	json_t *line = line_after(w, AUDIT_CREATED, NULL, &w->link);

	assert_string_equal(text_at(line, "action"), "created");
	assert_string_equal(text_at(line, "key"), "crm");
	assert_string_equal(text_at(line, "client"), "10.0.0.7");
	assert_string_equal(text_at(line, "code"), "kYq3ZtB");
	assert_string_equal(text_at(line, "link_id"), "7");
	assert_string_equal(text_at(line, "space"), "s7");
	assert_string_equal(text_at(line, "owner"), "ann");
	assert_non_null(text_at(line, "time"));
	json_decref(line);
}

static void a_created_link_is_all_new(void **state)
{
	struct world *w = *state;
	json_t *line = line_after(w, AUDIT_CREATED, NULL, &w->link);

	assert_true(json_is_null(change_at(line, "url", "old")));
	assert_string_equal(json_string_value(change_at(line, "url", "new")),
			    "https://example.org/");
	assert_null(change_at(line, "campaign", "new"));
	json_decref(line);
}

static void only_what_changed_is_told(void **state)
{
	struct world *w = *state;
	Shortloop__Link after = w->link;
	json_t *line;

	after.url = drop_const("https://example.net/");
	line = line_after(w, AUDIT_CHANGED, &w->link, &after);
	assert_int_equal(json_object_size(json_object_get(line, "changes")), 1);
	assert_string_equal(json_string_value(change_at(line, "url", "old")),
			    "https://example.org/");
	assert_string_equal(json_string_value(change_at(line, "url", "new")),
			    "https://example.net/");
	json_decref(line);
}

static void a_deleted_link_changes_its_state(void **state)
{
	struct world *w = *state;
	Shortloop__Link after = w->link;
	json_t *line;

	after.state = SHORTLOOP__LINK_STATE__LINK_DELETED;
	line = line_after(w, AUDIT_DELETED, &w->link, &after);
	assert_string_equal(text_at(line, "action"), "deleted");
	assert_string_equal(json_string_value(change_at(line, "state", "new")),
			    "deleted");
	json_decref(line);
}

static void targets_and_tags_are_told_whole(void **state)
{
	struct world *w = *state;
	Shortloop__Target ios;
	Shortloop__Target *targets[] = {&ios};
	char *tags[] = {drop_const("a"), drop_const("b\"c")};
	Shortloop__Link after = w->link;
	json_t *line, *value;

	shortloop__target__init(&ios);
	ios.device = SHORTLOOP__DEVICE__DEVICE_IOS;
	ios.url = drop_const("https://ios.example/");
	after.targets = targets;
	after.n_targets = 1;
	after.tags = tags;
	after.n_tags = 2;
	line = line_after(w, AUDIT_CHANGED, &w->link, &after);
	value = change_at(line, "targets", "new");
	assert_string_equal(text_at(value, "ios"), "https://ios.example/");
	value = json_array_get(change_at(line, "tags", "new"), 1);
	assert_string_equal(json_string_value(value), "b\"c");
	json_decref(line);
}

static void a_target_that_opens_an_app_is_told_with_its_fallback(void **state)
{
	struct world *w = *state;
	Shortloop__Target ios;
	Shortloop__Target *targets[] = {&ios};
	Shortloop__Link after = w->link;
	json_t *line, *value;

	shortloop__target__init(&ios);
	ios.device = SHORTLOOP__DEVICE__DEVICE_IOS;
	ios.url = drop_const("https://store.example/");
	ios.app = drop_const("myapp://item/7");
	after.targets = targets;
	after.n_targets = 1;
	line = line_after(w, AUDIT_CHANGED, &w->link, &after);
	value = json_object_get(change_at(line, "targets", "new"), "ios");
	assert_string_equal(text_at(value, "app"), "myapp://item/7");
	assert_string_equal(text_at(value, "fallback"),
			    "https://store.example/");
	json_decref(line);
}

static void credentials_of_a_url_are_masked(void **state)
{
	struct world *w = *state;
	json_t *line;

	w->link.url = drop_const("https://ann:s@cret@example.org/a@b");
	line = line_after(w, AUDIT_CREATED, NULL, &w->link);
	assert_string_equal(json_string_value(change_at(line, "url", "new")),
			    "https://***@example.org/a@b");
	json_decref(line);
}

static void an_at_in_a_path_is_no_credential(void **state)
{
	struct world *w = *state;
	json_t *line;

	w->link.url = drop_const("https://example.org/@ann?to=b@c");
	line = line_after(w, AUDIT_CREATED, NULL, &w->link);
	assert_string_equal(json_string_value(change_at(line, "url", "new")),
			    "https://example.org/@ann?to=b@c");
	json_decref(line);
}

static void what_a_header_holds_cannot_break_a_line(void **state)
{
	struct world *w = *state;
	json_t *line;

	w->source.request_id = (struct http_slice){"a\"\xff\n{", 5};
	line = line_after(w, AUDIT_CREATED, NULL, &w->link);
	assert_string_equal(text_at(line, "request_id"), "a\"??{");
	json_decref(line);
}

static void reloaded_keys_are_told(void **state)
{
	struct world *w = *state;
	json_t *line;

	audit_keys_reloaded(audit_to(w, w->path, 1 << 20), 3);
	close_audit(w);
	line = line_of(w->path, 0);
	assert_string_equal(text_at(line, "action"), "keys_reloaded");
	assert_int_equal(json_integer_value(json_object_get(line, "keys")), 3);
	json_decref(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(a_line_says_who_did_what_to_which_link),
		WITH_WORLD(a_created_link_is_all_new),
		WITH_WORLD(only_what_changed_is_told),
		WITH_WORLD(a_deleted_link_changes_its_state),
		WITH_WORLD(targets_and_tags_are_told_whole),
		WITH_WORLD(
			a_target_that_opens_an_app_is_told_with_its_fallback),
		WITH_WORLD(credentials_of_a_url_are_masked),
		WITH_WORLD(an_at_in_a_path_is_no_credential),
		WITH_WORLD(what_a_header_holds_cannot_break_a_line),
		WITH_WORLD(reloaded_keys_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
