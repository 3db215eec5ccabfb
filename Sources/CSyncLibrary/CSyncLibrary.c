#include "CSyncLibrary.h"

#include <dlfcn.h>
#include <openssl/crypto.h>

/// libcrypto cleans up in an atexit(3) handler. Threads of ours are joined before, but for those that were given up with a
/// photo: one may come back at that moment and let go of its digests, and to free what is gone corrupts the heap. The
/// process is over anyway, so there is nothing to clean (OPENSSL_init_crypto(3ossl), "OPENSSL_INIT_NO_ATEXIT"). Whoever asks
/// first decides: so each library that may have brought it is not used before.
static void keepCryptoUntilTheEnd(void) {
    void *crypto = dlopen(CSYNC_LIBRARY_CRYPTO, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (crypto == NULL) return;
    int (*init)(uint64_t options, const OPENSSL_INIT_SETTINGS *settings);
    // As dlsym(3) has it: ISO C converts no void pointer into one to a function.
    *(void **)&init = dlsym(crypto, "OPENSSL_init_crypto");
    if (init != NULL) (void)init(OPENSSL_INIT_NO_ATEXIT, NULL);
    // Counted once less; it is open for somebody else.
    (void)dlclose(crypto);
}

const char *CSyncLibrary_Open(const CSyncLibrary_Needs *needs) {
    // A library that is open is counted once more, and nothing else: the addresses are the same, whoever wrote them first.
    void *library = dlopen(needs->library, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return dlerror();
    keepCryptoUntilTheEnd();
    for (size_t index = 0; index < needs->count; index++) {
        const CSyncLibrary_Function *function = &needs->functions[index];
        void *address = dlsym(library, function->name);
        if (address == NULL) return dlerror();
        __atomic_store_n(function->address, address, __ATOMIC_RELEASE);
    }
    return NULL;
}
