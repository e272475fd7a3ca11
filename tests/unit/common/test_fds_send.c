#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fds_send.h"

struct received {
	char text[16];
	int fds[FDS_SEND_MAX];
	size_t count;
};

static struct received receive_message(int from)
{
	struct received r = {0};
	char control[CMSG_SPACE(sizeof(r.fds))];
	struct iovec text = {.iov_base = r.text, .iov_len = sizeof(r.text) - 1};
	struct msghdr message = {.msg_iov = &text,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	const struct cmsghdr *c;

	assert_true(recvmsg(from, &message, 0) > 0);
	assert_int_equal(message.msg_flags & MSG_CTRUNC, 0);
	c = CMSG_FIRSTHDR(&message);
	if (!c)
		return r;
	r.count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(r.fds, CMSG_DATA(c), r.count * sizeof(int));
	return r;
}

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

static void make_socket_pair(int ret[2], int type)
{
	assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ret), 0);
}

static void text_goes_without_any(void **state)
{
	struct received r;
	int ends[2];

	(void)state;
	make_socket_pair(ends, SOCK_DGRAM);
	assert_int_equal(fds_send(ends[0], "READY=1", 7, NULL, 0), 7);
	r = receive_message(ends[1]);
	assert_string_equal(r.text, "READY=1");
	assert_int_equal(r.count, 0);
	close_all(ends, 2);
}

/* Bytes written to one end of the pipe come out of the other. */
static void as_many_as_the_kernel_takes_arrive(void **state)
{
	int ends[2], pipes[2], many[FDS_SEND_MAX];
	struct received r;
	char byte = 0;

	(void)state;
	make_socket_pair(ends, SOCK_STREAM);
	assert_int_equal(pipe(pipes), 0);
	for (size_t i = 0; i < FDS_SEND_MAX; i++)
		many[i] = pipes[1];
	assert_int_equal(fds_send(ends[0], "x", 1, many, FDS_SEND_MAX), 1);
	r = receive_message(ends[1]);
	assert_int_equal(r.count, FDS_SEND_MAX);
	assert_int_equal(write(r.fds[FDS_SEND_MAX - 1], "y", 1), 1);
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	assert_int_equal(byte, 'y');
	close_all(r.fds, r.count);
	close_all(pipes, 2);
	close_all(ends, 2);
}

static void more_are_refused(void **state)
{
	int ends[2], many[FDS_SEND_MAX + 1];

	(void)state;
	make_socket_pair(ends, SOCK_STREAM);
	for (size_t i = 0; i < FDS_SEND_MAX + 1; i++)
		many[i] = ends[0];
	assert_int_equal(fds_send(ends[0], "x", 1, many, FDS_SEND_MAX + 1), -1);
	assert_int_equal(errno, EINVAL);
	close_all(ends, 2);
}

/* No signal is raised. */
static void a_peer_that_went_is_an_error(void **state)
{
	int ends[2];

	(void)state;
	make_socket_pair(ends, SOCK_STREAM);
	close(ends[1]);
	assert_int_equal(fds_send(ends[0], "x", 1, NULL, 0), -1);
	assert_int_equal(errno, EPIPE);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_goes_without_any),
		cmocka_unit_test(as_many_as_the_kernel_takes_arrive),
		cmocka_unit_test(more_are_refused),
		cmocka_unit_test(a_peer_that_went_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
