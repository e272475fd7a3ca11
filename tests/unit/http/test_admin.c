#include "world.h"

#include "common/app/admin.h"

struct office {
	struct metrics *metrics;
	struct health *health;
	struct health_check *redis;
	struct admin *admin;
	struct world client; /* only its port is used */
	struct error err;
	char address[32];
};

/* Returns a port that was free a moment ago. */
static uint16_t free_port(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	bind(fd, (struct sockaddr *)&at, sizeof(at));
	getsockname(fd, (struct sockaddr *)&at, &len);
	close(fd);
	return ntohs(at.sin_port);
}

static int set_up_admin(void **state)
{
	struct office *o = calloc(1, sizeof(*o));

	o->metrics = metrics_new();
	o->health = health_new();
	o->redis = health_register(o->health, "redis");
	/* Another program may take the port in between. */
	for (int i = 0; i < 10 && !o->admin; i++) {
		o->client.port = free_port();
		snprintf(o->address, sizeof(o->address), "127.0.0.1:%u",
			 o->client.port);
		o->admin = admin_new(o->address, &http_config_default,
				     o->metrics, o->health, &o->err);
	}
	*state = o;
	return o->admin ? 0 : -1;
}

static int tear_down_admin(void **state)
{
	struct office *o = *state;

	admin_free(o->admin);
	health_free(o->health);
	metrics_free(o->metrics);
	free(o);
	return 0;
}

static char *request_answer(struct office *o, const char *line)
{
	char request[128];

	snprintf(request, sizeof(request), "%s HTTP/1.0\r\n\r\n", line);
	return client_exchange(&o->client, request);
}

static void expect_answer(struct office *o, const char *line, int status,
			  const char *text)
{
	char *answer = request_answer(o, line);

	assert_int_equal(status_of(answer), status);
	assert_non_null(strstr(answer, text));
	free(answer);
}

static void healthz_is_ok_whatever_is_down(void **state)
{
	expect_answer(*state, "GET /healthz", 200, "ok\n");
}

static void readyz_names_what_is_down(void **state)
{
	struct office *o = *state;

	health_down(o->redis, "connection refused");
	expect_answer(o, "GET /readyz", 503, "redis: connection refused\n");
}

static void readyz_is_ok_when_all_is_up(void **state)
{
	struct office *o = *state;

	health_up(o->redis);
	expect_answer(o, "GET /readyz", 200, "ok\n");
}

static void metrics_are_prometheus_text(void **state)
{
	struct office *o = *state;

	metric_add(metrics_counter(o->metrics, "a_total", NULL, "A."), 3);
	expect_answer(o, "GET /metrics", 200, "\na_total 3\n");
}

static void other_paths_are_a_404(void **state)
{
	expect_answer(*state, "GET /", 404, "problem+json");
}

static void other_methods_are_a_405(void **state)
{
	expect_answer(*state, "POST /healthz", 405, "\r\nAllow: GET, HEAD\r\n");
}

static void a_second_on_the_same_port_is_refused(void **state)
{
	struct office *o = *state;
	struct admin *second = admin_new(o->address, &http_config_default,
					 o->metrics, o->health, &o->err);

	assert_null(second);
	assert_int_equal(o->err.sys, EADDRINUSE);
}

int main(void)
{
#define ADMIN(name)                                                            \
	cmocka_unit_test_setup_teardown(name, set_up_admin, tear_down_admin)
	const struct CMUnitTest tests[] = {
		ADMIN(healthz_is_ok_whatever_is_down),
		ADMIN(readyz_names_what_is_down),
		ADMIN(readyz_is_ok_when_all_is_up),
		ADMIN(metrics_are_prometheus_text),
		ADMIN(other_paths_are_a_404),
		ADMIN(other_methods_are_a_405),
		ADMIN(a_second_on_the_same_port_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
