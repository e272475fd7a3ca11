#include "tests/unit/unit.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggregator/forget/process_name.h"

/* A process that reported its name and waits; it ends when `hold` is closed. */
struct other {
	pid_t pid;
	int hold;
	char name[PROCESS_NAME_MAX];
};

static void other_start(struct other *o)
{
	int told[2], held[2];

	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(held), 0);
	o->pid = fork();
	assert_true(o->pid >= 0);
	if (o->pid == 0) {
		char name[PROCESS_NAME_MAX] = "", byte;

		close(held[1]);
		process_name("forget", name);
		if (write(told[1], name, sizeof(name)) < 0 ||
		    read(held[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(told[1]);
	close(held[0]);
	assert_int_equal(read(told[0], o->name, sizeof(o->name)),
			 sizeof(o->name));
	close(told[0]);
	o->hold = held[1];
}

static void other_end(struct other *o)
{
	int status;

	close(o->hold);
	assert_int_equal(waitpid(o->pid, &status, 0), o->pid);
	assert_int_equal(status, 0);
}

/* Returns the name with the field `back` fields from the end replaced. */
static const char *with_field(const char *name, int back, const char *text,
			      char ret[2 * PROCESS_NAME_MAX])
{
	const char *end = name + strlen(name), *begin = end;

	for (;; end = --begin) {
		while (begin > name && begin[-1] != ':')
			begin--;
		if (back-- == 0)
			break;
	}
	snprintf(ret, (size_t)2 * PROCESS_NAME_MAX, "%.*s%s%s",
		 (int)(begin - name), name, text, end);
	return ret;
}

static void one_is_gone_when_it_has_ended(void **state)
{
	struct other o = {0};

	(void)state;
	other_start(&o);
	assert_false(process_is_gone(o.name));
	other_end(&o);
	assert_true(process_is_gone(o.name));
}

/* A parent may never collect its child's status. */
static void one_that_nobody_waits_for_is_gone_when_it_has_ended(void **state)
{
	struct other o = {0};
	siginfo_t info;

	(void)state;
	other_start(&o);
	close(o.hold);
	assert_int_equal(waitid(P_PID, (id_t)o.pid, &info, WEXITED | WNOWAIT),
			 0);
	assert_true(process_is_gone(o.name));
	assert_int_equal(waitpid(o.pid, NULL, 0), o.pid);
}

static void this_one_is_not_gone(void **state)
{
	char name[PROCESS_NAME_MAX];

	(void)state;
	process_name("forget", name);
	assert_false(process_is_gone(name));
}

static void one_whose_pid_is_anothers_now_is_gone(void **state)
{
	char name[PROCESS_NAME_MAX], text[2 * PROCESS_NAME_MAX];

	(void)state;
	process_name("forget", name);
	assert_true(process_is_gone(with_field(name, 0, "1", text)));
}

/* The name may be of a container with the same host name, or of this host
 * before a reboot: whether that process still runs is unknown. */
static void one_elsewhere_is_not_known_to_be_gone(void **state)
{
	static const char boot[] = "6bd3c5d7-27b2-4bf5-8d49-5a4e0ad1b26f";
	char text[2 * PROCESS_NAME_MAX];
	struct other o = {0};

	(void)state;
	other_start(&o);
	other_end(&o);
	assert_true(process_is_gone(o.name));
	assert_false(
		process_is_gone(with_field(o.name, 1, "4026531999", text)));
	assert_false(process_is_gone(with_field(o.name, 2, boot, text)));
}

static void a_name_without_its_start_tells_nothing(void **state)
{
	char name[PROCESS_NAME_MAX];

	(void)state;
	process_name("forget", name);
	*strchr(strchr(strchr(name, ':') + 1, ':') + 1, ':') = '\0';
	assert_false(process_is_gone(name));
	assert_false(process_is_gone("host:999999999:forget"));
	assert_false(process_is_gone(""));
	assert_false(process_is_gone(":::::"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_gone_when_it_has_ended),
		cmocka_unit_test(
			one_that_nobody_waits_for_is_gone_when_it_has_ended),
		cmocka_unit_test(this_one_is_not_gone),
		cmocka_unit_test(one_whose_pid_is_anothers_now_is_gone),
		cmocka_unit_test(one_elsewhere_is_not_known_to_be_gone),
		cmocka_unit_test(a_name_without_its_start_tells_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
