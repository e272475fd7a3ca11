#include "common/redis/slot.h"

#include <string.h>

/* The polynomial is 0x1021; bit by bit, since a key's tag is short. */
static uint16_t compute_crc16(const char *data, size_t len)
{
	unsigned crc = 0;

	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned)(unsigned char)data[i] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
	}
	return (uint16_t)crc;
}

unsigned redis_slot(const char *key, size_t len)
{
	const char *open = memchr(key, '{', len), *close = NULL;

	if (open)
		close = memchr(open + 1, '}', len - (size_t)(open + 1 - key));
	if (close && close > open + 1) {
		key = open + 1;
		len = (size_t)(close - key);
	}
	return compute_crc16(key, len) % REDIS_SLOTS;
}
