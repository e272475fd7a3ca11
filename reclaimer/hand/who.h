/* who.h - the person at it, also behind sudo; for the record, not for trust. */
#ifndef RECLAIMER_HAND_WHO_H
#define RECLAIMER_HAND_WHO_H

#include "linkstore/space/hand.h"

/* "ann@host", without spaces or control characters. */
void who_am_i(char who[HAND_WHO_MAX]);

#endif
