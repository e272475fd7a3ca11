/* A listener leaves its socket to another one, and drains. */
#include "world.h"

#include "common/http/address.h"

#define CLOSING "\r\nConnection: close\r\n"

/* Two listeners on one socket, with a duplicate each, as in two processes.  The
 * first is open. */
struct pair {
	struct world *old, *next;
};

static struct world *world_at(int fd)
{
	struct world *w = calloc(1, sizeof(*w));
	struct sockaddr_in at = {0};
	socklen_t len = sizeof(at);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	world_configure(w);
	world_open(w);
	http_listener_free(w->listener);
	w->listener =
		http_listener_new_at(w->loop, fd, &w->config, world_handle, w,
				     NULL, "test", &w->err);
	assert_non_null(w->listener);
	w->port = ntohs(at.sin_port);
	return w;
}

static int set_up(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));
	struct error err;
	int fd;

	assert_int_equal(address_bind("127.0.0.1:0", true, &fd, &err), 0);
	p->next = world_at(dup(fd));
	p->old = world_at(fd);
	http_listener_open(p->old->listener);
	world_run(p->old);
	world_run(p->next);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct pair *p = *state;

	world_stop(p->old);
	world_stop(p->next);
	world_free(p->old);
	world_free(p->next);
	free(p);
	return 0;
}

static void leave_patiently(void *arg)
{
	struct world *w = arg;

	http_listener_leave(w->listener, 60000, world_on_drained, w);
}

static void leave_soon(void *arg)
{
	struct world *w = arg;

	http_listener_leave(w->listener, 50, world_on_drained, w);
}

static void wind_down(void *arg)
{
	struct world *w = arg;

	http_listener_wind_down(w->listener, 60000, world_on_drained, w);
}

static void open_on_loop(void *arg)
{
	struct world *w = arg;

	http_listener_open(w->listener);
}

/* Everything that was posted before is done. */
static void in_turn(void *arg)
{
	struct world *w = arg;

	atomic_fetch_add(&w->told_gone, 1);
}

static void wait_for_loop(struct world *w)
{
	int before = atomic_load(&w->told_gone);

	world_post(w, in_turn);
	for (int i = 0; i < PATIENCE_MS && atomic_load(&w->told_gone) == before;
	     i++)
		usleep(1000);
	assert_true(atomic_load(&w->told_gone) > before);
}

static void is_answered(int fd, bool closing)
{
	char *answer = client_read(fd, "GET\n/a\n\n\n", 1);

	assert_int_equal(status_of(answer), 200);
	assert_int_equal(strstr(answer, CLOSING) != NULL, closing);
	free(answer);
}

static void request_and_expect_answer(int fd, bool closing)
{
	client_send(fd, GET("/a"));
	is_answered(fd, closing);
}

static void nobody_is_accepted_before_it_is_open(void **state)
{
	struct pair *p = *state;
	int fd;

	world_post(p->old, leave_patiently);
	assert_true(world_is_drained(p->old));
	fd = client_connect(p->old);
	client_send(fd, GET("/a"));
	wait_for_loop(p->next);
	assert_int_equal(atomic_load(&p->next->handled), 0);
	world_post(p->next, open_on_loop);
	is_answered(fd, false);
	close(fd);
}

static void drain_on_loop(void *arg)
{
	struct world *w = arg;

	http_listener_drain(w->listener, 0, world_on_drained, w);
}

/* A start failed: waiting clients belong to the other listener. */
static void one_that_was_never_open_drains_nobody(void **state)
{
	struct pair *p = *state;
	struct error err;
	int fd, other;

	assert_int_equal(address_bind("127.0.0.1:0", true, &fd, &err), 0);
	other = dup(fd);
	world_stop(p->old);
	world_stop(p->next);
	world_free(p->old);
	world_free(p->next);
	p->old = world_at(fd);
	p->next = world_at(other);
	world_run(p->old);
	world_run(p->next);
	fd = client_connect(p->old);
	client_send(fd, GET("/a"));
	world_post(p->old, drain_on_loop);
	assert_true(world_is_drained(p->old));
	world_post(p->next, open_on_loop);
	is_answered(fd, false);
	close(fd);
}

static void who_is_connected_may_ask_once_more(void **state)
{
	struct pair *p = *state;
	int fd = client_connect(p->old);

	request_and_expect_answer(fd, false);
	world_post(p->old, leave_patiently);
	wait_for_loop(p->old);
	assert_false(atomic_load(&p->old->drained));
	request_and_expect_answer(fd, true);
	assert_true(world_is_drained(p->old));
	close(fd);
}

static void who_has_sent_several_requests_loses_none(void **state)
{
	struct pair *p = *state;
	int fd = client_connect(p->old);
	char *answers;

	client_send(fd, GET("/hold") GET("/a") GET("/a"));
	world_wait_handled(p->old, 1);
	world_post(p->old, leave_patiently);
	world_let_go(p->old);
	answers = client_read_all(fd);
	assert_int_equal(count_occurrences(answers, "HTTP/1.1 200 "), 3);
	assert_int_equal(count_occurrences(answers, CLOSING), 1);
	assert_true(world_is_drained(p->old));
	free(answers);
	close(fd);
}

static void who_does_not_ask_is_closed_in_the_end(void **state)
{
	struct pair *p = *state;
	int fd = client_connect(p->old);
	char byte;

	request_and_expect_answer(fd, false);
	world_post(p->old, leave_soon);
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	assert_true(world_is_drained(p->old));
	close(fd);
}

static void whose_header_is_awaited_is_closed_in_the_end(void **state)
{
	struct pair *p = *state;
	int fd = client_connect(p->old);

	client_send(fd, "GET /a HT");
	usleep(20000);
	world_post(p->old, leave_soon);
	assert_true(world_is_drained(p->old));
	close(fd);
}

static void winding_down_it_accepts_until_the_former_are_gone(void **state)
{
	struct pair *p = *state;
	int first = client_connect(p->old), later;

	request_and_expect_answer(first, false);
	world_post(p->old, wind_down);
	wait_for_loop(p->old);
	later = client_connect(p->old);
	request_and_expect_answer(later, true);
	wait_for_loop(p->old);
	assert_false(atomic_load(&p->old->drained));
	request_and_expect_answer(first, true);
	assert_true(world_is_drained(p->old));
	/* The listener goes on. */
	close(later);
	later = client_connect(p->old);
	request_and_expect_answer(later, true);
	close(later);
	close(first);
}

static void winding_down_without_connections_is_done_at_once(void **state)
{
	struct pair *p = *state;

	world_post(p->old, wind_down);
	assert_true(world_is_drained(p->old));
}

struct waiting {
	struct http_listener *listener;
	int fd;
};

static void accept_waiting(void *arg)
{
	const struct waiting *w = arg;

	http_listener_accept_waiting(w->listener, w->fd);
}

/* Waiting clients of a socket that will be closed are accepted, later ones are
 * not. */
static void those_who_wait_elsewhere_are_accepted_once(void **state)
{
	struct pair *p = *state;
	struct world there;
	struct sockaddr_in at = {0};
	socklen_t len = sizeof(at);
	struct waiting waiting = {.listener = p->next->listener};
	struct error err;
	int fd, late;

	assert_int_equal(address_bind("127.0.0.1:0", true, &waiting.fd, &err),
			 0);
	assert_int_equal(getsockname(waiting.fd, (struct sockaddr *)&at, &len),
			 0);
	there.port = ntohs(at.sin_port);
	fd = client_connect(&there);
	assert_int_equal(
		loop_post(p->next->loop, accept_waiting, &waiting, &err), 0);
	request_and_expect_answer(fd, false);
	wait_for_loop(p->next);
	late = client_connect(&there);
	client_send(late, GET("/a"));
	wait_for_loop(p->next);
	assert_int_equal(atomic_load(&p->next->handled), 1);
	close(waiting.fd);
	close(fd);
	close(late);
}

#define PAIR(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR(nobody_is_accepted_before_it_is_open),
		PAIR(one_that_was_never_open_drains_nobody),
		PAIR(who_is_connected_may_ask_once_more),
		PAIR(who_has_sent_several_requests_loses_none),
		PAIR(who_does_not_ask_is_closed_in_the_end),
		PAIR(whose_header_is_awaited_is_closed_in_the_end),
		PAIR(winding_down_it_accepts_until_the_former_are_gone),
		PAIR(winding_down_without_connections_is_done_at_once),
		PAIR(those_who_wait_elsewhere_are_accepted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
