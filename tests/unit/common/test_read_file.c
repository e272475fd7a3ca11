#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/read_file.h"

static void expect_refused(const char *path, const char *says)
{
	struct buf text = {0};
	struct error err = {0};

	assert_int_equal(read_file(path, 1 << 20, &text, &err), -1);
	assert_string_equal(err.text, says);
	assert_null(plain_file_stream(path, &err));
	assert_int_equal(plain_file_open(path, &err), -1);
	buf_free(&text);
}

/* Makes a file in a folder of its own, which the caller removes. */
static char *make_path(char directory[64], const char *name, char path[108])
{
	snprintf(directory, 64, "/tmp/shortloop-unit-XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, 108, "%s/%s", directory, name);
	return path;
}

static void what_has_no_end_or_waits_is_not_opened(void **state)
{
	char directory[64], path[108], link[108];

	(void)state;
	expect_refused("/dev/zero", "it is a device, not a plain file");
	expect_refused("/dev/null", "it is a device, not a plain file");
	expect_refused("/dev/tty", "it is a device, not a plain file");
	expect_refused("/tmp", "it is a directory, not a plain file");
	expect_refused("/nowhere", "No such file or directory");
	make_path(directory, "fifo", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_refused(path, "it is a FIFO, not a plain file");
	snprintf(link, sizeof(link), "%.64s/link", directory);
	assert_int_equal(symlink(path, link), 0);
	expect_refused(link, "it is a FIFO, not a plain file");
	unit_remove_dir(directory);
}

static void a_socket_is_not_opened(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char directory[64];

	(void)state;
	make_path(directory, "socket", address.sun_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	expect_refused(address.sun_path, "it is a socket, not a plain file");
	close(fd);
	unit_remove_dir(directory);
}

static void a_file_is_read_up_to_a_bound(void **state)
{
	struct buf text = {0};
	struct error err = {0};
	char path[64];

	(void)state;
	unit_write_file("one\ntwo\n", path);
	assert_int_equal(read_file(path, 8, &text, &err), 0);
	assert_string_equal(buf_cstr(&text), "one\ntwo\n");
	buf_reset(&text);
	assert_int_equal(read_file(path, 7, &text, &err), 0);
	assert_true(text.len > 7);
	buf_free(&text);
	unlink(path);
	assert_int_equal(read_file("/proc/self/stat", 4096, &text, &err), 0);
	assert_true(text.len > 0);
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_end_or_waits_is_not_opened),
		cmocka_unit_test(a_socket_is_not_opened),
		cmocka_unit_test(a_file_is_read_up_to_a_bound),
	};

	return cmocka_run_group_tests_name("read_file", tests, NULL, NULL);
}
