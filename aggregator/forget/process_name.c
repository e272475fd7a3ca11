#include "aggregator/forget/process_name.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/boot_id.h"
#include "common/host_name.h"
#include "common/read_file.h"

enum {
	HOST_MAX = 64,
	STAT_MAX = 1024,
	/* Positions in /proc/PID/stat, counted after the program's name. */
	STATE_FIELD = 1,
	STARTED_FIELD = 20,
};

struct process {
	long pid;
	char boot[BOOT_ID_MAX];
	uint64_t pid_space; /* inode number of its pid namespace */
	uint64_t started;   /* ticks since the machine's boot */
};

struct seen {
	uint64_t started;
	bool ended; /* a zombie, as in a container without init */
};

/* The program's name is in parentheses, and may have any byte but 0. */
static bool parse_stat(const char *stat, struct seen *ret)
{
	const char *at = strrchr(stat, ')');

	*ret = (struct seen){0};
	for (int i = 1; at && i <= STARTED_FIELD; i++) {
		at = strchr(at, ' ');
		if (at)
			at++;
		if (at && i == STATE_FIELD)
			ret->ended = *at == 'Z' || *at == 'X';
	}
	ret->started = at ? strtoull(at, NULL, 10) : 0;
	return ret->started > 0;
}

static bool look_at(long pid, struct seen *ret)
{
	char path[64];
	struct buf stat = {0};
	struct error ignored;
	bool found;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	found = read_file(path, STAT_MAX, &stat, &ignored) == 0 &&
		buf_cstr(&stat) && parse_stat(stat.data, ret);
	buf_free(&stat);
	return found;
}

static bool read_own(struct process *ret)
{
	struct stat space;
	struct seen seen;

	ret->pid = (long)getpid();
	boot_id(ret->boot);
	ret->boot[strcspn(ret->boot, "\n")] = '\0';
	if (!ret->boot[0] || stat("/proc/self/ns/pid", &space) < 0)
		return false;
	ret->pid_space = (uint64_t)space.st_ino;
	if (!look_at(ret->pid, &seen))
		return false;
	ret->started = seen.started;
	return true;
}

void process_name(const char *what, char ret[PROCESS_NAME_MAX])
{
	struct process own;
	char host[HOST_MAX];
	int len;

	host_name(host, sizeof(host), "");
	len = snprintf(ret, PROCESS_NAME_MAX, "%s:%ld:%s", host, (long)getpid(),
		       what);
	if (len < PROCESS_NAME_MAX && read_own(&own))
		snprintf(ret + len, (size_t)(PROCESS_NAME_MAX - len),
			 ":%s:%" PRIu64 ":%" PRIu64, own.boot, own.pid_space,
			 own.started);
}

/* Removes the last field; returns NULL if there is none. */
static const char *take_last(char *text)
{
	char *at = strrchr(text, ':');

	if (at)
		*at++ = '\0';
	return at;
}

static bool parse_process_name(const char *name, struct process *ret)
{
	char text[PROCESS_NAME_MAX];
	const char *started, *space, *boot, *what, *pid;

	if (strlen(name) >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%s", name);
	started = take_last(text);
	space = take_last(text);
	boot = take_last(text);
	what = take_last(text);
	pid = take_last(text);
	if (!started || !space || !boot || !what || !pid)
		return false;
	ret->pid = strtol(pid, NULL, 10);
	ret->pid_space = strtoull(space, NULL, 10);
	ret->started = strtoull(started, NULL, 10);
	snprintf(ret->boot, sizeof(ret->boot), "%s", boot);
	return ret->pid > 0 && ret->pid_space && ret->started;
}

bool process_is_gone(const char *name)
{
	struct process own, other;
	struct seen seen;

	if (!parse_process_name(name, &other) || !read_own(&own) ||
	    strcmp(own.boot, other.boot) != 0 ||
	    own.pid_space != other.pid_space)
		return false;
	if (kill((pid_t)other.pid, 0) < 0 && errno == ESRCH)
		return true;
	return look_at(other.pid, &seen) &&
	       (seen.ended || seen.started != other.started);
}
