#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "common/http/address.h"
#include "common/http/inherited.h"
#include "common/http/unix_socket.h"

static int set_up(void **state)
{
	struct error err;

	*state = inherited_new(&err);
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	inherited_free(*state);
	return 0;
}

/* Listens at a free port and writes its address. */
static int at_port(const char *host, char ret_address[64])
{
	char any[64];
	struct sockaddr_in6 bound = {0};
	socklen_t len = sizeof(bound);
	struct error err;
	int fd;

	snprintf(any, sizeof(any), "%s:0", host);
	assert_int_equal(address_bind(any, true, &fd, &err), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&bound, &len), 0);
	/* The port is at the same place in both families. */
	snprintf(ret_address, 64, "%s:%u", host, ntohs(bound.sin6_port));
	return fd;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void they_are_found_by_their_address(void **state)
{
	static const char *const hosts[] = {"127.0.0.1", "[::1]", "0.0.0.0",
					    "[::]"};
	char address[4][64];
	struct error err;
	int fds[4];

	for (int i = 0; i < 4; i++) {
		fds[i] = at_port(hosts[i], address[i]);
		assert_int_equal(inherited_add(*state, fds[i], "a", &err), 0);
	}
	assert_int_equal(inherited_count(*state), 4);
	assert_int_equal(inherited_take(*state, "127.0.0.1:1"), -1);
	for (int i = 4; i-- > 0;) {
		assert_int_equal(inherited_take(*state, address[i]), fds[i]);
		assert_int_equal(inherited_take(*state, address[i]), -1);
		close(fds[i]);
	}
	assert_int_equal(inherited_count(*state), 0);
}

static void an_address_of_every_interface_is_found(void **state)
{
	char address[64], every[64];
	int fd = at_port("0.0.0.0", address);
	struct error err;

	snprintf(every, sizeof(every), "%s", strrchr(address, ':'));
	assert_int_equal(inherited_add(*state, fd, "a", &err), 0);
	assert_int_equal(inherited_take(*state, every), fd);
	close(fd);
}

static void unix_sockets_are_found_by_their_path(void **state)
{
	char path[64], name[INHERITED_NAME_MAX];
	struct unix_socket *s;
	struct error err;
	int fd;

	unlink(unit_write_file("", path));
	s = unix_socket_new(path, 0600, &err);
	assert_non_null(s);
	fd = dup(unix_socket_fd(s));
	assert_int_equal(inherited_add(*state, fd, "visits", &err), 0);
	assert_int_equal(inherited_take_unix(*state, "/tmp/x", name), -1);
	assert_int_equal(inherited_take(*state, "127.0.0.1:80"), -1);
	assert_int_equal(inherited_take_unix(*state, path, name), fd);
	assert_string_equal(name, "visits");
	close(fd);
	unix_socket_free(s);
}

static void what_is_left_is_closed_with_it(void **state)
{
	struct inherited *in;
	char address[64], name[INHERITED_NAME_MAX];
	struct error err;
	int first = at_port("127.0.0.1", address),
	    second = at_port("127.0.0.1", address);

	(void)state;
	in = inherited_new(&err);
	assert_int_equal(inherited_add(in, first, "one", &err), 0);
	assert_int_equal(inherited_add(in, second, "two", &err), 0);
	assert_int_equal(inherited_take_any(in, name), first);
	assert_string_equal(name, "one");
	inherited_free(in);
	assert_true(is_open(first));
	assert_false(is_open(second));
	close(first);
}

static void they_do_not_block_and_go_to_no_child(void **state)
{
	char address[64];
	int fd = at_port("127.0.0.1", address);
	struct error err;

	fcntl(fd, F_SETFL, 0);
	fcntl(fd, F_SETFD, 0);
	assert_int_equal(inherited_add(*state, fd, "a", &err), 0);
	assert_int_equal(accept(fd, NULL, NULL), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

static void is_refused(void *in, int fd)
{
	struct error err = {0};

	assert_int_equal(inherited_add(in, fd, "dns", &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_non_null(strstr(err.text, "(dns) is no stream socket"));
	assert_false(is_open(fd));
}

static void what_does_not_listen_is_refused(void **state)
{
	is_refused(*state, socket(AF_INET, SOCK_STREAM, 0));
	is_refused(*state, socket(AF_INET, SOCK_DGRAM, 0));
	is_refused(*state, open("/dev/null", O_RDONLY));
	assert_int_equal(inherited_count(*state), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(they_are_found_by_their_address),
		TEST(an_address_of_every_interface_is_found),
		TEST(unix_sockets_are_found_by_their_path),
		TEST(what_is_left_is_closed_with_it),
		TEST(they_do_not_block_and_go_to_no_child),
		TEST(what_does_not_listen_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
