#include "redirector/visit/access_line.h"

#include <time.h>

#include "common/clock.h"
#include "common/hex.h"
#include "common/json_text.h"

static const char *client_text(const struct address *client,
			       char text[INET6_ADDRSTRLEN])
{
	const char *known = address_text(client, text);

	return known ? known : "-";
}

/* --- combined ------------------------------------------------------------- */

/* strftime writes month names of the locale, so the names are listed here. */
static void put_time(struct buf *out, int64_t time_ms)
{
	static const char months[][4] = {"Jan", "Feb", "Mar", "Apr",
					 "May", "Jun", "Jul", "Aug",
					 "Sep", "Oct", "Nov", "Dec"};
	time_t seconds = time_ms / CLOCK_SECOND;
	struct tm tm;

	gmtime_r(&seconds, &tm);
	buf_printf(out, "%02d/%s/%d:%02d:%02d:%02d +0000", tm.tm_mday,
		   months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min,
		   tm.tm_sec);
}

static void put_escaped(struct buf *out, struct http_slice text)
{
	size_t from = 0;

	if (!text.data)
		return;
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];
		const char escape[] = {'\\', 'x', hex_upper(c >> 4),
				       hex_upper(c & 15)};

		if (c >= ' ' && c < 0x7f && c != '"' && c != '\\')
			continue;
		buf_append(out, text.data + from, i - from);
		buf_append(out, escape, sizeof(escape));
		from = i + 1;
	}
	buf_append(out, text.data + from, text.len - from);
}

static void put_header(struct buf *out, struct http_slice value)
{
	buf_puts(out, " \"");
	if (value.len)
		put_escaped(out, value);
	else
		buf_putc(out, '-');
	buf_putc(out, '"');
}

void access_line_put_combined(struct buf *out, const struct access_entry *entry)
{
	char client[INET6_ADDRSTRLEN];

	buf_printf(out, "%s - - [", client_text(&entry->client, client));
	put_time(out, entry->time_ms);
	buf_puts(out, "] \"");
	put_escaped(out, entry->method);
	buf_putc(out, ' ');
	put_escaped(out, entry->path);
	if (entry->query.data)
		buf_putc(out, '?');
	put_escaped(out, entry->query);
	buf_printf(out, " HTTP/1.%u\" %d %zu", entry->minor_version,
		   entry->status, entry->body_bytes);
	put_header(out, entry->referrer);
	put_header(out, entry->user_agent);
	buf_putc(out, '\n');
}

/* --- JSON ----------------------------------------------------------------- */

static void put_member(struct buf *out, const char *name,
		       struct http_slice value)
{
	if (!value.len)
		return;
	buf_printf(out, ",\"%s\":", name);
	json_put_lossy(out, value.data, value.len);
}

void access_line_put_json(struct buf *out, const struct access_entry *entry)
{
	char client[INET6_ADDRSTRLEN], time[RFC3339_TEXT_MAX];

	buf_printf(out, "{\"time_iso8601\":\"%s\",\"remote_addr\":\"%s\"",
		   rfc3339_format(entry->time_ms, time),
		   client_text(&entry->client, client));
	put_member(out, "request_method", entry->method);
	put_member(out, "uri", entry->path);
	put_member(out, "args", entry->query);
	buf_printf(out,
		   ",\"server_protocol\":\"HTTP/1.%u\",\"status\":%d,"
		   "\"body_bytes_sent\":%zu",
		   entry->minor_version, entry->status, entry->body_bytes);
	put_member(out, "http_host", entry->host);
	put_member(out, "http_referer", entry->referrer);
	put_member(out, "http_user_agent", entry->user_agent);
	put_member(out, "http_accept_language", entry->accept_language);
	put_member(out, "http_sec_purpose", entry->prefetch);
	buf_puts(out, "}\n");
}
