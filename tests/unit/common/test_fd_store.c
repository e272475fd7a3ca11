#include "tests/unit/unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/app/fd_store.h"
#include "common/http/address.h"

/* Passes descriptors from 3 on, as a service manager does. */
static void hand_over(const int *fds, int count, const char *names)
{
	char text[24];

	for (int i = 0; i < count; i++) {
		assert_int_equal(dup2(fds[i], 3 + i), 3 + i);
		close(fds[i]);
	}
	snprintf(text, sizeof(text), "%d", (int)getpid());
	setenv("LISTEN_PID", text, 1);
	snprintf(text, sizeof(text), "%d", count);
	setenv("LISTEN_FDS", text, 1);
	setenv("LISTEN_FDNAMES", names, 1);
}

/* Returns a listening socket at a number that hand_over does not use. */
static int make_listening_socket(void)
{
	struct error err;
	int fd, moved;

	assert_int_equal(address_bind("127.0.0.1:0", true, &fd, &err), 0);
	moved = fcntl(fd, F_DUPFD, 100);
	close(fd);
	return moved;
}

static struct inherited *make_inherited(void)
{
	struct error err;
	struct inherited *in = inherited_new(&err);

	assert_non_null(in);
	return in;
}

static void what_is_handed_over_is_taken_with_its_names(void **state)
{
	const int fds[] = {make_listening_socket(), make_listening_socket(),
			   make_listening_socket()};
	struct inherited *in = make_inherited();
	char name[INHERITED_NAME_MAX];
	struct error err;

	(void)state;
	hand_over(fds, 3, "one::three");
	assert_int_equal(fd_store_take(in, &err), 0);
	assert_int_equal(inherited_take_any(in, name), 3);
	assert_string_equal(name, "one");
	assert_int_equal(inherited_take_any(in, name), 4);
	assert_string_equal(name, "");
	assert_int_equal(inherited_take_any(in, name), 5);
	assert_string_equal(name, "three");
	assert_null(getenv("LISTEN_FDS"));
	assert_null(getenv("LISTEN_PID"));
	assert_null(getenv("LISTEN_FDNAMES"));
	for (int fd = 3; fd < 6; fd++)
		close(fd);
	inherited_free(in);
}

static void what_was_meant_for_a_parent_is_left(void **state)
{
	const int fds[] = {make_listening_socket()};
	struct inherited *in = make_inherited();
	struct error err;

	(void)state;
	hand_over(fds, 1, "one");
	setenv("LISTEN_PID", "1", 1);
	assert_int_equal(fd_store_take(in, &err), 0);
	assert_int_equal(inherited_count(in), 0);
	assert_true(fcntl(3, F_GETFD) >= 0);
	assert_null(getenv("LISTEN_FDS"));
	close(3);
	inherited_free(in);
}

static void nothing_and_nonsense_are_no_sockets(void **state)
{
	static const char *const counts[] = {"",  "0",	"-1",
					     "x", "1x", "99999999999999999999"};
	struct inherited *in = make_inherited();
	struct error err;

	(void)state;
	assert_int_equal(fd_store_take(in, &err), 0);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		hand_over(NULL, 0, "");
		setenv("LISTEN_FDS", counts[i], 1);
		assert_int_equal(fd_store_take(in, &err), 0);
	}
	assert_int_equal(inherited_count(in), 0);
	inherited_free(in);
}

static void one_of_no_use_is_a_mistake_of_configuration(void **state)
{
	const int fds[] = {fcntl(socket(AF_INET, SOCK_DGRAM, 0), F_DUPFD, 100),
			   make_listening_socket()};
	struct inherited *in = make_inherited();
	struct error err = {0};

	(void)state;
	hand_over(fds, 2, "dns:web");
	assert_int_equal(fd_store_take(in, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "descriptor 3 (dns)"));
	/* The descriptors are closed. */
	inherited_free(in);
	assert_int_equal(fcntl(3, F_GETFD), -1);
	assert_int_equal(fcntl(4, F_GETFD), -1);
}

/* --- keeping -------------------------------------------------------------- */

static int make_manager_socket(char name[64])
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	unlink(unit_write_file("", name));
	memcpy(address.sun_path, name, strlen(name));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

/* Returns the descriptor that came with the text, or -1. */
static int receive_descriptor(int fd, const char *text)
{
	char got[512] = "", control[CMSG_SPACE(sizeof(int))];
	struct iovec bytes = {got, sizeof(got) - 1};
	struct msghdr message = {.msg_iov = &bytes,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	int passed = -1;

	assert_true(recvmsg(fd, &message, MSG_DONTWAIT) > 0);
	assert_string_equal(got, text);
	c = CMSG_FIRSTHDR(&message);
	if (c)
		memcpy(&passed, CMSG_DATA(c), sizeof(passed));
	return passed;
}

static void a_manager_is_given_the_same_socket(void **state)
{
	struct stat ours, its;
	struct error err;
	char name[64];
	int at = make_manager_socket(name), fd = make_listening_socket(),
	    passed;

	(void)state;
	assert_int_equal(fd_store_put("web-7", fd, &err), 0);
	passed = receive_descriptor(at, "FDSTORE=1\nFDPOLL=0\nFDNAME=web-7");
	assert_int_equal(fstat(fd, &ours), 0);
	assert_int_equal(fstat(passed, &its), 0);
	assert_int_equal(ours.st_ino, its.st_ino);
	assert_int_equal(fd_store_remove("web-7", &err), 0);
	assert_int_equal(
		receive_descriptor(at, "FDSTOREREMOVE=1\nFDNAME=web-7"), -1);
	close(passed);
	close(fd);
	close(at);
	unlink(name);
}

static void it_is_offered_by_a_manager_that_says_so(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	setenv("FDSTORE", "16", 1);
	assert_false(fd_store_is_offered());
	setenv("NOTIFY_SOCKET", "/run/notify", 1);
	assert_true(fd_store_is_offered());
	setenv("FDSTORE", "0", 1);
	assert_false(fd_store_is_offered());
	unsetenv("FDSTORE");
	assert_false(fd_store_is_offered());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_handed_over_is_taken_with_its_names),
		cmocka_unit_test(what_was_meant_for_a_parent_is_left),
		cmocka_unit_test(nothing_and_nonsense_are_no_sockets),
		cmocka_unit_test(one_of_no_use_is_a_mistake_of_configuration),
		cmocka_unit_test(a_manager_is_given_the_same_socket),
		cmocka_unit_test(it_is_offered_by_a_manager_that_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
