#include "common/ip.h"

#include <arpa/inet.h>
#include <string.h>

bool ip_is_mapped(const uint8_t ip[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(ip, prefix, sizeof(prefix));
}

size_t ip_parse(const char *text, uint8_t ret_ip[16])
{
	if (inet_pton(AF_INET, text, ret_ip) == 1)
		return 4;
	if (inet_pton(AF_INET6, text, ret_ip) != 1)
		return 0;
	if (!ip_is_mapped(ret_ip))
		return 16;
	memmove(ret_ip, ret_ip + 12, 4);
	return 4;
}
