#include "CSyncCrypto.h"

#include <CSyncLibrary.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

CSYNC_LIBRARY_OPENING(CSyncCrypto_OpenLibrary);

// Both digests take turns on pieces of this size: the second one finds its bytes in the first-level cache.
static const size_t pieceLength = 16 * 1024;

struct CSyncCrypto_Hasher {
    /// NULL where nobody asks for it.
    EVP_MD_CTX *md5;
    EVP_MD_CTX *sha256;
};

static pthread_once_t openOnce = PTHREAD_ONCE_INIT;
/// Empty when the library is open. What dlerror(3) says is gone with its next call.
static char missing[256];

static void openLibrary(void) {
    const char *reason = CSyncCrypto_OpenLibrary();
    if (reason != NULL) snprintf(missing, sizeof missing, "%s", reason);
}

const char *CSyncCrypto_Missing(void) {
    pthread_once(&openOnce, openLibrary);
    return missing[0] == 0 ? NULL : missing;
}

static pthread_once_t fetchOnce = PTHREAD_ONCE_INIT;
static EVP_MD *md5Algorithm;
static EVP_MD *sha256Algorithm;

static void fetchAlgorithms(void) {
    if (CSyncCrypto_Missing() != NULL) return;
    // "-fips": a machine in FIPS mode still has MD5 in the default provider. It names photos here, it protects nothing.
    md5Algorithm = EVP_MD_fetch(NULL, "MD5", "-fips");
    sha256Algorithm = EVP_MD_fetch(NULL, "SHA2-256", NULL);
}

static int restart(CSyncCrypto_Hasher *hasher) {
    return (hasher->md5 == NULL || EVP_DigestInit_ex2(hasher->md5, md5Algorithm, NULL) == 1)
        && EVP_DigestInit_ex2(hasher->sha256, sha256Algorithm, NULL) == 1;
}

CSyncCrypto_Hasher *CSyncCrypto_HasherCreate(int withMD5) {
    pthread_once(&fetchOnce, fetchAlgorithms);
    if (md5Algorithm == NULL || sha256Algorithm == NULL) return NULL;
    CSyncCrypto_Hasher *hasher = calloc(1, sizeof *hasher);
    if (hasher == NULL) return NULL;
    hasher->md5 = withMD5 ? EVP_MD_CTX_new() : NULL;
    hasher->sha256 = EVP_MD_CTX_new();
    if ((withMD5 && hasher->md5 == NULL) || hasher->sha256 == NULL || !restart(hasher)) {
        CSyncCrypto_HasherFree(hasher);
        return NULL;
    }
    return hasher;
}

int CSyncCrypto_HasherUpdate(CSyncCrypto_Hasher *hasher, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    while (count > 0) {
        size_t piece = count < pieceLength ? count : pieceLength;
        if (hasher->md5 != NULL && EVP_DigestUpdate(hasher->md5, next, piece) != 1) return 0;
        if (EVP_DigestUpdate(hasher->sha256, next, piece) != 1) return 0;
        next += piece;
        count -= piece;
    }
    return 1;
}

int CSyncCrypto_HasherFinish(CSyncCrypto_Hasher *hasher, uint8_t *md5, uint8_t *sha256) {
    return (hasher->md5 == NULL || EVP_DigestFinal_ex(hasher->md5, md5, NULL) == 1)
        && EVP_DigestFinal_ex(hasher->sha256, sha256, NULL) == 1 && restart(hasher);
}

void CSyncCrypto_HasherFree(CSyncCrypto_Hasher *hasher) {
    if (hasher == NULL) return;
    EVP_MD_CTX_free(hasher->md5);
    EVP_MD_CTX_free(hasher->sha256);
    free(hasher);
}

int CSyncCrypto_SHA1(const void *bytes, size_t count, uint8_t *digest) {
    return CSyncCrypto_Missing() == NULL && EVP_Digest(bytes, count, digest, NULL, EVP_sha1(), NULL) == 1;
}

int CSyncCrypto_SHA256(const void *bytes, size_t count, uint8_t *digest) {
    pthread_once(&fetchOnce, fetchAlgorithms);
    if (sha256Algorithm == NULL) return 0;
    return EVP_Digest(bytes, count, digest, NULL, sha256Algorithm, NULL) == 1;
}

int CSyncCrypto_HMACSHA256(
    const void *key, size_t keyCount, const void *message, size_t messageCount, uint8_t *code) {
    // HMAC(3) takes a NULL key as "the one of last time": an empty key needs an address.
    static const uint8_t nothing = 0;
    if (CSyncCrypto_Missing() != NULL || keyCount > INT_MAX) return 0;
    return HMAC(
               EVP_sha256(), key != NULL ? key : &nothing, (int)keyCount, message != NULL ? message : &nothing,
               messageCount, code, NULL)
        != NULL;
}
