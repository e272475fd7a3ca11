/* Any bytes as a configuration file: loaded, or refused with a place and a
 * reason; a loaded file can be printed and is freed. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/app/app.h"
#include "common/config/config_print.h"
#include "common/http/http_server.h"
#include "common/kafka/kafka.h"
#include "common/redis/redis.h"
#include "linkstore/domains.h"
#include "linkstore/domains_config.h"
#include "linkstore/links_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sections {
	struct app_config log;
	struct http_config http;
	struct redis_config redis;
	struct kafka_config kafka;
	struct links_config links;
	struct domains_config domains;
};

static const struct setting_group groups[] = {
	{.section = &app_log_section, .offset = offsetof(struct sections, log)},
	{.section = &http_section, .offset = offsetof(struct sections, http)},
	{.section = &redis_section, .offset = offsetof(struct sections, redis)},
	{.section = &kafka_section, .offset = offsetof(struct sections, kafka)},
	{.section = &links_section, .offset = offsetof(struct sections, links)},
	{.section = &domains_section,
	 .offset = offsetof(struct sections, domains)},
};

static const char *const foreign[] = {"collector", NULL};

static const struct config_spec spec = {
	groups, sizeof(groups) / sizeof(groups[0]), foreign};

/* Makes a file in memory, under a name that can be opened. */
static int write_file(const uint8_t *data, size_t size, char path[64])
{
	int fd = memfd_create("config", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* Settings that are valid each and together can be used. */
static void open_valid_domains(const struct sections *config)
{
	struct error err = {0};
	struct domains *domains;

	if (domains_config_validate(&config->domains, &config->links, &err) < 0)
		return;
	domains = domains_open(&config->domains, NULL, NULL, &err);
	if (!domains)
		abort();
	assert(domains_count(domains) == config->domains.list.count);
	domains_free(domains);
}

static void print_sections(const struct sections *config)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		abort();
	config_print(&spec, config, out);
	fclose(out);
	assert(len > 0);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sections config = {0};
	struct error err = {0};
	char path[64];
	int fd = write_file(data, size, path);

	if (config_load(&spec, path, &config, &err) == 0) {
		print_sections(&config);
		open_valid_domains(&config);
	} else {
		assert(err.code != ERROR_NONE);
		assert(strstr(err.text, path));
	}
	config_release(&spec, &config);
	close(fd);
	return 0;
}
