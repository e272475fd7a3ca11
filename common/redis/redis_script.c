#include "common/redis/redis_script.h"

#include <openssl/evp.h>
#include <sodium.h>
#include <string.h>

void redis_script_init(struct redis_script *script, const char *text)
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};

	script->text = text;
	/* If the library lacks SHA-1, loading the script fails: Redis answers
	 * with another digest. */
	EVP_Digest(text, strlen(text), digest, NULL, EVP_sha1(), NULL);
	sodium_bin2hex(script->sha, sizeof(script->sha), digest,
		       sizeof(script->sha) / 2);
}
