/*
 * confine.c - runs a program under the restrictions of a systemd unit, without
 * systemd.  support/unit.py writes the rules:
 *
 *	allow NAME	a system call; any call without a line kills the program
 *	family N	an address family that socket() may use
 *	deny wx|namespaces|realtime|suid
 *	nofile N	the limit on descriptors
 *	capabilities	drops all, for any user
 *	writable PATH	stays writable; everything else becomes read-only
 *
 * usage: confine RULES PROGRAM [ARGUMENT]...
 *        confine RULES call NAME: makes the call with zeros; prints the result
 *
 * Each restriction is a filter of its own, as in systemd; the kernel takes the
 * strictest answer.  Calls that systemd answers with EPERM or SIGSYS, by the
 * unit's SystemCallErrorNumber=, are SIGSYS here, so that a test notices them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAMILIES     46 /* AF_MAX of Linux 6 */
#define WRITABLE_MAX 8

struct rules {
	scmp_filter_ctx calls;
	bool families[FAMILIES];
	bool has_families, no_wx, no_namespaces, no_realtime, no_suid,
		no_capabilities;
	unsigned long nofile;
	char writable[WRITABLE_MAX][4096];
	int writable_count;
};

static void exit_unless(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "confine: %s: %s\n", what, strerror(errno));
	exit(126);
}

static scmp_filter_ctx filter_new(uint32_t action)
{
	scmp_filter_ctx filter = seccomp_init(action);

	exit_unless(filter, "seccomp_init");
	exit_unless(!seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH,
				      SCMP_ACT_KILL_PROCESS),
		    "native calls only");
	return filter;
}

static void load_filter(scmp_filter_ctx filter)
{
	int status = seccomp_load(filter);

	errno = -status;
	exit_unless(!status, "seccomp_load");
	seccomp_release(filter);
}

static void add_filter_rule(scmp_filter_ctx filter, uint32_t action,
			    const char *name, int count,
			    struct scmp_arg_cmp arg)
{
	int number = seccomp_syscall_resolve_name(name), status;

	if (number == __NR_SCMP_ERROR)
		return; /* another kernel's or machine's call */
	status = count ? seccomp_rule_add(filter, action, number, 1, arg)
		       : seccomp_rule_add(filter, action, number, 0);
	errno = -status;
	exit_unless(!status || status == -EDOM, name);
}

static void refuse_call(scmp_filter_ctx filter, const char *name,
			struct scmp_arg_cmp arg)
{
	add_filter_rule(filter, SCMP_ACT_ERRNO(EPERM), name, 1, arg);
}

/* --- the rules' lines ----------------------------------------------------- */

static void parse_denial(struct rules *r, const char *what)
{
	r->no_wx |= !strcmp(what, "wx");
	r->no_namespaces |= !strcmp(what, "namespaces");
	r->no_realtime |= !strcmp(what, "realtime");
	r->no_suid |= !strcmp(what, "suid");
}

static void parse_rule_line(struct rules *r, const char *word,
			    const char *value)
{
	errno = EINVAL;
	if (!strcmp(word, "allow")) {
		add_filter_rule(r->calls, SCMP_ACT_ALLOW, value, 0,
				(struct scmp_arg_cmp){0});
	} else if (!strcmp(word, "family")) {
		exit_unless(atoi(value) >= 0 && atoi(value) < FAMILIES, value);
		r->families[atoi(value)] = true;
		r->has_families = true;
	} else if (!strcmp(word, "deny")) {
		parse_denial(r, value);
	} else if (!strcmp(word, "nofile")) {
		r->nofile = strtoul(value, NULL, 10);
	} else if (!strcmp(word, "capabilities")) {
		r->no_capabilities = true;
	} else if (!strcmp(word, "writable")) {
		exit_unless(r->writable_count < WRITABLE_MAX,
			    "too many writable");
		strcpy(r->writable[r->writable_count++], value);
	} else {
		exit_unless(false, word);
	}
}

static void read_rules(struct rules *r, const char *path)
{
	char word[64], value[4096];
	FILE *in = fopen(path, "r");

	exit_unless(in, path);
	r->calls = filter_new(SCMP_ACT_KILL_PROCESS);
	while (fscanf(in, "%63s %4095[^\n]", word, value) == 2)
		parse_rule_line(r, word, value);
	exit_unless(feof(in), path);
	fclose(in);
}

/* --- applying the rules --------------------------------------------------- */

static void forbid_families(const struct rules *r)
{
	scmp_filter_ctx filter = filter_new(SCMP_ACT_ALLOW);
	const uint32_t no = SCMP_ACT_ERRNO(EAFNOSUPPORT);

	for (int i = 0; i < FAMILIES; i++)
		if (!r->families[i])
			add_filter_rule(filter, no, "socket", 1,
					SCMP_A0(SCMP_CMP_EQ, (unsigned)i));
	add_filter_rule(filter, no, "socket", 1,
			SCMP_A0(SCMP_CMP_GE, FAMILIES));
	load_filter(filter);
}

static void forbid_wx(void)
{
	const struct scmp_arg_cmp executable =
		SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC);
	scmp_filter_ctx filter = filter_new(SCMP_ACT_ALLOW);

	refuse_call(filter, "mmap",
		    SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC | PROT_WRITE,
			    PROT_EXEC | PROT_WRITE));
	refuse_call(filter, "mprotect", executable);
	refuse_call(filter, "pkey_mprotect", executable);
	refuse_call(filter, "shmat",
		    SCMP_A2(SCMP_CMP_MASKED_EQ, SHM_EXEC, SHM_EXEC));
	load_filter(filter);
}

static void forbid_namespaces(void)
{
	static const unsigned flags[] = {
		CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,   CLONE_NEWUSER,
		CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP};
	scmp_filter_ctx filter = filter_new(SCMP_ACT_ALLOW);

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		refuse_call(filter, "clone",
			    SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
		refuse_call(filter, "unshare",
			    SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
	}
	/* Its flags are in memory, which a filter does not see. */
	add_filter_rule(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3", 0,
			(struct scmp_arg_cmp){0});
	add_filter_rule(filter, SCMP_ACT_ERRNO(EPERM), "setns", 0,
			(struct scmp_arg_cmp){0});
	load_filter(filter);
}

static void forbid_realtime(void)
{
	scmp_filter_ctx filter = filter_new(SCMP_ACT_ALLOW);

	refuse_call(filter, "sched_setscheduler",
		    SCMP_A1(SCMP_CMP_EQ, SCHED_FIFO));
	refuse_call(filter, "sched_setscheduler",
		    SCMP_A1(SCMP_CMP_EQ, SCHED_RR));
	refuse_call(filter, "sched_setscheduler",
		    SCMP_A1(SCMP_CMP_GT, SCHED_IDLE));
	load_filter(filter);
}

static void forbid_suid(void)
{
	static const mode_t bits[] = {S_ISUID, S_ISGID};
	scmp_filter_ctx filter = filter_new(SCMP_ACT_ALLOW);

	for (int i = 0; i < 2; i++) {
		refuse_call(filter, "chmod",
			    SCMP_A1(SCMP_CMP_MASKED_EQ, bits[i], bits[i]));
		refuse_call(filter, "fchmod",
			    SCMP_A1(SCMP_CMP_MASKED_EQ, bits[i], bits[i]));
		refuse_call(filter, "mkdir",
			    SCMP_A1(SCMP_CMP_MASKED_EQ, bits[i], bits[i]));
		refuse_call(filter, "fchmodat",
			    SCMP_A2(SCMP_CMP_MASKED_EQ, bits[i], bits[i]));
		refuse_call(filter, "mkdirat",
			    SCMP_A2(SCMP_CMP_MASKED_EQ, bits[i], bits[i]));
		refuse_call(filter, "openat",
			    SCMP_A3(SCMP_CMP_MASKED_EQ, bits[i], bits[i]));
	}
	load_filter(filter);
}

static void drop_capabilities(void)
{
	for (int i = 0; i <= CAP_LAST_CAP; i++)
		exit_unless(!prctl(PR_CAPBSET_DROP, i, 0, 0, 0) ||
				    errno == EINVAL,
			    "capabilities");
}

/* Acts like ProtectSystem=strict, and ProcSubset=pid with
 * ProtectProc=invisible. */
static void make_read_only(const struct rules *r)
{
	struct mount_attr on = {.attr_set = MOUNT_ATTR_RDONLY};
	struct mount_attr off = {.attr_clr = MOUNT_ATTR_RDONLY};

	exit_unless(!unshare(CLONE_NEWNS), "unshare");
	exit_unless(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL),
		    "mount /");
	for (int i = 0; i < r->writable_count; i++)
		exit_unless(!mount(r->writable[i], r->writable[i], NULL,
				   MS_BIND | MS_REC, NULL),
			    r->writable[i]);
	exit_unless(
		!mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &on, sizeof(on)),
		"read-only /");
	for (int i = 0; i < r->writable_count; i++)
		exit_unless(!mount_setattr(AT_FDCWD, r->writable[i],
					   AT_RECURSIVE, &off, sizeof(off)),
			    r->writable[i]);
	exit_unless(!mount("proc", "/proc", "proc",
			   MS_NOSUID | MS_NODEV | MS_NOEXEC,
			   "hidepid=2,subset=pid"),
		    "mount /proc");
}

static void apply_rules(const struct rules *r)
{
	struct rlimit files = {r->nofile, r->nofile};

	if (r->nofile)
		exit_unless(!setrlimit(RLIMIT_NOFILE, &files), "descriptors");
	if (r->writable_count)
		make_read_only(r);
	if (r->no_capabilities)
		drop_capabilities();
	exit_unless(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		    "no new privileges");
	if (r->has_families)
		forbid_families(r);
	if (r->no_wx)
		forbid_wx();
	if (r->no_namespaces)
		forbid_namespaces();
	if (r->no_realtime)
		forbid_realtime();
	if (r->no_suid)
		forbid_suid();
	load_filter(r->calls);
}

/* Makes that call and prints the result. */
static int make_system_call(const struct rules *r, const char *name,
			    char **words)
{
	int number = seccomp_syscall_resolve_name(name);
	long args[6] = {0}, got;

	errno = EINVAL;
	exit_unless(number >= 0, name);
	for (int i = 0; i < 6 && words[i]; i++)
		args[i] = atol(words[i]);
	apply_rules(r);
	got = syscall(number, args[0], args[1], args[2], args[3], args[4],
		      args[5]);
	printf("%s: %s\n", name, got == -1 ? strerrorname_np(errno) : "done");
	return 0;
}

int main(int argc, char **argv)
{
	static struct rules rules;

	if (argc < 3) {
		fputs("usage: confine RULES PROGRAM [ARGUMENT]...\n", stderr);
		return 64;
	}
	read_rules(&rules, argv[1]);
	if (argc > 3 && !strcmp(argv[2], "call"))
		return make_system_call(&rules, argv[3], argv + 4);
	apply_rules(&rules);
	execvp(argv[2], argv + 2);
	exit_unless(false, argv[2]);
}
