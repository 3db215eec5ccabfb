#include <CSyncLibrary.h>

#define FUNCTIONS(F) \
    F(EVP_Digest) \
    F(EVP_DigestFinal_ex) \
    F(EVP_DigestInit_ex2) \
    F(EVP_DigestUpdate) \
    F(EVP_MD_CTX_free) \
    F(EVP_MD_CTX_new) \
    F(EVP_MD_fetch) \
    F(EVP_sha1) \
    F(EVP_sha256) \
    F(HMAC)

CSYNC_LIBRARY(CSyncCrypto_OpenLibrary, CSYNC_LIBRARY_CRYPTO, FUNCTIONS)
