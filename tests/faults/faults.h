/*
 * faults.h - what the issuer and the judge of the fault tests have in common:
 * one configuration file, as the programs read it, and the format of a logged
 * code.  Both use the first space of the file.
 */
#ifndef TESTS_FAULTS_FAULTS_H
#define TESTS_FAULTS_FAULTS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/config/config.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

#define FAULTS_URL "https://t.example/%016llx"

/* One answered code as an issuer's log has it.  Times are Redis' (ms); a link
 * that never ends has the end INT64_MAX. */
struct issued {
	uint64_t link_id;
	uint64_t unique; /* in the link's URL; it identifies the link */
	int64_t created, expires;
	char code[CODE_TEXT_MAX];
};

struct faults_config {
	struct redis_config redis;
	struct links_config links;
};

struct faults {
	struct faults_config config;
	struct linkstore *store;
	const struct link_space *space;
};

static const struct setting_group faults_groups[] = {
	{&redis_section, offsetof(struct faults_config, redis), false, false},
	{&links_section, offsetof(struct faults_config, links), false, false},
};
static const char *const faults_foreign[] = {"log", "redirector", "collector",
					     "reclaimer", NULL};
static const struct config_spec faults_spec = {faults_groups, 2,
					       faults_foreign};

static inline int faults_open(struct faults *f, const char *config_path,
			      struct error *err)
{
	if (config_load(&faults_spec, config_path, &f->config, err))
		return -1;
	f->store = linkstore_new(&f->config.links, err);
	if (!f->store)
		return -1;
	f->space = linkstore_space(f->store, 0);
	return 0;
}

static inline void faults_close(struct faults *f)
{
	linkstore_free(f->store);
	config_release(&faults_spec, &f->config);
}

#endif
