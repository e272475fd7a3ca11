/*
 * Any text gets a device and a class, with or without the rules of uap-core
 * (.deps/uap), and nothing is read beyond its end.  HarmonyOS alone determines
 * its device.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/enrich/device_class.h"
#include "common/agent/device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ua_parser *some_parser(void)
{
	struct error err = {0};
	struct ua_rules *rules =
		ua_rules_load(".deps/uap/regexes.yaml", true, &err);

	return rules ? ua_parser_new(rules, &err) : NULL;
}

static void classify_text(const char *text, size_t len)
{
	static struct ua_parser *parser;
	static struct ua_result result;
	struct error err = {0};

	if (!parser)
		parser = some_parser();
	if (!parser)
		return;
	if (device_parse(parser, text, len, &result, &err) < 0)
		abort();
	assert(*device_class(&result, text, len));
	assert(ua_get(&result, UA_OS_FAMILY).len > 0);
	assert(ua_get(&result, UA_DEVICE_FAMILY).len > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agent_device is;
	/* The copy has exactly this size, so that a read beyond it is noticed.
	 */
	char *copy = malloc(size + !size);

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	is = agent_device_of(copy, size);
	assert(is.in_app < IN_APPS);
	assert(is.kind == DEVICE_KIND_UNKNOWN ||
	       is.system == SYSTEM_HARMONYOS ||
	       (is.system == SYSTEM_IOS && is.kind == DEVICE_KIND_TABLET));
	classify_text(copy, size);
	free(copy);
	return 0;
}
