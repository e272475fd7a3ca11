#include "allocator/audit/audit.h"

#include <stdlib.h>

#include "allocator/audit/audit_file.h"
#include "allocator/audit/audit_line.h"
#include "common/clock.h"

struct audit {
	struct audit_file *file;
};

struct audit *audit_new(const struct audit_options *options, struct error *err)
{
	struct audit *audit = calloc(1, sizeof(*audit));

	if (!audit) {
		error_set_nomem(err);
		return NULL;
	}
	audit->file = audit_file_new(options, err);
	if (audit->file)
		return audit;
	free(audit);
	return NULL;
}

void audit_free(struct audit *audit, int64_t timeout_ms)
{
	if (!audit)
		return;
	audit_file_free(audit->file, timeout_ms);
	free(audit);
}

void audit_reopen(struct audit *audit)
{
	if (audit)
		audit_file_reopen(audit->file);
}

struct audit_source audit_source_of(const struct http_request *req,
				    const char *key)
{
	return (struct audit_source){
		.key = key,
		.peer = http_peer(req),
		.forwarded_for = http_header_get(req, "X-Forwarded-For"),
		.request_id = http_header_get(req, "X-Request-Id"),
	};
}

static void hand_over(struct audit *audit, struct buf *line)
{
	if (line->failed)
		audit_file_lose(audit->file);
	else
		audit_file_append(audit->file, line->data, line->len);
	buf_free(line);
}

void audit_link(struct audit *audit, enum audit_action action,
		const struct audit_entry *entry)
{
	struct buf line = {0};

	if (!audit)
		return;
	buf_reserve(&line, 1024);
	audit_line_write(action, entry, clock_real_ms(), &line);
	hand_over(audit, &line);
}

void audit_keys_reloaded(struct audit *audit, size_t keys)
{
	struct buf line = {0};
	char now[RFC3339_TEXT_MAX];

	if (!audit)
		return;
	buf_printf(&line,
		   "{\"time\":\"%s\",\"action\":\"keys_reloaded\","
		   "\"keys\":%zu}\n",
		   rfc3339_format(clock_real_ms(), now), keys);
	hand_over(audit, &line);
}
