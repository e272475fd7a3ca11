/*
 * drop_const.h - for interfaces that require a `char *` but only read it, such
 * as the structs that protobuf-c generates.
 */
#ifndef COMMON_DROP_CONST_H
#define COMMON_DROP_CONST_H

#include <stdint.h>

static inline void *drop_const(const void *p)
{
	return (void *)(uintptr_t)p;
}

#endif
