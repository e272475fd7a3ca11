#include "collector/enrich/geo/mmdb_value.h"

uint32_t mmdb_value_count(const MMDB_entry_data_s *value)
{
	switch (value->type) {
	case MMDB_DATA_TYPE_MAP: /* sizes have 25 bits */
		return 2 * value->data_size;
	case MMDB_DATA_TYPE_ARRAY:
		return value->data_size;
	default:
		return 0;
	}
}

bool mmdb_value_step(const MMDB_s *mmdb, uint32_t *offset,
		     MMDB_entry_data_s *ret_value)
{
	static const char *const nowhere_else[] = {NULL};
	MMDB_entry_s here = {mmdb, *offset};

	if (MMDB_aget_value(&here, ret_value, nowhere_else) != MMDB_SUCCESS)
		return false;
	/* The library returns the end of a pointer, unless it points to a map
	 * or an array: then bits 3 and 4 of its first byte give its size. */
	if (ret_value->offset != *offset &&
	    (ret_value->type == MMDB_DATA_TYPE_MAP ||
	     ret_value->type == MMDB_DATA_TYPE_ARRAY))
		*offset += 2 + (mmdb->data_section[*offset] >> 3 & 3);
	else
		*offset = ret_value->offset_to_next;
	return true;
}

bool mmdb_value_take(const MMDB_s *mmdb, uint32_t *offset,
		     MMDB_entry_data_s *ret_value)
{
	uint32_t at = *offset;
	uint64_t left;

	if (!mmdb_value_step(mmdb, offset, ret_value))
		return false;
	left = ret_value->offset == at ? mmdb_value_count(ret_value) : 0;
	for (; left; left--) {
		MMDB_entry_data_s v;

		at = *offset;
		if (!mmdb_value_step(mmdb, offset, &v))
			return false;
		if (v.offset == at)
			left += mmdb_value_count(&v);
	}
	return true;
}

bool mmdb_value_of(const MMDB_s *mmdb, const MMDB_entry_data_s *value,
		   const char *const path[], MMDB_entry_data_s *ret_value)
{
	MMDB_entry_s here = {mmdb, value->offset};

	return MMDB_aget_value(&here, ret_value, path) == MMDB_SUCCESS;
}
