#include "aggregator/api/api_keys.h"

#include "aggregator/api/shares/share_desk.h"
#include "common/http/address.h"
#include "common/keys/key_check.h"

static struct api_keyring *
load_keyring(const struct aggregator_settings *settings,
	     struct metrics *metrics, struct error *err)
{
	struct api_keyring_options options = {
		.path = settings->keys_file,
		.setting = "aggregator.keys_file",
		.metrics = metrics,
		.limited_metric = "shortloop_aggregator_rate_limited_total",
		.limited_help =
			"Requests refused because a key had used up its rate.",
	};

	if (aggregator_key_rate(settings, &options.rate, err) < 0)
		return NULL;
	return api_keyring_new(&options, err);
}

int api_keys_open(const struct aggregator_settings *settings, struct log *log,
		  struct metrics *metrics, struct api_keyring **ret_keys,
		  struct error *err)
{
	*ret_keys = NULL;
	if (settings->keys_file) {
		*ret_keys = load_keyring(settings, metrics, err);
		return *ret_keys ? 0 : -1;
	}
	if (!http_address_is_loopback(settings->listen))
		log_warn(log,
			 "the API answers anybody, for all accounts: see "
			 "aggregator.keys_file",
			 log_str("address", settings->listen));
	return 0;
}

void api_keys_reload(struct api_keyring *keys, struct log *log)
{
	if (keys)
		rereadable_reload(&api_keyring_kind, keys,
				  &(struct reload_report){.log = log});
}

bool api_keys_admit(struct api_keyring *keys, struct http_request *req,
		    struct access *ret_access)
{
	*ret_access = (struct access){.keys = keys};
	if (share_is_presented(req)) {
		http_reply_problem(req, 403, NULL,
				   "a share does not give this: it needs a "
				   "key");
		return false;
	}
	return !keys || key_check(keys, req, API_READ, 1, &ret_access->who);
}

int api_keys_check(const void *config, struct error *err)
{
	const struct aggregator_config *c = config;
	struct api_keyring *keys;

	if (!c->aggregator.keys_file)
		return 0;
	keys = load_keyring(&c->aggregator, NULL, err);
	api_keyring_free(keys);
	return keys ? 0 : -1;
}
