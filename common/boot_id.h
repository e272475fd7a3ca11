/* boot_id.h - identifies the current boot of this machine. */
#ifndef COMMON_BOOT_ID_H
#define COMMON_BOOT_ID_H

enum {
	BOOT_ID_MAX = 40 /* 36 characters, the end of the line, zeros */
};

/* Fills all of `ret` with an id that no other boot of this or another machine
 * has; empty if the system provides none. */
void boot_id(char ret[BOOT_ID_MAX]);

#endif
