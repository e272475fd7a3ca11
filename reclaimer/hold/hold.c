#include "reclaimer/commands.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/app/operator.h"
#include "common/output.h"
#include "linkstore/space/manual_hold.h"
#include "linkstore/space/space_record.h"
#include "reclaimer/hold/block_arg.h"
#include "reclaimer/session.h"

/* --- the request -------------------------------------------------------- */

static int check_reason(const char *reason, struct error *err)
{
	json_t *text = json_string(reason);

	if (!text)
		return error_set(err, ERROR_USAGE, "--reason: not UTF-8");
	json_decref(text);
	if (strlen(reason) >= HOLD_REASON_MAX)
		return error_set(err, ERROR_USAGE,
				 "--reason: at most %d bytes are kept",
				 HOLD_REASON_MAX - 1);
	for (const char *p = reason; *p; p++)
		if (iscntrl((unsigned char)*p))
			return error_set(err, ERROR_USAGE,
					 "--reason: a control character is in "
					 "it");
	return 0;
}

static int read_request(const struct options *options, char who[HOLD_WHO_MAX],
			struct hold_request *ret, struct error *err)
{
	struct hold_request r = {
		.who = who,
		.reason = options->reason ? options->reason : "",
	};

	if (!options->blocks)
		return error_set(err, ERROR_USAGE,
				 "--blocks is needed: a block (42) or a range "
				 "(40-49)");
	if (block_arg_read(options->blocks, &r.first, &r.last, err) < 0 ||
	    check_reason(r.reason, err) < 0)
		return -1;
	operator_name(who);
	*ret = r;
	return 0;
}

/* --- the result ---------------------------------------------------------- */

static int print_json(const struct link_space *space, const char *verb,
		      const struct hold_request *request,
		      const struct hold_result *result, struct error *err)
{
	return output_json(json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:s}",
				     "space", space->name, "done", verb,
				     "first", (json_int_t)request->first,
				     "last", (json_int_t)request->last,
				     "blocks", (json_int_t)result->moved,
				     "already", (json_int_t)result->already,
				     "by", request->who),
			   err);
}

static void print_text(const struct link_space *space, bool hold,
		       const struct hold_result *result)
{
	printf("%" PRIu64 " block%s of %s %s circulation", result->moved,
	       result->moved == 1 ? "" : "s", space->name,
	       hold ? "taken out of" : "put back into");
	if (result->already)
		printf(", %" PRIu64 " were out already", result->already);
	puts(hold ? ".  Their links go on redirecting."
		  : ".  The next run judges them by their markers.");
}

static int move_blocks(const struct session *s, bool hold, struct error *err)
{
	const struct options *options = &s->options;
	const struct link_space *space = session_one_space(s, err);
	char who[HOLD_WHO_MAX] = "";
	struct hold_request request = {0};
	struct hold_result result = {0};

	if (!space || read_request(options, who, &request, err) < 0 ||
	    space_check(s->redis, space, SPACE_TO_READ, err) < 0)
		return -1;
	if ((hold ? space_hold : space_release)(s->redis, space, &request,
						&result, err) < 0)
		return -1;
	if (options->json)
		return print_json(space, hold ? "hold" : "release", &request,
				  &result, err);
	print_text(space, hold, &result);
	return 0;
}

static int hold_or_release(struct app *app, const void *config, bool hold,
			   struct error *err)
{
	struct session s;
	int status = session_open(&s, app, config, err);

	if (status == 0)
		status = move_blocks(&s, hold, err);
	session_close(&s);
	return status;
}

int reclaimer_hold(struct app *app, const void *config, struct error *err)
{
	return hold_or_release(app, config, true, err);
}

int reclaimer_release(struct app *app, const void *config, struct error *err)
{
	return hold_or_release(app, config, false, err);
}
