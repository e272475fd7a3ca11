#include "aggregator/api/caller_params.h"

#include <string.h>

int caller_params_fill(struct caller_params *ret,
		       const struct access_bounds *bounds, struct error *err)
{
	const char *account = bounds ? bounds->account : NULL;
	bool has_owners = bounds && bounds->has_owners;

	*ret = (struct caller_params){0};
	clickhouse_escape(&ret->account, account ? account : "",
			  account ? strlen(account) : 0);
	if (has_owners)
		clickhouse_escape(&ret->owners, bounds->owners.data,
				  bounds->owners.len);
	if (!buf_cstr(&ret->account) || !buf_cstr(&ret->owners))
		return error_set_nomem(err);
	ret->items[0] = (struct clickhouse_param){"param_any_account",
						  account ? "false" : "true"};
	ret->items[1] = (struct clickhouse_param){"param_caller_account",
						  ret->account.data};
	ret->items[2] = (struct clickhouse_param){
		"param_every_owner", has_owners ? "false" : "true"};
	ret->items[3] = (struct clickhouse_param){"param_caller_owners",
						  ret->owners.data};
	return 0;
}

int caller_params_of(struct caller_params *ret, const struct access *access,
		     struct error *err)
{
	struct access_bounds bounds;
	int status = -1;

	*ret = (struct caller_params){0};
	if (access_bounds_fill(&bounds, access, err) == 0)
		status = caller_params_fill(ret, &bounds, err);
	access_bounds_release(&bounds);
	return status;
}

void caller_params_release(struct caller_params *params)
{
	buf_free(&params->account);
	buf_free(&params->owners);
}
