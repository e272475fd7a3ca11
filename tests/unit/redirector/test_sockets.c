#include "tests/unit/free_address.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "common/http/address.h"
#include "redirector/handover/sockets.h"

struct world {
	char listen[64], admin[64], visits[64], handover[64], mode[8];
	struct redirector_settings settings;
	struct error err;
};

/* Returns an address at which no process listens. */
static void free_address(char ret[64])
{
	struct free_address at;

	free_address_find(&at);
	snprintf(ret, 64, "%s:%s", at.host, at.port);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	free_address(w->listen);
	free_address(w->admin);
	unlink(unit_write_file("", w->visits));
	unlink(unit_write_file("", w->handover));
	w->settings.listen = w->listen;
	w->settings.admin = w->admin;
	w->settings.listen_unix = w->visits;
	snprintf(w->mode, sizeof(w->mode), "0660");
	w->settings.listen_unix_mode = w->mode;
	w->settings.handover_socket = w->handover;
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static bool is_there(const char *path)
{
	struct stat ignored;

	return lstat(path, &ignored) == 0;
}

/* Returns the sockets of a process with this many threads that inherits `in`,
 * which is freed. */
static struct sockets *make_sockets(struct world *w, size_t threads,
				    struct inherited *in)
{
	struct inherited *none = in ? in : inherited_new(&w->err);
	struct sockets *s = sockets_new(&w->settings, threads, none, &w->err);

	inherited_free(none);
	if (!s)
		fail_msg("%s", w->err.text);
	return s;
}

/* Returns duplicates of all sockets, as another process gets them. */
static struct inherited *handed_over(struct world *w, const struct sockets *s)
{
	struct inherited *in = inherited_new(&w->err);
	const int *fds;
	size_t count = sockets_all(s, &fds);

	for (size_t i = 0; i < count; i++)
		assert_int_equal(inherited_add(in, dup(fds[i]),
					       SOCKETS_NAME "7", &w->err),
				 0);
	return in;
}

static size_t count_shared(const struct sockets *s)
{
	const int *ignored;

	return sockets_shared(s, &ignored);
}

static size_t count_leftover(const struct sockets *s)
{
	const int *ignored;

	return sockets_leftover(s, &ignored);
}

/* Returns how many threads have a socket of their own; closes them. */
static size_t count_own(struct sockets *s, size_t threads)
{
	size_t count = 0;

	for (size_t i = 0; i < threads; i++) {
		int fd = sockets_take_own(s, i);

		count += fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	return count;
}

static void each_thread_has_its_own(void **state)
{
	struct world *w = *state;
	struct sockets *s = make_sockets(w, 3, NULL);

	assert_int_equal(count_shared(s), 1); /* the Unix socket */
	assert_int_equal(count_leftover(s), 0);
	assert_true(sockets_handover(s) >= 0);
	assert_false(sockets_are_all_inherited(s));
	assert_int_equal(count_own(s, 3), 3);
	sockets_free(s);
	assert_false(is_there(w->visits));
	assert_false(is_there(w->handover));
}

static void as_many_are_inherited_one_by_one(void **state)
{
	struct world *w = *state;
	struct sockets *old = make_sockets(w, 3, NULL);
	struct sockets *s = make_sockets(w, 3, handed_over(w, old));

	assert_true(sockets_are_all_inherited(s));
	assert_int_equal(count_shared(s), 1);
	assert_int_equal(count_leftover(s), 0);
	assert_int_equal(count_own(s, 3), 3);
	sockets_free(s);
	sockets_free(old);
}

static void those_of_more_threads_are_shared_by_all(void **state)
{
	struct world *w = *state;
	struct sockets *old = make_sockets(w, 5, NULL);
	struct sockets *s = make_sockets(w, 2, handed_over(w, old));

	assert_int_equal(count_shared(s), 3 + 1);
	assert_int_equal(count_leftover(s), 0);
	assert_int_equal(count_own(s, 2), 2);
	sockets_free(s);
	sockets_free(old);
}

static void missing_ones_are_made(void **state)
{
	struct world *w = *state;
	struct sockets *old = make_sockets(w, 1, NULL);
	struct sockets *s = make_sockets(w, 3, handed_over(w, old));

	assert_false(sockets_are_all_inherited(s));
	assert_int_equal(count_shared(s), 1);
	assert_int_equal(count_own(s, 3), 3);
	sockets_free(s);
	sockets_free(old);
}

/* A socket unit's socket is bound without SO_REUSEPORT. */
static void one_that_cannot_be_bound_again_is_shared_by_all(void **state)
{
	struct world *w = *state;
	struct inherited *in = inherited_new(&w->err);
	struct sockets *s;
	int fd;

	assert_int_equal(address_bind(w->listen, false, &fd, &w->err), 0);
	assert_int_equal(inherited_add(in, fd, "web.socket", &w->err), 0);
	s = make_sockets(w, 3, in);
	assert_int_equal(count_shared(s), 1 + 1);
	assert_int_equal(count_own(s, 3), 0);
	sockets_free(s);
}

static void those_of_other_addresses_are_left_over(void **state)
{
	struct world *w = *state;
	struct sockets *old = make_sockets(w, 2, NULL);
	struct inherited *in = handed_over(w, old);
	struct sockets *s;

	free_address(w->listen);
	w->settings.listen_unix = NULL;
	w->settings.admin = NULL;
	s = make_sockets(w, 2, in);
	assert_int_equal(count_leftover(s), 2 + 1 + 1);
	assert_int_equal(count_shared(s), 0);
	assert_int_equal(sockets_take_admin(s), -1);
	sockets_close_leftover(s);
	assert_int_equal(count_leftover(s), 0);
	sockets_free(s);
	sockets_free(old);
}

static void files_stay_with_who_had_them_until_one_ends_for_good(void **state)
{
	struct world *w = *state;
	struct sockets *old = make_sockets(w, 1, NULL);
	struct sockets *s = make_sockets(w, 1, handed_over(w, old));

	/* The start of this successor failed. */
	sockets_free(s);
	assert_true(is_there(w->visits) && is_there(w->handover));
	/* This successor starts, and owns the files that the predecessor
	 * leaves. */
	s = make_sockets(w, 1, handed_over(w, old));
	sockets_disown(old);
	sockets_free(old);
	assert_true(is_there(w->visits) && is_there(w->handover));
	sockets_unlink(s);
	assert_false(is_there(w->visits) || is_there(w->handover));
	sockets_free(s);
}

static void a_file_gets_the_mode_that_is_said_now(void **state)
{
	struct world *w = *state;
	struct sockets *old = make_sockets(w, 1, NULL), *s;
	struct stat st;

	snprintf(w->mode, sizeof(w->mode), "0600");
	s = make_sockets(w, 1, handed_over(w, old));
	assert_int_equal(stat(w->visits, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	sockets_free(s);
	sockets_free(old);
}

/* The socket unit manages its own file. */
static void the_file_of_a_socket_unit_is_left_alone(void **state)
{
	struct world *w = *state;
	struct sockets *unit = make_sockets(w, 1, NULL), *s;
	struct inherited *in = inherited_new(&w->err);
	const int *fds;
	struct stat st;

	assert_int_equal(sockets_shared(unit, &fds), 1);
	assert_int_equal(inherited_add(in, dup(fds[0]), "web.socket", &w->err),
			 0);
	free_address(w->listen);
	free_address(w->admin);
	w->settings.handover_socket = NULL;
	snprintf(w->mode, sizeof(w->mode), "0600");
	s = make_sockets(w, 1, in);
	assert_int_equal(count_shared(s), 1);
	sockets_unlink(s);
	sockets_free(s);
	assert_int_equal(stat(w->visits, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	sockets_free(unit);
}

static void a_socket_without_its_file_is_made_anew(void **state)
{
	struct world *w = *state;
	struct sockets *old = make_sockets(w, 1, NULL), *s;

	unlink(w->visits);
	s = make_sockets(w, 1, handed_over(w, old));
	assert_int_equal(count_leftover(s), 0);
	assert_true(is_there(w->visits));
	sockets_free(s);
	sockets_free(old);
}

static void an_admin_port_that_is_taken_is_an_error(void **state)
{
	struct world *w = *state;
	struct sockets *old = make_sockets(w, 1, NULL);
	struct inherited *in = inherited_new(&w->err);

	free_address(w->listen);
	assert_null(sockets_new(&w->settings, 1, in, &w->err));
	assert_non_null(strstr(w->err.text, "admin listener"));
	assert_non_null(strstr(w->err.text, w->admin));
	inherited_free(in);
	sockets_free(old);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_thread_has_its_own),
		TEST(as_many_are_inherited_one_by_one),
		TEST(those_of_more_threads_are_shared_by_all),
		TEST(missing_ones_are_made),
		TEST(one_that_cannot_be_bound_again_is_shared_by_all),
		TEST(those_of_other_addresses_are_left_over),
		TEST(files_stay_with_who_had_them_until_one_ends_for_good),
		TEST(a_file_gets_the_mode_that_is_said_now),
		TEST(the_file_of_a_socket_unit_is_left_alone),
		TEST(a_socket_without_its_file_is_made_anew),
		TEST(an_admin_port_that_is_taken_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
