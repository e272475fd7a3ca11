#include <arpa/inet.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

#include "allocator/audit/audit.h"
#include "common/clock.h"
#include "common/unconst.h"
#include "tests/unit/unit.h"

struct world {
	char path[64], moved[80];
	struct health *health;
	struct metrics *metrics;
	struct audit *audit;
	struct sockaddr_storage peer;
	struct audit_source source;
	Shortloop__Link link;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct sockaddr_in *in = (struct sockaddr_in *)&w->peer;

	unit_write_file("", w->path);
	snprintf(w->moved, sizeof(w->moved), "%s.1", w->path);
	w->health = health_new();
	w->metrics = metrics_new();
	in->sin_family = AF_INET;
	inet_pton(AF_INET, "10.0.0.7", &in->sin_addr);
	w->source = (struct audit_source){.key = "crm", .peer = &w->peer};
	shortloop__link__init(&w->link);
	w->link.link_id = 7;
	w->link.url = unconst("https://example.org/");
	w->link.owner = unconst("ann");
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	audit_free(w->audit, 1000);
	health_free(w->health);
	metrics_free(w->metrics);
	unlink(w->path);
	unlink(w->moved);
	free(w);
	return 0;
}

static struct audit *audit_to(struct world *w, const char *path, int64_t queue)
{
	const struct audit_options options = {
		.path = path,
		.queue_bytes = queue,
		.health = w->health,
		.metrics = w->metrics,
	};
	struct error err = {0};

	w->audit = audit_new(&options, &err);
	if (!w->audit)
		fail_msg("%s", err.text);
	return w->audit;
}

static void say(struct world *w, enum audit_action action,
		const Shortloop__Link *before, const Shortloop__Link *after)
{
	const struct audit_entry entry = {&w->source, "s7", "kYq3ZtB", before,
					  after};

	audit_link(w->audit, action, &entry);
}

static void finish(struct world *w)
{
	audit_free(w->audit, 5000);
	w->audit = NULL;
}

/* Line `n` of the file, from 0, or NULL. */
static json_t *line_of(const char *path, int n)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	json_t *line = NULL;

	assert_non_null(file);
	while (n-- >= 0) {
		if (getline(&text, &size, file) < 0)
			goto out;
	}
	line = json_loads(text, 0, NULL);
	assert_non_null(line);
out:
	free(text);
	fclose(file);
	return line;
}

static size_t lines_of(const char *path)
{
	json_t *line;
	size_t n = 0;

	while ((line = line_of(path, (int)n))) {
		json_decref(line);
		n++;
	}
	return n;
}

/* The only line that one change gives. */
static json_t *line_after(struct world *w, enum audit_action action,
			  const Shortloop__Link *before,
			  const Shortloop__Link *after)
{
	audit_to(w, w->path, 1 << 20);
	say(w, action, before, after);
	finish(w);
	return line_of(w->path, 0);
}

static const char *text_at(json_t *line, const char *field)
{
	return json_string_value(json_object_get(line, field));
}

static json_t *change_at(json_t *line, const char *field, const char *which)
{
	json_t *changes = json_object_get(line, "changes");

	return json_object_get(json_object_get(changes, field), which);
}

/* --- lines ---------------------------------------------------------------- */

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

	after.url = unconst("https://example.net/");
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
	Shortloop__Target ios = SHORTLOOP__TARGET__INIT;
	Shortloop__Target *targets[] = {&ios};
	char *tags[] = {unconst("a"), unconst("b\"c")};
	Shortloop__Link after = w->link;
	json_t *line, *value;

	ios.device = SHORTLOOP__DEVICE__DEVICE_IOS;
	ios.url = unconst("https://ios.example/");
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

static void credentials_of_a_url_are_masked(void **state)
{
	struct world *w = *state;
	json_t *line;

	w->link.url = unconst("https://ann:s@cret@example.org/a@b");
	line = line_after(w, AUDIT_CREATED, NULL, &w->link);
	assert_string_equal(json_string_value(change_at(line, "url", "new")),
			    "https://***@example.org/a@b");
	json_decref(line);
}

static void an_at_in_a_path_is_no_credential(void **state)
{
	struct world *w = *state;
	json_t *line;

	w->link.url = unconst("https://example.org/@ann?to=b@c");
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
	finish(w);
	line = line_of(w->path, 0);
	assert_string_equal(text_at(line, "action"), "keys_reloaded");
	assert_int_equal(json_integer_value(json_object_get(line, "keys")), 3);
	json_decref(line);
}

/* --- the file ------------------------------------------------------------- */

static void it_writes_behind_what_is_there(void **state)
{
	struct world *w = *state;

	json_decref(line_after(w, AUDIT_CREATED, NULL, &w->link));
	json_decref(line_after(w, AUDIT_CREATED, NULL, &w->link));
	assert_int_equal(lines_of(w->path), 2);
}

static void many_lines_all_arrive(void **state)
{
	struct world *w = *state;

	audit_to(w, w->path, 64 << 20);
	for (int i = 0; i < 20000; i++)
		say(w, AUDIT_CREATED, NULL, &w->link);
	finish(w);
	assert_int_equal(
		metric_value(metrics_counter(
			w->metrics, "shortloop_allocator_audit_lines_total",
			NULL, "")),
		20000);
}

static bool soon(bool (*check)(struct world *w), struct world *w)
{
	for (int i = 0; i < 500; i++) {
		if (check(w))
			return true;
		usleep(10000);
	}
	return false;
}

static bool has_new_file(struct world *w)
{
	struct stat st;

	return stat(w->path, &st) == 0;
}

static void a_file_moved_away_is_made_anew(void **state)
{
	struct world *w = *state;

	audit_to(w, w->path, 1 << 20);
	assert_int_equal(rename(w->path, w->moved), 0);
	audit_reopen(w->audit);
	assert_true(soon(has_new_file, w));
	say(w, AUDIT_CREATED, NULL, &w->link);
	finish(w);
	assert_int_equal(lines_of(w->path), 1);
	assert_int_equal(lines_of(w->moved), 0);
}

static bool is_down(struct world *w)
{
	struct buf out = {0};
	bool up = health_report(w->health, &out);
	bool told = !up && memmem(out.data, out.len, "No space left", 13);

	buf_free(&out);
	return told;
}

static void a_full_disk_is_told_by_readyz(void **state)
{
	struct world *w = *state;

	audit_to(w, "/dev/full", 1 << 20);
	say(w, AUDIT_CREATED, NULL, &w->link);
	assert_true(soon(is_down, w));
}

static uint64_t lost(struct world *w)
{
	return metric_value(metrics_counter(
		w->metrics, "shortloop_allocator_audit_lost_total", NULL, ""));
}

static bool is_up(struct world *w)
{
	struct buf out = {0};
	bool up = health_report(w->health, &out);

	buf_free(&out);
	return up;
}

/* The file is a link to /dev/full first, then a real one. */
static void lines_wait_for_a_disk_that_is_full(void **state)
{
	struct world *w = *state;

	unlink(w->path);
	assert_int_equal(symlink("/dev/full", w->path), 0);
	audit_to(w, w->path, 1 << 20);
	say(w, AUDIT_CREATED, NULL, &w->link);
	say(w, AUDIT_CREATED, NULL, &w->link);
	assert_true(soon(is_down, w));
	unlink(w->path);
	audit_reopen(w->audit);
	assert_true(soon(is_up, w));
	finish(w);
	assert_int_equal(lines_of(w->path), 2);
	assert_int_equal(lost(w), 0);
}

static void lines_beyond_the_bound_are_lost_counted_and_told(void **state)
{
	struct world *w = *state;
	json_t *line;
	size_t n;

	unlink(w->path);
	assert_int_equal(symlink("/dev/full", w->path), 0);
	audit_to(w, w->path, 4096);
	say(w, AUDIT_CREATED, NULL, &w->link);
	assert_true(soon(is_down, w));
	for (int i = 0; i < 100; i++)
		say(w, AUDIT_CREATED, NULL, &w->link);
	assert_true(lost(w) > 50);
	unlink(w->path);
	audit_reopen(w->audit);
	assert_true(soon(is_up, w));
	finish(w);
	n = lines_of(w->path);
	assert_int_equal(n - 1 + lost(w), 101);
	line = line_of(w->path, (int)n - 1);
	assert_string_equal(text_at(line, "action"), "lost");
	assert_int_equal(json_integer_value(json_object_get(line, "lines")),
			 lost(w));
	json_decref(line);
}

static void a_file_that_cannot_be_opened_is_a_config_error(void **state)
{
	struct world *w = *state;
	const struct audit_options options = {
		.path = "/nonexistent/audit.log",
		.queue_bytes = 4096,
		.health = w->health,
		.metrics = w->metrics,
	};
	struct error err = {0};

	assert_null(audit_new(&options, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "allocator.audit_file"));
}

#define WITH_WORLD(test)                                                       \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(a_line_says_who_did_what_to_which_link),
		WITH_WORLD(a_created_link_is_all_new),
		WITH_WORLD(only_what_changed_is_told),
		WITH_WORLD(a_deleted_link_changes_its_state),
		WITH_WORLD(targets_and_tags_are_told_whole),
		WITH_WORLD(credentials_of_a_url_are_masked),
		WITH_WORLD(an_at_in_a_path_is_no_credential),
		WITH_WORLD(what_a_header_holds_cannot_break_a_line),
		WITH_WORLD(reloaded_keys_are_told),
		WITH_WORLD(it_writes_behind_what_is_there),
		WITH_WORLD(many_lines_all_arrive),
		WITH_WORLD(a_file_moved_away_is_made_anew),
		WITH_WORLD(a_full_disk_is_told_by_readyz),
		WITH_WORLD(lines_wait_for_a_disk_that_is_full),
		WITH_WORLD(lines_beyond_the_bound_are_lost_counted_and_told),
		WITH_WORLD(a_file_that_cannot_be_opened_is_a_config_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
