/* A value that is read from a file, and again. */
#include "tests/unit/log_file.h"
#include "tests/unit/unit.h"

#include <string.h>

#include "common/app/reloadable.h"

/* The value is the number in a file; `none` as its path stands for 7. */
static void *load_number(const void *path, struct error *err)
{
	FILE *in = strcmp(path, "none") ? fopen(path, "r") : NULL;
	int64_t *number = malloc(sizeof(*number));
	long read = 7;

	assert_non_null(number);
	if (in && fscanf(in, "%ld", &read) != 1) {
		error_set(err, ERROR_CONFIG, "no number");
		free(number);
		number = NULL;
	}
	if (in)
		fclose(in);
	if (number)
		*number = read;
	return number;
}

static bool names_file(const void *path)
{
	return strcmp(path, "none") != 0;
}

static void describe_number(const void *number,
			    struct log_field ret[RELOAD_FIELDS])
{
	ret[0] = log_int("is", *(const int64_t *)number);
}

static const struct reloadable_kind numbers = {
	.what = "numbers",
	.load = load_number,
	.free = free,
	.has_file = names_file,
	.describe = describe_number,
};

struct world {
	char path[64];
	struct log_file file;
	struct metrics *metrics;
	struct metric *gauge;
	struct reload_report report;
	struct versions_user user;
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	unit_write_file("1", w->path);
	log_file_open(&w->file);
	w->metrics = metrics_new();
	w->gauge = metrics_gauge(w->metrics, "number", NULL, "It");
	w->report = (struct reload_report){
		.log = w->file.log,
		.failures = metrics_counter(w->metrics, "failures", NULL, "-"),
	};
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	metrics_free(w->metrics);
	log_file_close(&w->file);
	unlink(w->path);
	free(w);
	return 0;
}

static void write_number(const struct world *w, const char *text)
{
	FILE *out = fopen(w->path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* Makes it of the file, joined and shown. */
static struct reloadable *open_number(struct world *w)
{
	struct error err = {0};
	struct reloadable *r = reloadable_new(&numbers, w->path, &err);

	if (!r)
		fail_msg("%s", err.text);
	reloadable_join(r, &w->user);
	reloadable_show(r, w->gauge);
	return r;
}

static void close_number(struct world *w, struct reloadable *r)
{
	versions_leave(&w->user);
	reloadable_free(r);
}

static int64_t number_in_use(struct world *w)
{
	return *(const int64_t *)versions_use(&w->user);
}

static void the_check_and_the_start_refuse_a_bad_file(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	assert_int_equal(reloadable_check(&numbers, w->path, &err), 0);
	write_number(w, "x");
	assert_int_equal(reloadable_check(&numbers, w->path, &err), -1);
	assert_string_equal(err.text, "no number");
	err = (struct error){0};
	assert_null(reloadable_new(&numbers, w->path, &err));
	assert_string_equal(err.text, "no number");
}

static void a_bad_file_at_a_reload_changes_nothing(void **state)
{
	struct world *w = *state;
	struct reloadable *r = open_number(w);

	write_number(w, "x");
	reloadable_reload(r, &w->report);
	assert_int_equal(number_in_use(w), 1);
	assert_int_equal(metric_value(w->gauge), 1);
	assert_int_equal(metric_value(w->report.failures), 1);
	assert_int_equal(log_file_count(&w->file,
					"numbers rejected, the old ones "
					"stay\" error=\"no number\""),
			 1);
	close_number(w, r);
}

static void a_good_file_after_a_bad_one_is_used(void **state)
{
	struct world *w = *state;
	struct reloadable *r = open_number(w);

	write_number(w, "x");
	reloadable_reload(r, &w->report);
	write_number(w, "2");
	reloadable_reload(r, &w->report);
	assert_int_equal(number_in_use(w), 2);
	assert_int_equal(metric_value(w->gauge), 2);
	assert_int_equal(metric_value(w->report.failures), 1);
	assert_int_equal(log_file_count(&w->file, "numbers reloaded\" is=2"),
			 1);
	close_number(w, r);
}

static void without_a_file_nothing_is_read_again(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	struct reloadable *r = reloadable_new(&numbers, "none", &err);

	assert_non_null(r);
	assert_false(reloadable_has_file(r));
	reloadable_reload(r, &w->report);
	reloadable_reload(NULL, &w->report);
	assert_int_equal(log_file_count(&w->file, "numbers"), 0);
	reloadable_free(r);
	reloadable_free(NULL);
}

static void a_refusal_may_have_fields(void **state)
{
	const struct log_field fields[RELOAD_FIELDS] = {log_int("a", 1),
							log_int("b", 2)};
	const struct reload_report uncounted = {
		.log = ((struct world *)*state)->file.log};
	struct world *w = *state;
	struct error err = {.text = "why"};

	reload_report_rejected(&w->report, "numbers", fields, &err);
	reload_report_rejected(&uncounted, "letters", NULL, &err);
	assert_int_equal(log_file_count(&w->file, "stay\" a=1 b=2 error=why"),
			 1);
	assert_int_equal(log_file_count(&w->file, "stay\" error=why"), 1);
	assert_int_equal(metric_value(w->report.failures), 1);
}

/* --- values that read themselves ------------------------------------------ */

static int read_itself(void *number, struct error *err)
{
	int64_t *n = number;

	if (*n < 0)
		return error_set(err, ERROR_CONFIG, "below 0");
	++*n;
	return 0;
}

static void describe_itself(void *number, struct log_field ret[RELOAD_FIELDS])
{
	describe_number(number, ret);
}

static void a_value_may_read_itself_again(void **state)
{
	static const struct rereadable_kind counts = {
		.what = "counts",
		.read = read_itself,
		.describe = describe_itself,
	};
	struct world *w = *state;
	int64_t number = 1, bad = -1;

	assert_int_equal(rereadable_reload(&counts, &number, &w->report), 0);
	assert_int_equal(log_file_count(&w->file, "counts reloaded\" is=2"), 1);
	assert_int_equal(rereadable_reload(&counts, &bad, &w->report), -1);
	assert_int_equal(log_file_count(&w->file, "counts rejected"), 1);
	assert_int_equal(metric_value(w->report.failures), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_check_and_the_start_refuse_a_bad_file),
		TEST(a_bad_file_at_a_reload_changes_nothing),
		TEST(a_good_file_after_a_bad_one_is_used),
		TEST(without_a_file_nothing_is_read_again),
		TEST(a_refusal_may_have_fields),
		TEST(a_value_may_read_itself_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
