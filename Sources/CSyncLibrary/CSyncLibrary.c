#include "CSyncLibrary.h"

#include <dlfcn.h>

const char *CSyncLibrary_Open(const CSyncLibrary_Needs *needs) {
    // A library that is open is counted once more, and nothing else: the addresses are the same, whoever wrote them first.
    void *library = dlopen(needs->library, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return dlerror();
    for (size_t index = 0; index < needs->count; index++) {
        const CSyncLibrary_Function *function = &needs->functions[index];
        void *address = dlsym(library, function->name);
        if (address == NULL) return dlerror();
        __atomic_store_n(function->address, address, __ATOMIC_RELEASE);
    }
    return NULL;
}
