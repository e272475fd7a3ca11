/* Both sides of a hand-over, here in one process. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/fds_send.h"
#include "common/http/address.h"
#include "common/http/unix_socket.h"
#include "redirector/handover/handover.h"

/* This is more than one message can have. */
#define MANY	    300
#define PATIENCE_MS 20000

struct world {
	char path[64];
	struct unix_socket *socket;
	int fds[MANY];
	struct handover *handover;
	atomic_int relieved;
	struct error err;
};

static void on_relieved(void *arg)
{
	struct world *w = arg;

	atomic_fetch_add(&w->relieved, 1);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	unlink(unit_write_file("", w->path));
	w->socket = unix_socket_new(w->path, 0600, &w->err);
	assert_non_null(w->socket);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(
			address_bind("127.0.0.1:0", true, &w->fds[i], &w->err),
			0);
	w->handover = handover_new(unix_socket_fd(w->socket), w->fds, MANY,
				   on_relieved, w, NULL, &w->err);
	assert_non_null(w->handover);
	handover_begin(w->handover);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	handover_free(w->handover);
	for (int i = 0; i < MANY; i++)
		close(w->fds[i]);
	unix_socket_free(w->socket);
	free(w);
	return 0;
}

static struct predecessor *inherit_from_predecessor(struct world *w,
						    struct inherited **ret)
{
	struct predecessor *p;

	*ret = inherited_new(&w->err);
	assert_non_null(*ret);
	if (predecessor_find(w->path, PATIENCE_MS, *ret, &p, &w->err) < 0)
		fail_msg("%s", w->err.text);
	return p;
}

static bool is_relieved(struct world *w)
{
	for (int i = 0; i < PATIENCE_MS && !atomic_load(&w->relieved); i++)
		usleep(1000);
	return atomic_load(&w->relieved) == 1;
}

static ino_t inode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

static void all_sockets_come_in_their_order(void **state)
{
	struct world *w = *state;
	struct inherited *in;
	struct predecessor *p = inherit_from_predecessor(w, &in);
	char name[INHERITED_NAME_MAX];

	assert_int_equal(predecessor_pid(p), getpid());
	assert_int_equal(inherited_count(in), MANY);
	for (int i = 0; i < MANY; i++) {
		int fd = inherited_take_any(in, name);

		assert_int_equal(inode_of(fd), inode_of(w->fds[i]));
		close(fd);
	}
	predecessor_free(p);
	inherited_free(in);
}

static void it_is_relieved_by_who_serves(void **state)
{
	struct world *w = *state;
	struct inherited *in;
	struct predecessor *p = inherit_from_predecessor(w, &in);

	assert_int_equal(atomic_load(&w->relieved), 0);
	predecessor_relieve(p);
	assert_true(is_relieved(w));
	assert_true(handover_end(w->handover));
	predecessor_free(p);
	inherited_free(in);
}

static void it_goes_on_after_one_that_ends(void **state)
{
	struct world *w = *state;
	struct inherited *in;

	for (int i = 0; i < 3; i++) {
		predecessor_free(inherit_from_predecessor(w, &in));
		assert_int_equal(inherited_count(in), MANY);
		inherited_free(in);
	}
	it_is_relieved_by_who_serves(state);
}

static void who_only_looks_is_passed_over(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	assert_null(unix_socket_new(w->path, 0600, &err));
	assert_non_null(strstr(err.text, "another process listens there"));
	it_is_relieved_by_who_serves(state);
}

static void without_a_successor_it_has_lent_nothing(void **state)
{
	struct world *w = *state;

	assert_false(handover_end(w->handover));
}

/* The end of the predecessor must not delete the successor's socket files. */
static void one_that_is_about_to_serve_has_them(void **state)
{
	struct world *w = *state;
	struct inherited *in;
	struct predecessor *p = inherit_from_predecessor(w, &in);

	assert_true(handover_end(w->handover));
	assert_int_equal(atomic_load(&w->relieved), 0);
	predecessor_relieve(p); /* the predecessor has ended */
	predecessor_free(p);
	inherited_free(in);
}

/* The redirector has not relieved its own predecessor yet. */
static void nobody_is_answered_before_it_begins(void **state)
{
	struct world *w = *state;
	struct inherited *in = inherited_new(&w->err);
	struct predecessor *p = NULL;

	handover_free(w->handover);
	w->handover = handover_new(unix_socket_fd(w->socket), w->fds, MANY,
				   on_relieved, w, NULL, &w->err);
	assert_non_null(w->handover);
	assert_int_equal(predecessor_find(w->path, 50, in, &p, &w->err), -1);
	assert_int_equal(w->err.code, ERROR_BUSY);
	assert_false(handover_end(w->handover));
	inherited_free(in);
}

static void nobody_there_is_no_error(void **state)
{
	struct world *w = *state;
	struct inherited *in;

	handover_free(w->handover);
	w->handover = NULL;
	unix_socket_free(w->socket);
	w->socket = NULL;
	assert_null(inherit_from_predecessor(w, &in));
	assert_int_equal(inherited_count(in), 0);
	inherited_free(in);
}

/* Closes the socket while a client waits there. */
static void *end_without_accepting(void *arg)
{
	struct world *w = arg;
	struct pollfd one = {.fd = unix_socket_fd(w->socket), .events = POLLIN};

	assert_int_equal(poll(&one, 1, PATIENCE_MS), 1);
	unix_socket_disown(w->socket);
	unix_socket_free(w->socket);
	w->socket = NULL;
	return NULL;
}

/* A predecessor that was relieved ends in this way if its successor was killed.
 */
static void one_that_ends_meanwhile_is_waited_for_no_longer(void **state)
{
	struct world *w = *state;
	struct inherited *in;
	pthread_t thread;

	handover_free(w->handover);
	w->handover = NULL;
	pthread_create(&thread, NULL, end_without_accepting, w);
	assert_null(inherit_from_predecessor(w, &in));
	pthread_join(thread, NULL);
	assert_int_equal(inherited_count(in), 0);
	inherited_free(in);
	unlink(w->path);
}

/* Each successor takes the sockets in turn; the others wait. */
static void who_comes_second_waits_for_the_first(void **state)
{
	struct world *w = *state;
	struct inherited *first, *second;
	struct predecessor *p = inherit_from_predecessor(w, &first), *q = NULL;

	second = inherited_new(&w->err);
	assert_int_equal(predecessor_find(w->path, 50, second, &q, &w->err),
			 -1);
	assert_int_equal(w->err.code, ERROR_BUSY);
	assert_true(w->err.retriable);
	inherited_free(second);
	predecessor_free(p);
	inherited_free(first);
	p = inherit_from_predecessor(w, &first);
	assert_int_equal(inherited_count(first), MANY);
	predecessor_free(p);
	inherited_free(first);
}

/* --- silent peers ---------
 */

static int connect_silently(const struct world *w)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", w->path);
	assert_int_equal(
		connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* A successor's timeout here is shorter than that of the silent peers together.
 */
static void peers_that_say_nothing_make_nobody_wait(void **state)
{
	int silent[3];
	struct world *w = *state;

	for (int i = 0; i < 3; i++)
		silent[i] = connect_silently(w);
	it_is_relieved_by_who_serves(state);
	for (int i = 0; i < 3; i++)
		close(silent[i]);
}

static void half_a_message_makes_nobody_wait(void **state)
{
	struct world *w = *state;
	int half = connect_silently(w);

	assert_int_equal(send(half, "SLhand1", 7, 0), 7);
	it_is_relieved_by_who_serves(state);
	close(half);
}

static void more_than_can_wait_are_left_from_the_first(void **state)
{
	struct pollfd first;
	int silent[40];
	struct world *w = *state;

	for (int i = 0; i < 40; i++)
		silent[i] = connect_silently(w);
	first = (struct pollfd){.fd = silent[0], .events = POLLIN};
	assert_int_equal(poll(&first, 1, PATIENCE_MS), 1);
	it_is_relieved_by_who_serves(state);
	for (int i = 0; i < 40; i++)
		close(silent[i]);
}

/* A successor connects first, and sends its request after the other was served.
 */
static void one_that_waited_asks_the_next(void **state)
{
	struct world *w = *state;
	int late = connect_silently(w);
	char byte;

	it_is_relieved_by_who_serves(state);
	/* The successor is notified at once, and does not wait for its timeout.
	 */
	assert_true(recv(late, &byte, 1, 0) <= 0);
	close(late);
}

/* --- others than a redirector ----------------------------------------------
 */

struct stranger {
	int listening;
	const void *answer;
	size_t len;
	int fd; /* sent with the answer; -1: none */
};

static void *answer_once(void *arg)
{
	const struct stranger *s = arg;
	int fd = accept(s->listening, NULL, NULL);
	char in[256];
	struct iovec bytes = {.iov_base = (void *)(uintptr_t)s->answer,
			      .iov_len = s->len};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
	struct cmsghdr *c;

	assert_true(recv(fd, in, sizeof(in), 0) > 0);
	if (s->fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &s->fd, sizeof(int));
	}
	if (s->len)
		sendmsg(fd, &message, MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

/* Returns the error of a successor that gets this answer. */
static struct error error_of_answer(const void *answer, size_t len, int fd)
{
	struct world *w;
	struct stranger s = {.answer = answer, .len = len, .fd = fd};
	struct inherited *in;
	struct predecessor *p = NULL;
	struct error err = {0};
	pthread_t thread;

	w = calloc(1, sizeof(*w));
	in = inherited_new(&err);
	unlink(unit_write_file("", w->path));
	s.listening = listen_at(w->path);
	pthread_create(&thread, NULL, answer_once, &s);
	assert_int_equal(predecessor_find(w->path, PATIENCE_MS, in, &p, &err),
			 -1);
	assert_null(p);
	assert_int_equal(inherited_count(in), 0);
	assert_non_null(strstr(err.text, w->path));
	pthread_join(thread, NULL);
	close(s.listening);
	unlink(w->path);
	inherited_free(in);
	free(w);
	return err;
}

static void one_that_speaks_otherwise_is_named(void **state)
{
	static const char http[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
	static const char newer[20] = "SLhand9\0\2\0\0\0\0\0\0\0";
	struct error err;

	(void)state;
	err = error_of_answer(http, sizeof(http), -1);
	assert_int_equal(err.code, ERROR_PROTOCOL);
	err = error_of_answer(newer, sizeof(newer), -1);
	assert_int_equal(err.code, ERROR_PROTOCOL);
	err = error_of_answer(newer, 5, -1);
	assert_int_equal(err.code, ERROR_PROTOCOL);
}

static void one_that_hangs_up_may_be_tried_again(void **state)
{
	struct error err;

	(void)state;
	err = error_of_answer("", 0, -1);
	assert_int_equal(err.code, ERROR_BUSY);
	assert_true(err.retriable);
}

/* Reads less than it was sent, so that its end is a reset; then no process
 * listens. */
static void *send_one_and_end(void *arg)
{
	static const char some[20] = "SLhand1\0\2\0\0\0\1\0\0\0";
	const struct stranger *s = arg;
	int fd = accept(s->listening, NULL, NULL);
	char in;

	close(s->listening);
	assert_int_equal(recv(fd, &in, 1, 0), 1);
	assert_int_equal(fds_send(fd, some, sizeof(some), &s->fd, 1),
			 sizeof(some));
	close(fd);
	return NULL;
}

/* The next predecessor sends that socket, too, and it must not be kept twice.
 */
static void what_one_sent_that_ended_meanwhile_is_dropped(void **state)
{
	struct error err = {0};
	struct stranger s = {0};
	struct inherited *in = inherited_new(&err);
	struct predecessor *p;
	char path[64];
	pthread_t thread;

	(void)state;
	unlink(unit_write_file("", path));
	s.listening = listen_at(path);
	assert_int_equal(address_bind("127.0.0.1:0", true, &s.fd, &err), 0);
	pthread_create(&thread, NULL, send_one_and_end, &s);
	assert_int_equal(predecessor_find(path, PATIENCE_MS, in, &p, &err), 0);
	assert_null(p);
	assert_int_equal(inherited_count(in), 0);
	pthread_join(thread, NULL);
	close(s.fd);
	unlink(path);
	inherited_free(in);
}

/* Two descriptors are announced, one comes. */
static void descriptors_that_are_missing_are_noticed(void **state)
{
	static const char two[20] = "SLhand1\0\2\0\0\0\2\0\0\0";
	int fd = open("/dev/null", O_RDONLY), before, after;
	struct error err;

	(void)state;
	before = dup(fd);
	close(before);
	err = error_of_answer(two, sizeof(two), fd);
	assert_int_equal(err.code, ERROR_PROTOCOL);
	/* The descriptor that came is closed. */
	after = dup(fd);
	assert_int_equal(after, before);
	close(after);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_sockets_come_in_their_order),
		TEST(it_is_relieved_by_who_serves),
		TEST(it_goes_on_after_one_that_ends),
		TEST(who_only_looks_is_passed_over),
		TEST(without_a_successor_it_has_lent_nothing),
		TEST(one_that_is_about_to_serve_has_them),
		TEST(nobody_there_is_no_error),
		TEST(nobody_is_answered_before_it_begins),
		TEST(one_that_ends_meanwhile_is_waited_for_no_longer),
		TEST(who_comes_second_waits_for_the_first),
		TEST(peers_that_say_nothing_make_nobody_wait),
		TEST(half_a_message_makes_nobody_wait),
		TEST(more_than_can_wait_are_left_from_the_first),
		TEST(one_that_waited_asks_the_next),
		cmocka_unit_test(one_that_speaks_otherwise_is_named),
		cmocka_unit_test(one_that_hangs_up_may_be_tried_again),
		cmocka_unit_test(what_one_sent_that_ended_meanwhile_is_dropped),
		cmocka_unit_test(descriptors_that_are_missing_are_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
