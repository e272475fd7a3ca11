#include "collector/geo/mmdb_value.h"

#include <string.h>

static uint32_t big_endian(const uint8_t *at, unsigned len)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < len; i++)
		n = n << 8 | at[i];
	return n;
}

/* Added to a pointer of so many bytes beyond the control byte. */
static const uint32_t pointer_bias[] = {0, 2048, 526336, 0};

static bool get_pointer(const struct mmdb_data *data, struct mmdb_value *v,
			uint8_t control)
{
	unsigned more = (control >> 3 & 3) + 1;
	uint32_t high = more < 4 ? control & 7 : 0;

	if (data->size - v->at < more)
		return false;
	v->size = (more < 4 ? high << (8 * more) : 0) +
		  big_endian(data->bytes + v->at, more) +
		  pointer_bias[more - 1];
	v->next = v->at + more;
	return v->size < data->size;
}

/* Sizes from 29 on take one to three more bytes. */
static bool get_size(const struct mmdb_data *data, struct mmdb_value *v,
		     uint8_t control)
{
	static const uint32_t bias[] = {29, 285, 65821};
	unsigned more;

	v->size = control & 31;
	if (v->size < 29)
		return true;
	more = v->size - 28;
	if (data->size - v->at < more)
		return false;
	v->size = bias[more - 1] + big_endian(data->bytes + v->at, more);
	v->at += more;
	return true;
}

/* Is a payload of that size one of that type? */
static bool size_fits(const struct mmdb_value *v)
{
	switch (v->type) {
	case MMDB_TEXT:
	case MMDB_BYTES:
		return true;
	case MMDB_DOUBLE:
		return v->size == 8;
	case MMDB_FLOAT:
		return v->size == 4;
	case MMDB_UINT16:
		return v->size <= 2;
	case MMDB_UINT32:
	case MMDB_INT32:
		return v->size <= 4;
	case MMDB_UINT64:
		return v->size <= 8;
	case MMDB_UINT128:
		return v->size <= 16;
	default:
		return false;
	}
}

bool mmdb_value_raw(const struct mmdb_data *data, uint32_t offset,
		    struct mmdb_value *ret_value)
{
	struct mmdb_value v = {0};
	uint8_t control;

	if (offset >= data->size)
		return false;
	control = data->bytes[offset];
	v.type = control >> 5;
	v.at = offset + 1;
	if (v.type == MMDB_POINTER) {
		*ret_value = v;
		return get_pointer(data, ret_value, control);
	}
	if (v.type == 0) {
		if (v.at == data->size)
			return false;
		v.type = data->bytes[v.at++] + 7u;
	}
	if (!get_size(data, &v, control))
		return false;
	v.next = v.at;
	if (v.type == MMDB_BOOL) {
		*ret_value = v;
		return v.size <= 1;
	}
	if (v.type != MMDB_MAP && v.type != MMDB_ARRAY) {
		if (!size_fits(&v) || v.size > data->size - v.at)
			return false;
		v.next = v.at + v.size;
	}
	*ret_value = v;
	return true;
}

bool mmdb_value_get(const struct mmdb_data *data, uint32_t offset,
		    struct mmdb_value *ret_value)
{
	if (!mmdb_value_raw(data, offset, ret_value))
		return false;
	if (ret_value->type != MMDB_POINTER)
		return true;
	return mmdb_value_raw(data, ret_value->size, ret_value) &&
	       ret_value->type != MMDB_POINTER;
}

bool mmdb_value_pass(const struct mmdb_data *data, uint32_t *offset)
{
	uint64_t left = 1;
	struct mmdb_value v;

	for (unsigned i = 0; left; i++, left--) {
		if (i == MMDB_VALUES_MAX || !mmdb_value_raw(data, *offset, &v))
			return false;
		if (v.type == MMDB_MAP)
			left += 2 * (uint64_t)v.size;
		else if (v.type == MMDB_ARRAY)
			left += v.size;
		*offset = v.next;
	}
	return true;
}

bool mmdb_value_take(const struct mmdb_data *data, uint32_t *offset,
		     struct mmdb_value *ret_value)
{
	if (!mmdb_value_raw(data, *offset, ret_value))
		return false;
	if (ret_value->type == MMDB_MAP || ret_value->type == MMDB_ARRAY)
		return mmdb_value_pass(data, offset);
	*offset = ret_value->next;
	if (ret_value->type != MMDB_POINTER)
		return true;
	return mmdb_value_raw(data, ret_value->size, ret_value) &&
	       ret_value->type != MMDB_POINTER;
}

bool mmdb_value_of_key(const struct mmdb_data *data,
		       const struct mmdb_value *map, const char *key,
		       struct mmdb_value *ret_value)
{
	uint32_t at = map->at;
	size_t len = strlen(key);
	struct mmdb_value name;

	if (map->type != MMDB_MAP)
		return false;
	for (uint32_t i = 0; i < map->size; i++) {
		if (!mmdb_value_take(data, &at, &name))
			return false;
		if (name.type == MMDB_TEXT && name.size == len &&
		    !memcmp(data->bytes + name.at, key, len))
			return mmdb_value_get(data, at, ret_value);
		if (!mmdb_value_pass(data, &at))
			return false;
	}
	return false;
}

bool mmdb_value_uint(const struct mmdb_data *data, const struct mmdb_value *v,
		     uint64_t *ret_number)
{
	uint64_t n = 0;

	if (v->type != MMDB_UINT16 && v->type != MMDB_UINT32 &&
	    v->type != MMDB_UINT64)
		return false;
	for (uint32_t i = 0; i < v->size; i++)
		n = n << 8 | data->bytes[v->at + i];
	*ret_number = n;
	return true;
}

bool mmdb_value_real(const struct mmdb_data *data, const struct mmdb_value *v,
		     double *ret_number)
{
	uint64_t bits = 0;
	uint32_t low;
	float single;

	if (v->type != MMDB_FLOAT && v->type != MMDB_DOUBLE)
		return false;
	for (uint32_t i = 0; i < v->size; i++)
		bits = bits << 8 | data->bytes[v->at + i];
	if (v->type == MMDB_DOUBLE) {
		memcpy(ret_number, &bits, sizeof(bits));
		return true;
	}
	low = (uint32_t)bits;
	memcpy(&single, &low, sizeof(single));
	*ret_number = (double)single;
	return true;
}
