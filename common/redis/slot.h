/*
 * slot.h - computes which of a Redis Cluster's 16,384 slots a key belongs to.
 *
 * The slot is the CRC16 (XMODEM) of the part between the first { and the next
 * }, or of the whole key if that part is missing or empty: "Redis Cluster
 * specification", key distribution model.
 */
#ifndef COMMON_REDIS_SLOT_H
#define COMMON_REDIS_SLOT_H

#include <stddef.h>
#include <stdint.h>

#define REDIS_SLOTS 16384

unsigned redis_slot(const char *key, size_t len);

#endif
