/* Listeners of two threads that share a Unix socket beside their own ports. */
#include <sys/un.h>

#include "world.h"

#include "common/http/unix_socket.h"

#define LISTENERS   2
#define CONNECTIONS 40
#define SHARE	    18 /* out of 20 that are possible */
#define ROUNDS	    500

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

static int connect_to_path(const struct shared_world *all)
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

/* Opens connections one after the other, and closes them at the end.  Returns
 * the smallest number that a listener got. */
static int fewest_of_a_round(struct shared_world *all)
{
	int fds[CONNECTIONS], before[LISTENERS], fewest = CONNECTIONS;

	for (int i = 0; i < LISTENERS; i++)
		before[i] = atomic_load(&all->each[i]->handled);
	for (int i = 0; i < CONNECTIONS; i++) {
		fds[i] = connect_to_path(all);
		ask_for_the_peer(fds[i]);
	}
	for (int i = 0; i < LISTENERS; i++) {
		int n = atomic_load(&all->each[i]->handled) - before[i];

		fewest = n < fewest ? n : fewest;
	}
	for (int i = 0; i < CONNECTIONS; i++)
		close(fds[i]);
	return fewest;
}

/* A thread that gets no processor for a while gets fewer, so some rounds may be
 * needed.  In the usual order of waiting threads, one got 0 to 15 in each of
 * hundreds of rounds. */
static void each_thread_gets_its_share(void **state)
{
	int fewest = 0;

	run_all(*state);
	for (int i = 0; i < ROUNDS && fewest < SHARE; i++)
		fewest = fewest_of_a_round(*state);
	assert_true(fewest >= SHARE);
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

static void drain_on_loop(void *arg)
{
	struct world *w = arg;

	http_listener_drain(w->listener, 60000, world_on_drained, w);
}

static bool all_drained(const struct shared_world *all)
{
	bool drained = true;

	for (int i = 0; i < LISTENERS; i++)
		drained = drained && atomic_load(&all->each[i]->drained);
	return drained;
}

/* Clients wait at the socket when the loops begin, and then a drain is
 * requested. */
static void who_has_connected_is_answered_by_a_drain(void **state)
{
	struct shared_world *all = *state;
	int fds[CONNECTIONS];

	for (int i = 0; i < CONNECTIONS; i++) {
		fds[i] = connect_to_path(all);
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
		SHARED(each_thread_gets_its_share),
		SHARED(their_own_ports_go_on),
		SHARED(who_has_connected_is_answered_by_a_drain),
	};

	return cmocka_run_group_tests_name("shared_socket", tests, NULL, NULL);
}
