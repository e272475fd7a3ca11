/*
 * mmdb_value.h - values of a MaxMind DB's data section.
 * https://maxmind.github.io/MaxMind-DB/, "Output Data Section".
 *
 * Nothing is trusted: whatever the bytes are, no function reads outside them,
 * and none takes longer than a record may be large.
 */
#ifndef COLLECTOR_GEO_MMDB_VALUE_H
#define COLLECTOR_GEO_MMDB_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mmdb_type {
	MMDB_POINTER = 1,
	MMDB_TEXT = 2,
	MMDB_DOUBLE = 3,
	MMDB_BYTES = 4,
	MMDB_UINT16 = 5,
	MMDB_UINT32 = 6,
	MMDB_MAP = 7,
	MMDB_INT32 = 8,
	MMDB_UINT64 = 9,
	MMDB_UINT128 = 10,
	MMDB_ARRAY = 11,
	MMDB_BOOL = 14,
	MMDB_FLOAT = 15,
};

enum {
	/* Values in a record; the specification's bound for readers. */
	MMDB_VALUES_MAX = 65536
};

struct mmdb_data {
	const uint8_t *bytes;
	uint32_t size;
};

struct mmdb_value {
	enum mmdb_type type;
	/* Bytes of a payload; elements of an array, pairs of a map; a BOOL
	 * itself; where a POINTER points to. */
	uint32_t size;
	uint32_t at;   /* payload or first element */
	uint32_t next; /* behind it; a map's or array's first element */
};

/* The value at `offset`, a pointer as such.  False: there is none. */
bool mmdb_value_raw(const struct mmdb_data *data, uint32_t offset,
		    struct mmdb_value *ret_value);

/* The value at `offset` or, when that is a pointer, the one it points to, which
 * is no pointer. */
bool mmdb_value_get(const struct mmdb_data *data, uint32_t offset,
		    struct mmdb_value *ret_value);

/* Moves *offset behind the value there with all that is in it. */
bool mmdb_value_pass(const struct mmdb_data *data, uint32_t *offset);

/* Both: gets the value and moves behind it. */
bool mmdb_value_take(const struct mmdb_data *data, uint32_t *offset,
		     struct mmdb_value *ret_value);

/* The value of a map's key.  False: it is no map or has no such key. */
bool mmdb_value_of_key(const struct mmdb_data *data,
		       const struct mmdb_value *map, const char *key,
		       struct mmdb_value *ret_value);

/* Any unsigned number up to 64 bits; false for other types. */
bool mmdb_value_uint(const struct mmdb_data *data, const struct mmdb_value *v,
		     uint64_t *ret_number);
/* FLOAT or DOUBLE. */
bool mmdb_value_real(const struct mmdb_data *data, const struct mmdb_value *v,
		     double *ret_number);

#endif
