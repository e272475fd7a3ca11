/* boot_id.h - which start of this machine it is. */
#ifndef COMMON_BOOT_ID_H
#define COMMON_BOOT_ID_H

enum {
	BOOT_ID_MAX = 40 /* 36 characters, the end of the line, zeros */
};

/* Fills all of `ret`: what no other start of this or another machine has; empty
 * when the system does not tell. */
void boot_id(char ret[BOOT_ID_MAX]);

#endif
