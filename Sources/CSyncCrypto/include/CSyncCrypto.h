#ifndef CSYNCCRYPTO_H
#define CSYNCCRYPTO_H

#include <stddef.h>
#include <stdint.h>

// Digests of OpenSSL's libcrypto (EVP_DigestInit(3), HMAC(3)). Every function may be called on any thread; one hasher
// belongs to one thread at a time. Functions that can fail return 1 on success and 0 when libcrypto refuses (out of
// memory, or an algorithm that the system's policy has switched off) or is not there. The first call opens it.

#define CSYNCCRYPTO_MD5_LENGTH 16
#define CSYNCCRYPTO_SHA1_LENGTH 20
#define CSYNCCRYPTO_SHA256_LENGTH 32

/// Opens libcrypto. NULL when it is open; else what is missing, once and for all.
const char *_Nullable CSyncCrypto_Missing(void);

/// A SHA-256, and an MD5 of the same bytes where it is asked for.
typedef struct CSyncCrypto_Hasher CSyncCrypto_Hasher;

/// A hasher that has seen no byte; NULL on failure. The caller owns it and frees it.
CSyncCrypto_Hasher *_Nullable CSyncCrypto_HasherCreate(int withMD5);

/// `bytes` may be NULL only when `count` is 0. The bytes are not kept.
int CSyncCrypto_HasherUpdate(CSyncCrypto_Hasher *_Nonnull hasher, const void *_Nullable bytes, size_t count);

/// Writes the digests, 16 and 32 bytes, and puts the hasher back to its start. `md5` may be NULL where there is none.
int CSyncCrypto_HasherFinish(CSyncCrypto_Hasher *_Nonnull hasher, uint8_t *_Nullable md5, uint8_t *_Nonnull sha256);

void CSyncCrypto_HasherFree(CSyncCrypto_Hasher *_Nullable hasher);

/// Writes 20 bytes. SHA-1 is for names of files of others; it protects nothing.
int CSyncCrypto_SHA1(const void *_Nullable bytes, size_t count, uint8_t *_Nonnull digest);

/// Writes 32 bytes.
int CSyncCrypto_SHA256(const void *_Nullable bytes, size_t count, uint8_t *_Nonnull digest);

/// Writes 32 bytes. A key longer than INT_MAX is a failure.
int CSyncCrypto_HMACSHA256(
    const void *_Nullable key, size_t keyCount, const void *_Nullable message, size_t messageCount,
    uint8_t *_Nonnull code);

#endif
