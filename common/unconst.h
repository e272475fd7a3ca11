/*
 * unconst.h - for interfaces that require a `char *` but only read it, such as
 * the structs that protobuf-c generates.
 */
#ifndef COMMON_UNCONST_H
#define COMMON_UNCONST_H

#include <stdint.h>

static inline void *unconst(const void *p)
{
	return (void *)(uintptr_t)p;
}

#endif
