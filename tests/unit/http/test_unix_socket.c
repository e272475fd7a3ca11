/* The owner of a file: a Unix socket's, a dead process's, or none. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/http/unix_socket.h"

struct place {
	char directory[64];
	char path[96];
	struct error err;
};

static int set_up(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	snprintf(p->directory, sizeof(p->directory),
		 "/tmp/shortloop-unit-XXXXXX");
	assert_non_null(mkdtemp(p->directory));
	snprintf(p->path, sizeof(p->path), "%s/a.sock", p->directory);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;

	unlink(p->path);
	assert_int_equal(rmdir(p->directory), 0);
	free(p);
	return 0;
}

static struct sockaddr_un address_of(const struct place *p)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", p->path);
	return un;
}

/* Binds a socket of another owner there. */
static int bind_other_socket(const struct place *p, int type)
{
	struct sockaddr_un un = address_of(p);
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	return fd;
}

/* Returns -1 if no process listens. */
static int connect_to_path(const struct place *p)
{
	struct sockaddr_un un = address_of(p);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool is_there(const struct place *p)
{
	struct stat ignored;

	return lstat(p->path, &ignored) == 0;
}

static void is_refused(struct place *p, const char *why)
{
	p->err = (struct error){0};
	assert_null(unix_socket_new(p->path, 0660, &p->err));
	assert_int_equal(p->err.code, ERROR_SYSTEM);
	assert_non_null(strstr(p->err.text, p->path));
	if (!strstr(p->err.text, why))
		fail_msg("'%s', expected '%s'", p->err.text, why);
}

static void it_listens_with_its_mode_until_it_is_freed(void **state)
{
	struct place *p = *state;
	struct unix_socket *s = unix_socket_new(p->path, 0640, &p->err);
	struct stat st;
	int fd = connect_to_path(p);

	assert_non_null(s);
	assert_true(fd >= 0);
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0640);
	close(fd);
	unix_socket_free(s);
	assert_false(is_there(p));
}

static void who_has_connected_is_accepted_after_it_was_unlinked(void **state)
{
	struct place *p = *state;
	struct unix_socket *s = unix_socket_new(p->path, 0660, &p->err);
	int fd = connect_to_path(p), accepted;

	assert_non_null(s);
	unix_socket_unlink(s);
	assert_false(is_there(p));
	accepted = accept(unix_socket_fd(s), NULL, NULL);
	assert_true(accepted >= 0);
	close(accepted);
	close(fd);
	unix_socket_free(s);
}

static void the_file_of_a_dead_process_is_replaced(void **state)
{
	struct place *p = *state;
	struct unix_socket *s;
	int fd;

	close(bind_other_socket(p, SOCK_STREAM));
	assert_int_equal(connect_to_path(p), -1);
	s = unix_socket_new(p->path, 0660, &p->err);
	assert_non_null(s);
	fd = connect_to_path(p);
	assert_true(fd >= 0);
	close(fd);
	unix_socket_free(s);
}

static void a_live_one_is_left_alone(void **state)
{
	struct place *p = *state;
	struct unix_socket *first = unix_socket_new(p->path, 0660, &p->err);
	int fd;

	assert_non_null(first);
	is_refused(p, "another process listens");
	fd = connect_to_path(p);
	assert_true(fd >= 0);
	close(fd);
	unix_socket_free(first);
}

static void so_is_one_that_has_no_place_for_more(void **state)
{
	struct place *p = *state;
	int other = bind_other_socket(p, SOCK_STREAM), waiting[8], n = 0;

	assert_int_equal(listen(other, 0), 0);
	while (n < 8 && (waiting[n] = connect_to_path(p)) >= 0)
		n++;
	assert_true(n > 0 && n < 8);
	is_refused(p, "another process listens");
	while (n-- > 0)
		close(waiting[n]);
	close(other);
}

static void so_is_one_of_another_type(void **state)
{
	struct place *p = *state;
	int other = bind_other_socket(p, SOCK_DGRAM);

	is_refused(p, strerror(EPROTOTYPE));
	assert_true(is_there(p));
	close(other);
}

static void what_is_no_socket_is_never_removed(void **state)
{
	struct place *p = *state;
	FILE *file = fopen(p->path, "w");

	assert_non_null(file);
	fclose(file);
	is_refused(p, "no socket");
	assert_true(is_there(p));
	unlink(p->path);
	assert_int_equal(symlink("/nowhere", p->path), 0);
	is_refused(p, "no socket");
	assert_true(is_there(p));
}

static void anothers_file_is_not_removed_at_the_end(void **state)
{
	struct place *p = *state;
	struct unix_socket *s = unix_socket_new(p->path, 0660, &p->err);
	int other;

	assert_non_null(s);
	unlink(p->path);
	other = bind_other_socket(p, SOCK_STREAM);
	unix_socket_free(s);
	assert_true(is_there(p));
	close(other);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
	struct error err = {0};

	(void)state;
	assert_null(unix_socket_new("/nowhere/at/all.sock", 0660, &err));
	assert_string_equal(err.text, "cannot listen on /nowhere/at/all.sock: "
				      "No such file or directory");
}

static void a_path_is_absolute_and_short(void **state)
{
	char path[200];

	(void)state;
	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[107] = '\0';
	assert_null(unix_socket_path_error(path));
	path[107] = 'a';
	path[108] = '\0';
	assert_non_null(strstr(unix_socket_path_error(path), "too long"));
	assert_non_null(strstr(unix_socket_path_error("a.sock"), "absolute"));
	assert_non_null(strstr(unix_socket_path_error(""), "absolute"));
}

/* --- two at once -----------------------------------------------------------
 */

#define STARTERS 4

struct start {
	struct place *place;
	pthread_barrier_t *barrier;
	struct unix_socket *made;
};

static void *start_one(void *arg)
{
	struct start *s = arg;
	struct error ignored;

	pthread_barrier_wait(s->barrier);
	s->made = unix_socket_new(s->place->path, 0660, &ignored);
	return NULL;
}

static void of_some_that_start_at_once_one_listens(void **state)
{
	struct start starts[STARTERS];
	pthread_t threads[STARTERS];
	pthread_barrier_t barrier;
	int made;

	pthread_barrier_init(&barrier, NULL, STARTERS);
	for (int round = 0; round < 100; round++) {
		close(bind_other_socket(*state, SOCK_STREAM));
		made = 0;
		for (int i = 0; i < STARTERS; i++) {
			starts[i] = (struct start){*state, &barrier, NULL};
			pthread_create(&threads[i], NULL, start_one,
				       &starts[i]);
		}
		for (int i = 0; i < STARTERS; i++)
			pthread_join(threads[i], NULL);
		for (int i = 0; i < STARTERS; i++) {
			made += starts[i].made != NULL;
			unix_socket_free(starts[i].made);
		}
		assert_int_equal(made, 1);
		assert_false(is_there(*state));
	}
	pthread_barrier_destroy(&barrier);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(it_listens_with_its_mode_until_it_is_freed),
		CASE(who_has_connected_is_accepted_after_it_was_unlinked),
		CASE(the_file_of_a_dead_process_is_replaced),
		CASE(a_live_one_is_left_alone),
		CASE(so_is_one_that_has_no_place_for_more),
		CASE(so_is_one_of_another_type),
		CASE(what_is_no_socket_is_never_removed),
		CASE(anothers_file_is_not_removed_at_the_end),
		CASE(of_some_that_start_at_once_one_listens),
		cmocka_unit_test(a_folder_that_is_not_there_is_named),
		cmocka_unit_test(a_path_is_absolute_and_short),
	};

	return cmocka_run_group_tests_name("unix_socket", tests, NULL, NULL);
}
