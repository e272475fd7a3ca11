/*
 * redis_server.h - a Redis of the test's own, on a Unix socket in a directory
 * of its own.  The server ends with the test, however the test ends.
 */
#ifndef TESTS_UNIT_REDIS_SERVER_H
#define TESTS_UNIT_REDIS_SERVER_H

#include "tests/unit/free_address.h"

#include <ftw.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/redis/redis.h"

struct redis_server {
	pid_t pid;
	char dir[32];
	char address[64];	 /* "unix:/..." */
	bool cluster;		 /* a cluster of this one node */
	struct free_address bus; /* for the cluster's own protocol */
	struct redis_config config;
	struct redis *redis; /* a connection for the test's own commands */
};

/* Redis keeps an append-only file, so that a restart does not lose data. */
static inline void redis_server_run(struct redis_server *s)
{
	pid_t parent = getpid();

	s->pid = fork();
	signal(SIGPIPE, SIG_IGN);
	assert_true(s->pid >= 0);
	if (s->pid > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || chdir(s->dir) ||
	    !freopen("redis.log", "a", stdout))
		_exit(1);
	execlp("redis-server", "redis-server", "--port", "0", "--bind",
	       s->bus.host, "--unixsocket", s->address + strlen("unix:"),
	       "--save", "", "--appendonly", "yes", "--appendfsync", "no",
	       "--cluster-enabled", s->cluster ? "yes" : "no", "--cluster-port",
	       s->bus.port, (char *)NULL);
	_exit(1);
}

static inline void redis_server_await(struct redis_server *s)
{
	const char *ping[] = {"PING"};
	struct error err = {0};
	redisReply *reply;

	/* Wait up to a minute: the machine may be busy with other work. */
	for (int i = 0; i < 6000; i++) {
		if (!redis_command(s->redis, 1, ping, NULL, &reply, &err)) {
			freeReplyObject(reply);
			return;
		}
		usleep(10000);
	}
	fail_msg("redis-server does not answer: %s", err.text);
}

static inline void redis_server_start_as(struct redis_server *s, bool cluster)
{
	struct error err;

	memset(s, 0, sizeof(*s));
	s->cluster = cluster;
	free_address_find(&s->bus);
	strcpy(s->dir, "/tmp/shortloop-redis-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->address, sizeof(s->address), "unix:%s/socket", s->dir);
	s->config.address = s->address;
	s->config.connect_timeout = 1000;
	s->config.command_timeout = 5000;
	s->config.pending_max = 1000;
	s->redis = redis_new(&s->config, NULL, &err);
	assert_non_null(s->redis);
	redis_server_run(s);
	redis_server_await(s);
}

static inline void redis_server_start(struct redis_server *s)
{
	redis_server_start_as(s, false);
}

/* Connects again, with these scripts. */
static inline void redis_server_use_scripts(struct redis_server *s,
					    const struct redis_scripts *scripts)
{
	struct error err;

	redis_free(s->redis);
	s->redis = redis_new(&s->config, scripts, &err);
	assert_non_null(s->redis);
}

static inline void redis_server_kill(struct redis_server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	s->pid = 0;
}

static inline void redis_server_restart(struct redis_server *s)
{
	kill(s->pid, SIGTERM);
	waitpid(s->pid, NULL, 0);
	redis_server_run(s);
	redis_server_await(s);
}

/* Saves the append-only file as it is now. */
static inline void redis_server_keep(struct redis_server *s)
{
	char command[160];

	snprintf(command, sizeof(command),
		 "rm -rf %s/kept && cp -r "
		 "%s/appendonlydir %s/kept",
		 s->dir, s->dir, s->dir);
	assert_int_equal(system(command), 0);
}

/* Kills Redis and starts it from the saved file: Redis loses all later writes.
 */
static inline void redis_server_forget(struct redis_server *s)
{
	char command[160];

	redis_server_kill(s);
	snprintf(command, sizeof(command),
		 "rm -rf %s/appendonlydir && cp -r "
		 "%s/kept %s/appendonlydir",
		 s->dir, s->dir, s->dir);
	assert_int_equal(system(command), 0);
	redis_server_run(s);
	redis_server_await(s);
}

/* Copies all keys of one logical database to another and deletes what was
 * there. */
static inline void redis_server_copy(struct redis_server *s, const char *from,
				     const char *to)
{
	static const char script[] =
		"redis.call('SELECT', ARGV[2]) redis.call('FLUSHDB') "
		"redis.call('SELECT', ARGV[1]) "
		"for _, k in ipairs(redis.call('KEYS', '*')) do "
		"  redis.call('COPY', k, k, 'DB', ARGV[2]) "
		"end";
	const char *argv[] = {"EVAL", script, "0", from, to};
	redisReply *reply;
	struct error err;

	if (redis_command(s->redis, 5, argv, NULL, &reply, &err))
		fail_msg("copying keys: %s", err.text);
	freeReplyObject(reply);
}

/* Saves the keys as they are now. */
static inline void redis_server_snapshot(struct redis_server *s)
{
	redis_server_copy(s, "0", "1");
}

/* Restores the saved keys under the same run_id and the same connections, as
 * when a virtual machine goes back to a snapshot. */
static inline void redis_server_go_back(struct redis_server *s)
{
	redis_server_copy(s, "1", "0");
}

static inline int redis_server_unlink(const char *path, const struct stat *st,
				      int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static inline void redis_server_stop(struct redis_server *s)
{
	if (s->pid)
		redis_server_kill(s);
	redis_free(s->redis);
	nftw(s->dir, redis_server_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

/* Sends words separated by spaces; the caller frees the reply. */
static inline redisReply *redis_server_ask(struct redis_server *s,
					   const char *words)
{
	const char *argv[16];
	char text[512];
	char *rest = text, *word;
	redisReply *reply;
	struct error err;
	int argc = 0;

	snprintf(text, sizeof(text), "%s", words);
	while (argc < 16 && (word = strsep(&rest, " ")))
		argv[argc++] = word;
	if (redis_command(s->redis, argc, argv, NULL, &reply, &err))
		fail_msg("%s: %s", words, err.text);
	return reply;
}

/* Sends words and returns the integer, or the number in a bulk string; -1 for
 * nil. */
static inline long long redis_server_number(struct redis_server *s,
					    const char *words)
{
	redisReply *reply = redis_server_ask(s, words);
	long long number = -1;

	if (reply->type == REDIS_REPLY_INTEGER)
		number = reply->integer;
	else if (reply->type == REDIS_REPLY_STRING)
		number = strtoll(reply->str, NULL, 10);
	freeReplyObject(reply);
	return number;
}

/* Sends words and returns the string; "" for nil. */
static inline const char *redis_server_text(struct redis_server *s,
					    const char *words, char text[512])
{
	redisReply *reply = redis_server_ask(s, words);

	snprintf(text, 512, "%s", reply->str ? reply->str : "");
	freeReplyObject(reply);
	return text;
}

/* Returns how often a command was called. */
static inline long long redis_server_calls(struct redis_server *s,
					   const char *command)
{
	redisReply *reply = redis_server_ask(s, "INFO commandstats");
	char name[64];
	const char *at;
	long long calls = 0;

	snprintf(name, sizeof(name), "cmdstat_%s:calls=", command);
	at = strstr(reply->str, name);
	if (at)
		calls = strtoll(at + strlen(name), NULL, 10);
	freeReplyObject(reply);
	return calls;
}

/* Starts a Redis Cluster of one node; it refuses commands over several slots.
 */
static inline void redis_server_start_cluster(struct redis_server *s)
{
	char state[512];

	redis_server_start_as(s, true);
	freeReplyObject(redis_server_ask(s, "CLUSTER ADDSLOTSRANGE 0 16383"));
	for (int i = 0; i < 6000; i++) {
		redis_server_text(s, "CLUSTER INFO", state);
		if (strstr(state, "cluster_state:ok"))
			return;
		usleep(10000);
	}
	fail_msg("the cluster does not come up: %s", state);
}

#endif
