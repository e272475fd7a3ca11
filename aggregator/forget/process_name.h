/*
 * process_name.h - a name for this process that no other ever has, and whether
 * the process of such a name is gone.
 *
 * A host's name and a pid are not enough: in a container the pid is often 1,
 * and containers may be called the same.  So the name has also which start of
 * the machine it is, which space of pids, of which each container has its own,
 * and when the process was started:
 *
 *	host:pid:what:0f5c...-a2b1:4026531836:1843992
 */
#ifndef AGGREGATOR_FORGET_PROCESS_NAME_H
#define AGGREGATOR_FORGET_PROCESS_NAME_H

#include <stdbool.h>

enum {
	PROCESS_NAME_MAX = 192
};

/* Names this process; `what`, a word, says what it does.  Where the system does
 * not tell all of it, the name ends behind `what`: of such a process nobody
 * says that it is gone. */
void process_name(const char *what, char ret[PROCESS_NAME_MAX]);

/*
 * Whether that process is known to be gone: it was started since this machine
 * was, in the same space of pids, and it has ended, or nobody or another
 * process has its pid.
 * False of one that is there, and of one that cannot be seen from here.
 */
bool process_is_gone(const char *name);

#endif
