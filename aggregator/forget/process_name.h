/*
 * process_name.h - a globally unique name for this process, and a check whether
 * the process with such a name is gone.
 *
 * A host's name and a pid are not enough: in a container the pid is often 1,
 * and containers may have the same name.  So the name also has the boot of the
 * machine, the pid namespace, which differs for each container, and the start
 * time of the process:
 *
 *	host:pid:what:0f5c...-a2b1:4026531836:1843992
 */
#ifndef AGGREGATOR_FORGET_PROCESS_NAME_H
#define AGGREGATOR_FORGET_PROCESS_NAME_H

#include <stdbool.h>

enum {
	PROCESS_NAME_MAX = 192
};

/*
 * Writes the name of this process; `what` is a word for its task.  If the
 * system does not provide all fields, the name ends after `what`: such a
 * process never counts as gone.
 */
void process_name(const char *what, char ret[PROCESS_NAME_MAX]);

/*
 * Whether that process is known to be gone: it was started since this machine's
 * boot, in the same pid namespace, and it has ended, or its pid is free or
 * belongs to another process.  Returns false if the process exists, or cannot
 * be seen from here.
 */
bool process_is_gone(const char *name);

#endif
