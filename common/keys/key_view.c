#include "common/keys/key_view.h"

#include <inttypes.h>
#include <string.h>

#include "common/clock.h"
#include "common/json_text.h"
#include "common/keys/key_access.h"

static void put_name(struct buf *out, const char *member, const char *name)
{
	buf_puts(out, member);
	if (name)
		json_put_string(out, name, strlen(name));
	else
		buf_puts(out, "null");
}

/* Lists the roles with those that they include. */
static void put_roles(struct buf *out, const struct api_key_info *key)
{
	static const struct {
		const char *name;
		unsigned role;
	} shown[] = {{"read", API_READ},
		     {"visitors", API_VISITORS},
		     {"create", API_CREATE},
		     {"admin", API_ADMIN}};
	unsigned roles = key ? key->roles : API_READ | API_VISITORS;
	const char *comma = "";

	buf_puts(out, ",\"roles\":[");
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		if (!(roles & shown[i].role))
			continue;
		buf_printf(out, "%s\"%s\"", comma, shown[i].name);
		comma = ",";
	}
	buf_putc(out, ']');
}

/* An owner may have any bytes from 0x20 on. */
static void put_owners(struct buf *out, const struct key_names *owners)
{
	const char *name = NULL, *comma = "";

	buf_puts(out, ",\"owners\":");
	if (!owners) {
		buf_puts(out, "null");
		return;
	}
	buf_putc(out, '[');
	while ((name = key_names_next(owners, name))) {
		buf_puts(out, comma);
		json_put_lossy(out, name, strlen(name));
		comma = ",";
	}
	buf_putc(out, ']');
}

static void put_rate(struct buf *out, const struct rate_limiter *limiter,
		     int64_t now)
{
	struct rate_state state;

	rate_limiter_look(limiter, now, &state);
	if (!state.limited) {
		buf_puts(out, ",\"rate\":null");
		return;
	}
	buf_printf(out,
		   ",\"rate\":{\"burst\":%" PRIu64
		   ",\"window_seconds\":%" PRId64 ",\"left\":%" PRIu64
		   ",\"full_in_seconds\":%" PRId64 "}",
		   state.burst, clock_whole_seconds(state.window_ms),
		   state.left, clock_whole_seconds(state.full_ms));
}

void key_view_put_rate(const struct api_key_info *key, int64_t now,
		       struct buf *out)
{
	put_rate(out, key->limiter, now);
}

void key_view_begin(const struct api_key_info *key, int64_t now,
		    struct buf *out)
{
	put_name(out, "{\"name\":", key ? key->name : NULL);
	put_name(out, ",\"account\":", key ? key->account : NULL);
	put_name(out, ",\"accounts\":",
		 key_may(key, KEY_READS_ALL, NULL) ? "*" : NULL);
	put_roles(out, key);
	put_owners(out, key ? key->owners : NULL);
	put_rate(out, key ? key->limiter : NULL, now);
}
