/* `allocator retire-key --space NAME --key-version N` */
#include <inttypes.h>
#include <stdio.h>

#include "allocator/commands.h"
#include "allocator/commands/space_option.h"
#include "linkstore/retire.h"

int command_retire_key(struct app *app, const void *config, struct error *err)
{
	struct space_option o = {0};
	const struct link_space *space;
	uint64_t version, blocks;
	int status = -1;

	if (!app_option_value(app, "key-version"))
		return error_set(err, ERROR_USAGE,
				 "which key? --key-version N, one of its "
				 "space's keys");
	if (space_option_number(app, "key-version", &version, err) < 0)
		return -1;
	if (version >= CODE_VERSIONS)
		return error_set(err, ERROR_USAGE,
				 "--key-version: versions are 0 to %d",
				 CODE_VERSIONS - 1);
	space = space_option_open(&o, config, app, err);
	if (!space || space_retire_key(o.redis, space, (unsigned)version,
				       &blocks, err) < 0)
		goto out;
	printf("retired key version %u of space %s: none of %" PRIu64
	       " blocks holds a code of it\n",
	       (unsigned)version, space->name, blocks);
	status = 0;
out:
	space_option_close(&o);
	return status;
}
