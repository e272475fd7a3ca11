#include "aggregator/settle/lease.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/host_name.h"

/* If the lease is ours, prolongs it.  If it is free, takes it, even in a full
 * Redis, because settled counts are not in Redis.  Otherwise returns 0. */
static const char hold_text[] =
	"#!lua flags=allow-oom\n"
	"if redis.call('GET', KEYS[1]) == ARGV[1] then "
	"return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end "
	"if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then "
	"return 1 end "
	"return 0";
static const char release_text[] =
	"if redis.call('GET', KEYS[1]) == ARGV[1] then "
	"return redis.call('DEL', KEYS[1]) end "
	"return 0";

enum script {
	HOLD,
	RELEASE,
	SCRIPTS,
};

struct lease {
	pthread_mutex_t mutex; /* for redis and scripts */
	struct redis *redis;
	struct redis_script script[SCRIPTS];
	struct redis_scripts scripts; /* manages `script` */
	char key[256];
	char holder[128]; /* host, process and a random number */
	char ttl[24];
};

static int name_holder(struct lease *lease, struct error *err)
{
	unsigned long long number = 0;
	char host[64];

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return error_set_errno(err, "getrandom");
	host_name(host, sizeof(host), "");
	snprintf(lease->holder, sizeof(lease->holder), "%s:%d:%016llx", host,
		 (int)getpid(), number);
	return 0;
}

struct lease *lease_new(const struct redis_config *config, const char *name,
			int64_t ttl_ms, struct error *err)
{
	struct lease *lease = calloc(1, sizeof(*lease));

	if (!lease) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_mutex_init(&lease->mutex, NULL);
	redis_script_init(&lease->script[HOLD], hold_text);
	redis_script_init(&lease->script[RELEASE], release_text);
	lease->scripts = (struct redis_scripts){lease->script, SCRIPTS};
	snprintf(lease->key, sizeof(lease->key), "settle:%s", name);
	snprintf(lease->ttl, sizeof(lease->ttl), "%lld", (long long)ttl_ms);
	lease->redis = redis_new(config, &lease->scripts, err);
	if (!lease->redis || name_holder(lease, err) < 0) {
		lease_free(lease);
		return NULL;
	}
	return lease;
}

void lease_free(struct lease *lease)
{
	if (!lease)
		return;
	redis_free(lease->redis);
	pthread_mutex_destroy(&lease->mutex);
	free(lease);
}

static int run_lease_script(struct lease *lease, enum script script,
			    long long *ret, struct error *err)
{
	const char *argv[] = {lease->key, lease->holder, lease->ttl};
	redisReply *reply = NULL;
	int status;

	pthread_mutex_lock(&lease->mutex);
	status = redis_eval(lease->redis, &lease->script[script], 1, 3, argv,
			    NULL, &reply, err);
	pthread_mutex_unlock(&lease->mutex);
	if (status < 0)
		return error_wrap(err, "lease %s", lease->key);
	*ret = reply->integer;
	freeReplyObject(reply);
	return 0;
}

int lease_acquire(struct lease *lease, bool *ret_owned, struct error *err)
{
	long long owned = 0;

	if (run_lease_script(lease, HOLD, &owned, err) < 0)
		return -1;
	*ret_owned = owned == 1;
	return 0;
}

int lease_check(struct lease *lease, struct error *err)
{
	bool owned = false;

	if (lease_acquire(lease, &owned, err) < 0)
		return -1;
	if (!owned)
		return error_set_retriable(err, ERROR_STOPPED,
					   "another aggregator took the lease");
	return 0;
}

void lease_release(struct lease *lease)
{
	struct error ignored = {0};
	long long gone;

	run_lease_script(lease, RELEASE, &gone, &ignored);
}

const char *lease_holder(const struct lease *lease)
{
	return lease->holder;
}
