#include "tests/unit/unit.h"

#include <string.h>

#include "common/app/health.h"
#include "common/metrics/metrics.h"

static char *render_as_text(struct metrics *m)
{
	struct buf out = {0};

	metrics_render(m, &out);
	buf_cstr(&out);
	return out.data;
}

static void metrics_of_one_name_stand_under_one_heading(void **state)
{
	struct metrics *m = metrics_new();
	char *text;

	(void)state;
	metric_add(metrics_counter(m, "a_total", "kind=\"x\"", "As."), 2);
	metric_set(metrics_gauge(m, "b", NULL, "Bs."), -3);
	metric_add(metrics_counter(m, "a_total", "kind=\"y\"", "As."), 5);
	text = render_as_text(m);
	assert_string_equal(text, "# HELP a_total As.\n"
				  "# TYPE a_total counter\n"
				  "a_total{kind=\"x\"} 2\n"
				  "a_total{kind=\"y\"} 5\n"
				  "# HELP b Bs.\n"
				  "# TYPE b gauge\n"
				  "b -3\n");
	free(text);
	metrics_free(m);
}

static void a_histogram_counts_upwards(void **state)
{
	static const double bounds[] = {.5, 1};
	struct metrics *m = metrics_new();
	struct metric *h =
		metrics_histogram(m, "h", "a=\"b\"", "Hs.", bounds, 2);
	char *text;

	(void)state;
	metric_observe(h, .25);
	metric_observe(h, 1);
	metric_observe(h, 4);
	text = render_as_text(m);
	assert_string_equal(text, "# HELP h Hs.\n"
				  "# TYPE h histogram\n"
				  "h_bucket{a=\"b\",le=\"0.5\"} 1\n"
				  "h_bucket{a=\"b\",le=\"1\"} 2\n"
				  "h_bucket{a=\"b\",le=\"+Inf\"} 3\n"
				  "h_sum{a=\"b\"} 5.250000\n"
				  "h_count{a=\"b\"} 3\n");
	free(text);
	metrics_free(m);
}

static void expect_line(struct metrics *m, const char *line)
{
	char *text = render_as_text(m);

	assert_non_null(strstr(text, line));
	free(text);
}

static void what_is_attached_counts_at_once_and_stays(void **state)
{
	struct metrics *m = metrics_new();
	struct metric *c = metrics_counter(m, "a_total", NULL, "As.");
	_Atomic uint64_t one = 0, other = 0;
	struct error err = {0};

	(void)state;
	metric_add(c, 1);
	assert_int_equal(metrics_attach(m, c, &one, &err), 0);
	assert_int_equal(metrics_attach(m, c, &other, &err), 0);
	one = 10;
	other = 100;
	expect_line(m, "\na_total 111\n");
	one = 20;
	expect_line(m, "\na_total 121\n");
	assert_int_equal(metric_value(c), 1);
	metrics_detach(m, c, &one);
	one = 5000;
	metrics_detach(m, c, &one);
	expect_line(m, "\na_total 121\n");
	assert_int_equal(metric_value(c), 21);
	metrics_detach(m, c, &other);
	expect_line(m, "\na_total 121\n");
	metrics_detach(m, NULL, &one);
	assert_int_equal(metrics_attach(m, NULL, &one, &err), 0);
	metrics_free(m);
}

static void updating_nothing_is_allowed(void **state)
{
	(void)state;
	metric_add(NULL, 1);
	metric_set(NULL, 1);
	metric_observe(NULL, 1);
	assert_int_equal(metric_value(NULL), 0);
}

static void health_names_what_is_down_and_why(void **state)
{
	struct health *h = health_new();
	struct health_check *redis = health_register(h, "redis");
	struct health_check *kafka = health_register(h, "kafka");
	struct buf out = {0};

	(void)state;
	assert_false(health_report(h, &out));
	assert_string_equal(buf_cstr(&out), "redis: not connected yet\n"
					    "kafka: not connected yet\n");
	buf_reset(&out);
	assert_true(health_up(redis));
	assert_true(health_down(kafka, "all brokers are down"));
	assert_false(health_report(h, &out));
	assert_string_equal(buf_cstr(&out), "kafka: all brokers are down\n");
	buf_reset(&out);
	health_up(kafka);
	assert_true(health_report(h, &out));
	assert_int_equal(out.len, 0);
	buf_free(&out);
	health_free(h);
}

static void health_tells_a_change_once(void **state)
{
	struct health *h = health_new();
	struct health_check *redis = health_register(h, "redis");

	(void)state;
	assert_true(health_down(redis, "refused"));
	assert_false(health_down(redis, "refused"));
	assert_true(health_up(redis));
	assert_false(health_up(redis));
	health_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_of_one_name_stand_under_one_heading),
		cmocka_unit_test(a_histogram_counts_upwards),
		cmocka_unit_test(what_is_attached_counts_at_once_and_stays),
		cmocka_unit_test(updating_nothing_is_allowed),
		cmocka_unit_test(health_names_what_is_down_and_why),
		cmocka_unit_test(health_tells_a_change_once),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
