/*
 * operator.h - the name of the person who runs the command, also behind sudo;
 * for the record, not for authentication.
 */
#ifndef COMMON_APP_OPERATOR_H
#define COMMON_APP_OPERATOR_H

#define OPERATOR_NAME_MAX 64 /* including its NUL */

/* Writes "ann@host", without spaces or control characters. */
void operator_name(char ret[OPERATOR_NAME_MAX]);

#endif
