#include "collector/tools/import/log_head.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "collector/tools/line_reader.h"

void log_head_release(struct log_head *h)
{
	free(h->numbers);
	*h = (struct log_head){0};
}

static int add_number(struct log_head *h, uint64_t number, struct error *err)
{
	uint64_t *numbers;

	/* The list grows whenever the count is a power of two. */
	if ((h->count & (h->count - 1)) == 0) {
		numbers = realloc(h->numbers, (h->count ? 2 * h->count : 1) *
						      sizeof(*numbers));
		if (!numbers)
			return error_set_nomem(err);
		h->numbers = numbers;
	}
	h->numbers[h->count++] = number;
	return 0;
}

/* Adds a line to the digest of the lines so far. */
static int add_line(struct log_head *h, EVP_MD_CTX *ctx,
		    unsigned char digest[SHA256_DIGEST_LENGTH],
		    const struct line *line, struct error *err)
{
	uint64_t number;

	if (!EVP_DigestInit_ex2(ctx, EVP_sha256(), NULL) ||
	    (h->count &&
	     !EVP_DigestUpdate(ctx, digest, SHA256_DIGEST_LENGTH)) ||
	    !EVP_DigestUpdate(ctx, line->text, line->len) ||
	    !EVP_DigestFinal_ex(ctx, digest, NULL))
		return error_set(err, ERROR_SYSTEM, "libcrypto: no SHA-256");
	memcpy(&number, digest, sizeof(number));
	return add_number(h, number, err);
}

/* Returns 1 if the head may continue, 0 if it is complete. */
static int add_lines(struct log_head *h, struct line_reader *lines,
		     EVP_MD_CTX *ctx, unsigned char *digest, struct error *err)
{
	struct line line;
	int more = line_reader_fill(lines, err);

	while (more > 0 && line_reader_next(lines, &line)) {
		if (line.offset + line.len >= LOG_HEAD_BYTES) {
			h->seen_all = false;
			return 0;
		}
		if (add_line(h, ctx, digest, &line, err) < 0)
			return -1;
	}
	return more;
}

static int read_lines(struct log_head *h, struct line_reader *lines,
		      EVP_MD_CTX *ctx, struct error *err)
{
	unsigned char digest[SHA256_DIGEST_LENGTH] = {0};
	int more;

	h->seen_all = true;
	do
		more = add_lines(h, lines, ctx, digest, err);
	while (more > 0);
	/* The intact lines of a truncated packed file make the head. */
	if (more < 0 && (err->code != ERROR_INPUT || !h->count))
		return -1;
	*err = (struct error){0};
	sodium_bin2hex(h->name, sizeof(h->name), digest, sizeof(h->name) / 2);
	return 0;
}

int log_head_read(struct log_head *h, struct log_source *source,
		  struct error *err)
{
	struct line_reader *lines =
		line_reader_new(LOG_HEAD_BYTES, log_source_read, source, err);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int status = -1;

	if (lines && !ctx)
		error_set_nomem(err);
	else if (lines)
		status = read_lines(h, lines, ctx, err);
	if (status == 0)
		status = log_source_rewind(source, err);
	line_reader_free(lines);
	EVP_MD_CTX_free(ctx);
	return status;
}

bool log_head_fits(const struct log_head *h, const uint64_t *numbers,
		   size_t count)
{
	size_t both = h->count < count ? h->count : count;

	return both && h->numbers[both - 1] == numbers[both - 1];
}
