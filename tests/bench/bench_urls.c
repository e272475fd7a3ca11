/*
 * The cost of checking the target of a link.
 *
 * usage: bench_urls policy SECONDS      url_policy_check, ns a URL
 *        bench_urls curl SECONDS        libcurl's parser on the same URLs
 *        bench_urls list FILE SECONDS   a list of domains: load and look up
 */
#include <curl/curl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/policy/url_policy.h"
#include "common/clock.h"
#include "common/domain_list.h"

#define URLS  1024
#define HOSTS 262144 /* too many for caches to help */

static char urls[URLS][160];
static size_t lengths[URLS];

static void make_urls(void)
{
	for (int i = 0; i < URLS; i++)
		lengths[i] = (size_t)snprintf(
			urls[i], sizeof(urls[i]),
			"https://www.shop-%d.example.com/offers/%d/autumn?utm_"
			"source=mail&utm_campaign=c%d",
			i, i * 7919, i);
}

static int curl_one(size_t i)
{
	CURLU *handle = curl_url();
	char *host = NULL;
	int status = -1;

	if (handle && curl_url_set(handle, CURLUPART_URL, urls[i], 0) == 0 &&
	    curl_url_get(handle, CURLUPART_HOST, &host, 0) == 0)
		status = 0;
	curl_free(host);
	curl_url_cleanup(handle);
	return status;
}

static struct url_policy *policy;
static struct buf out;

static int policy_one(size_t i)
{
	struct error err = {0};

	return url_policy_check(policy, urls[i], lengths[i], &out, &err);
}

static int time_urls(int (*one)(size_t i), double seconds)
{
	int64_t start = clock_monotonic_ns(), now = start,
		end = start + (int64_t)(seconds * 1e9);
	uint64_t count = 0;

	for (; now < end; now = clock_monotonic_ns()) {
		for (size_t i = 0; i < URLS; i++)
			if (one(i) < 0)
				return -1;
		count += URLS;
	}
	printf("%.1f ns\n", (double)(now - start) / (double)count);
	return 0;
}

static int time_policy(double seconds)
{
	static char allow[] = "allow";
	static const struct url_policy_config config = {.ip_hosts = allow};
	static const struct domains_config none;
	struct error err = {0};
	struct domains *domains = domains_open(&none, NULL, NULL, &err);
	int status = -1;

	policy = domains ? url_policy_new(&config, domains, "https://sho.rt",
					  &err)
			 : NULL;
	if (policy)
		status = time_urls(policy_one, seconds);
	buf_free(&out);
	url_policy_free(policy);
	domains_free(domains);
	return status;
}

/* Returns names from the list; a prefix letter makes them names that are not on
 * it. */
static struct host *sample_hosts(const char *path, size_t count,
				 const char *prefix)
{
	struct host *hosts = calloc(count, sizeof(*hosts));
	FILE *in = fopen(path, "r");
	char line[300], name[320];
	struct error err = {0};
	size_t at = 0;

	while (hosts && in && at < count && fgets(line, sizeof(line), in)) {
		/* A random sample covers the whole table. */
		if (rand() % 16)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(name, sizeof(name), "%s%s", prefix,
			 line + (line[0] == '.'));
		at += host_parse(name, strlen(name), &hosts[at], &err) == 0;
	}
	if (in)
		fclose(in);
	for (size_t i = at; at && hosts && i < count; i++)
		hosts[i] = hosts[i % at];
	return hosts;
}

static void time_lookups(const struct domain_list *list, const char *path,
			 const char *what, const char *prefix, double seconds)
{
	struct host *hosts = sample_hosts(path, HOSTS, prefix);
	int64_t start = clock_monotonic_ns(), now = start,
		end = start + (int64_t)(seconds * 1e9);
	uint64_t count = 0, found = 0;

	for (; hosts && now < end; now = clock_monotonic_ns()) {
		for (size_t i = 0; i < HOSTS; i++)
			found += domain_list_has(list, &hosts[i]);
		count += HOSTS;
	}
	printf("%s: %.1f ns, found %.3f\n", what,
	       (double)(now - start) / (double)count,
	       (double)found / (double)count);
	free(hosts);
}

/* Returns the size of the memory that was allocated and not freed. */
static size_t count_bytes_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static int time_list(const char *path, double seconds)
{
	struct error err = {0};
	size_t before = count_bytes_in_use();
	int64_t start = clock_monotonic_ns();
	struct domain_list *list = domain_list_load(path, &err);
	double took = (double)(clock_monotonic_ns() - start) / 1e9;

	if (!list) {
		fprintf(stderr, "bench_urls: %s\n", err.text);
		return -1;
	}
	printf("%zu entries in %.2f s, %.1f bytes each\n",
	       domain_list_count(list), took,
	       (double)(count_bytes_in_use() - before) /
		       (double)domain_list_count(list));
	time_lookups(list, path, "there", "", seconds);
	time_lookups(list, path, "not there", "x", seconds);
	time_lookups(list, path, "not there, two labels more", "www.x",
		     seconds);
	domain_list_free(list);
	return 0;
}

int main(int argc, char **argv)
{
	make_urls();
	if (argc == 3 && !strcmp(argv[1], "policy"))
		return time_policy(atof(argv[2])) < 0;
	if (argc == 3 && !strcmp(argv[1], "curl"))
		return time_urls(curl_one, atof(argv[2])) < 0;
	if (argc == 4 && !strcmp(argv[1], "list"))
		return time_list(argv[2], atof(argv[3])) < 0;
	fprintf(stderr, "usage: bench_urls policy|curl SECONDS | list FILE "
			"SECONDS\n");
	return 64;
}
