/*
 * rename.c - makes a server fail, by LD_PRELOAD, after it has written its
 * tokens and before it makes the rows of an insert visible, which it does by
 * renaming a part from tmp_insert_*.  Write to the file RENAME_FAULT
 *
 *	<what> <number> <text>
 *
 * The number-th such rename, counted from 1, of a path that contains the text
 * fails with ENOSPC ("full") or ends the process ("kill").  Then the file is
 * removed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Sets the fault of this rename: "" for none. */
static void decide_fault(const char *path, char what[8])
{
	const char *order = getenv("RENAME_FAULT");
	char text[256];
	int number;
	FILE *f;

	what[0] = '\0';
	if (!order || !strstr(path, "/tmp_insert_"))
		return;
	f = fopen(order, "r+");
	if (!f)
		return;
	if (fscanf(f, "%7s %d %255s", what, &number, text) == 3 &&
	    strstr(path, text)) {
		if (--number == 0) {
			unlink(order);
		} else {
			rewind(f);
			fprintf(f, "%s %d %s\n", what, number, text);
			what[0] = '\0';
		}
	} else {
		what[0] = '\0';
	}
	fclose(f);
}

int rename(const char *from, const char *to)
{
	int (*next)(const char *, const char *) =
		(int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
	char what[8];

	pthread_mutex_lock(&lock);
	decide_fault(from, what);
	pthread_mutex_unlock(&lock);
	if (!strcmp(what, "kill"))
		raise(SIGKILL);
	if (!strcmp(what, "full")) {
		errno = ENOSPC;
		return -1;
	}
	return next(from, to);
}
