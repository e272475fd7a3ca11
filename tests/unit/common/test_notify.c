#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/app/notify.h"
#include "common/clock.h"

/* Opens a manager's socket at a name of $NOTIFY_SOCKET. */
static int manager_at(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	memcpy(address.sun_path, name, len);
	if (*name == '@')
		address.sun_path[0] = '\0';
	len += offsetof(struct sockaddr_un, sun_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, (socklen_t)len),
			 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static void expect_message(int fd, const char *wanted)
{
	char got[128] = "";

	assert_true(recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT) >= 0);
	assert_string_equal(got, wanted);
}

static void without_a_manager_nothing_is_sent(void **state)
{
	struct error err = {0};

	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify("READY=1", &err), 0);
}

static void a_manager_with_a_path_is_told(void **state)
{
	char directory[] = "/tmp/unit-notify-XXXXXX", name[64];
	struct error err = {0};
	int fd;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(name, sizeof(name), "%s/socket", directory);
	fd = manager_at(name);
	assert_int_equal(notify("READY=1", &err), 0);
	expect_message(fd, "READY=1");
	close(fd);
	unlink(name);
	rmdir(directory);
}

static void a_manager_with_an_abstract_name_is_told(void **state)
{
	struct error err = {0};
	char name[64];
	int fd;

	(void)state;
	snprintf(name, sizeof(name), "@unit-notify-%d", (int)getpid());
	fd = manager_at(name);
	assert_int_equal(notify("STOPPING=1", &err), 0);
	expect_message(fd, "STOPPING=1");
	close(fd);
}

static void a_reload_carries_a_time_not_before_the_call(void **state)
{
	int64_t before = clock_monotonic_ns() / 1000, told = 0;
	char name[64], got[128] = "";
	struct error err = {0};
	int fd;

	(void)state;
	snprintf(name, sizeof(name), "@unit-notify-%d", (int)getpid());
	fd = manager_at(name);
	assert_int_equal(notify_reloading(&err), 0);
	assert_true(recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT) > 0);
	assert_int_equal(
		sscanf(got, "RELOADING=1\nMONOTONIC_USEC=%" SCNd64, &told), 1);
	assert_true(told >= before);
	close(fd);
}

static void a_manager_that_is_not_there_is_an_error(void **state)
{
	static const char *const names[] = {"/nonexistent/socket", "vsock:2:1",
					    "@unit-notify-nobody"};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		err = (struct error){0};
		setenv("NOTIFY_SOCKET", names[i], 1);
		assert_int_equal(notify("READY=1", &err), -1);
		assert_non_null(strstr(err.text, names[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_manager_nothing_is_sent),
		cmocka_unit_test(a_manager_with_a_path_is_told),
		cmocka_unit_test(a_manager_with_an_abstract_name_is_told),
		cmocka_unit_test(a_reload_carries_a_time_not_before_the_call),
		cmocka_unit_test(a_manager_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}
