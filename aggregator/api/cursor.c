#include "aggregator/api/cursor.h"

#include <openssl/evp.h>
#include <string.h>

#include "common/hex.h"

#define DIGEST_BYTES 8
#define CURSOR_MAX   (DIGEST_BYTES + CURSOR_PLACE_MAX)

unsigned char *cursor_put_number(unsigned char *out, uint64_t number, int bytes)
{
	for (int i = 0; i < bytes; i++)
		out[i] = (unsigned char)(number >> 8 * (bytes - 1 - i));
	return out + bytes;
}

uint64_t cursor_take_number(const unsigned char **in, int bytes)
{
	uint64_t number = 0;

	for (int i = 0; i < bytes; i++)
		number = number << 8 | *(*in)++;
	return number;
}

static void digest_of(const struct buf *question, const unsigned char *place,
		      size_t len, unsigned char ret[DIGEST_BYTES])
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};
	struct buf text = {0};

	buf_put_uint(&text, question->len);
	buf_putc(&text, ' ');
	buf_append(&text, question->data, question->len);
	buf_append(&text, place, len);
	EVP_Digest(text.data, text.len, digest, NULL, EVP_sha256(), NULL);
	buf_free(&text);
	memcpy(ret, digest, DIGEST_BYTES);
}

void cursor_put(struct buf *out, const struct buf *question,
		const unsigned char *place, size_t len)
{
	unsigned char digest[DIGEST_BYTES];

	digest_of(question, place, len, digest);
	buf_put_hex(out, digest, DIGEST_BYTES);
	buf_put_hex(out, place, len);
	out->failed |= question->failed;
}

/* Returns 0 if the text is not the digits of a cursor. */
static size_t read_digits(const char *text, unsigned char bytes[CURSOR_MAX])
{
	size_t len = strlen(text);

	if (len % 2 || len > 2 * CURSOR_MAX)
		return 0;
	for (size_t i = 0; i < len; i += 2) {
		int byte = hex_byte(text + i, 2);

		if (byte < 0)
			return 0;
		bytes[i / 2] = (unsigned char)byte;
	}
	return len / 2;
}

int cursor_parse(const char *text, const struct buf *question,
		 unsigned char ret_place[CURSOR_PLACE_MAX], size_t *ret_len,
		 struct error *err)
{
	unsigned char bytes[CURSOR_MAX], digest[DIGEST_BYTES];
	size_t len = read_digits(text, bytes);

	if (question->failed)
		return error_set_nomem(err);
	if (len <= DIGEST_BYTES)
		return error_set_field(err, "cursor",
				       "expected one that an answer gave");
	len -= DIGEST_BYTES;
	digest_of(question, bytes + DIGEST_BYTES, len, digest);
	if (memcmp(bytes, digest, DIGEST_BYTES) != 0)
		return error_set_field(err, "cursor",
				       "damaged, or of an answer to other "
				       "parameters than these");
	memcpy(ret_place, bytes + DIGEST_BYTES, len);
	*ret_len = len;
	return 0;
}
