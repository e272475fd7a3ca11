/* Listeners of two threads that share a Unix socket beside their own ports. */
#include <sys/un.h>

#include "world.h"

#include "common/http/unix_socket.h"

#define LISTENERS   2
#define CONNECTIONS 40

struct shared_world {
	struct world *each[LISTENERS];
	char path[64];
	struct unix_socket *socket;
};

static int set_up(void **state)
{
	struct shared_world *all = calloc(1, sizeof(*all));
	struct error err;

	snprintf(all->path, sizeof(all->path), "/tmp/shortloop-unit-%d.sock",
		 (int)getpid());
	all->socket = unix_socket_new(all->path, 0600, &err);
	assert_non_null(all->socket);
	for (int i = 0; i < LISTENERS; i++) {
		struct world *w = all->each[i] = calloc(1, sizeof(*w));

		world_configure(w);
		world_open(w);
		assert_int_equal(
			http_listener_share(w->listener,
					    unix_socket_fd(all->socket), &err),
			0);
	}
	*state = all;
	return 0;
}

static int tear_down(void **state)
{
	struct shared_world *all = *state;

	for (int i = 0; i < LISTENERS; i++) {
		world_stop(all->each[i]);
		world_free(all->each[i]);
	}
	unix_socket_free(all->socket);
	free(all);
	return 0;
}

static void run_all(struct shared_world *all)
{
	for (int i = 0; i < LISTENERS; i++)
		world_run(all->each[i]);
}

static int client(const struct shared_world *all)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", all->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	return fd;
}

static void ask_for_the_peer(int fd)
{
	char *answer;

	client_send(fd, GET("/peer"));
	answer = client_read(fd, "unknown", 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
}

static void no_thread_gets_all_connections(void **state)
{
	struct shared_world *all = *state;
	int fds[CONNECTIONS], sum = 0;

	run_all(all);
	for (int i = 0; i < CONNECTIONS; i++) {
		fds[i] = client(all);
		ask_for_the_peer(fds[i]);
	}
	for (int i = 0; i < LISTENERS; i++) {
		int handled = atomic_load(&all->each[i]->handled);

		assert_true(handled > 0);
		sum += handled;
	}
	assert_int_equal(sum, CONNECTIONS);
	for (int i = 0; i < CONNECTIONS; i++)
		close(fds[i]);
}

static void their_own_ports_go_on(void **state)
{
	struct shared_world *all = *state;

	run_all(all);
	for (int i = 0; i < LISTENERS; i++) {
		int fd = client_connect(all->each[i]);
		char *answer;

		client_send(fd, GET("/peer"));
		answer = client_read(fd, "127.0.0.1", 1);
		assert_int_equal(status_of(answer), 200);
		free(answer);
		close(fd);
	}
}

static void on_drained(void *arg)
{
	struct world *w = arg;

	atomic_store(&w->drained, true);
}

static void drain_on_loop(void *arg)
{
	struct world *w = arg;

	http_listener_drain(w->listener, 60000, on_drained, w);
}

static bool all_drained(const struct shared_world *all)
{
	bool drained = true;

	for (int i = 0; i < LISTENERS; i++)
		drained = drained && atomic_load(&all->each[i]->drained);
	return drained;
}

/* They wait at the socket when the loops begin, and a drain is asked for. */
static void who_has_connected_is_answered_by_a_drain(void **state)
{
	struct shared_world *all = *state;
	int fds[CONNECTIONS];

	for (int i = 0; i < CONNECTIONS; i++) {
		fds[i] = client(all);
		client_send(fds[i], GET("/peer"));
	}
	for (int i = 0; i < LISTENERS; i++)
		world_post(all->each[i], drain_on_loop);
	run_all(all);
	for (int i = 0; i < CONNECTIONS; i++) {
		char *answer = client_read_all(fds[i]);

		assert_int_equal(status_of(answer), 200);
		free(answer);
		close(fds[i]);
	}
	for (int i = 0; i < 20000 && !all_drained(all); i++)
		usleep(1000);
	assert_true(all_drained(all));
}

#define SHARED(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARED(no_thread_gets_all_connections),
		SHARED(their_own_ports_go_on),
		SHARED(who_has_connected_is_answered_by_a_drain),
	};

	return cmocka_run_group_tests_name("shared_socket", tests, NULL, NULL);
}
