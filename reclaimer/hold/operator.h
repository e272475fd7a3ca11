/*
 * operator.h - the name of the person who runs the command, also behind sudo;
 * for the record, not for authentication.
 */
#ifndef RECLAIMER_HOLD_OPERATOR_H
#define RECLAIMER_HOLD_OPERATOR_H

#include "linkstore/space/manual_hold.h"

/* Writes "ann@host", without spaces or control characters. */
void operator_name(char who[HOLD_WHO_MAX]);

#endif
