#include "engine/sha256.h"

#include <stdio.h>

#include <openssl/sha.h>

void dbio_sha256_hex(const void *data, size_t size, char hex[65])
{
        unsigned char digest[SHA256_DIGEST_LENGTH];

        SHA256(data, size, digest);
        for (int i = 0; i < SHA256_DIGEST_LENGTH; i++)
                sprintf(hex + 2 * i, "%02x", digest[i]);
}
