#ifndef CSYNCLIBRARY_H
#define CSYNCLIBRARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Libraries that not each command needs, opened when they are (dlopen(3)): libcurl, libphonenumber and libarchive bring 42 others
// with them, and would cost every start 8 ms and 10 MiB; the 3,377 symbols of libcrypto are two fifths of what the dynamic
// linker does for a start. For shims only.
//
// A shim lists the functions that it calls (CSYNC_LIBRARY) and calls them by their names, as if they were linked. Each
// is a jump through an address that CSyncLibrary_Open has filled in; whoever calls one before has a defect, and ends. The names
// are hidden, so that the library itself finds its own. All symbols are bound as the library is opened, as at a start.

/// libcrypto of OpenSSL 3: digests are made with it, and other libraries bring it along.
#define CSYNC_LIBRARY_CRYPTO "libcrypto.so.3"

typedef struct {
    const char *_Nonnull name;
    void *_Nullable *_Nonnull address;
} CSyncLibrary_Function;

typedef struct {
    /// As the dynamic linker looks for it: its SONAME, without a folder.
    const char *_Nonnull library;
    const CSyncLibrary_Function *_Nonnull functions;
    size_t count;
} CSyncLibrary_Needs;

/// Opens the library, and finds all the functions. It stays open. Once is enough, more costs a lookup; any thread may.
///
/// NULL when it is done. Else what dlopen(3) or dlsym(3) says is missing, valid until the thread's next call.
const char *_Nullable CSyncLibrary_Open(const CSyncLibrary_Needs *_Nonnull needs);

#if defined(__x86_64__)
#define CSYNC_LIBRARY_JUMP(name) "jmpq *CSyncLibrary_at_" #name "(%rip)\n"
#elif defined(__aarch64__)
// x16 is the procedure call standard's, for jumps such as this (AAPCS64, 6.1.1).
#define CSYNC_LIBRARY_JUMP(name)                                                                                          \
    "adrp x16, CSyncLibrary_at_" #name "\n"                                                                               \
    "ldr x16, [x16, :lo12:CSyncLibrary_at_" #name "]\n"                                                                   \
    "br x16\n"
#else
#error "CSyncLibrary knows no jump for this processor; write one beside these"
#endif

/// Defines `name`, with any arguments and any result, and where its address will be.
#define CSYNC_LIBRARY_FUNCTION(name)                                                                                      \
    __attribute__((visibility("hidden"))) void *CSyncLibrary_at_##name;                                                   \
    __asm__(".text\n"                                                                                                     \
            ".balign 16\n"                                                                                                \
            ".globl " #name "\n"                                                                                          \
            ".hidden " #name "\n"                                                                                         \
            ".type " #name ", %function\n"                                                                                \
            #name ":\n" CSYNC_LIBRARY_JUMP(name)                                                                          \
            ".size " #name ", . - " #name "\n");

#define CSYNC_LIBRARY_ROW(name) {#name, &CSyncLibrary_at_##name},

/// Tells tools which library will be opened, in the program's notes: packagers by the specification of the UAPI group ("ELF
/// dlopen() metadata"), and our own scripts (debian/rules, scripts/make-sbom).
#define CSYNC_LIBRARY_NOTE(soname)                                                                                        \
    __attribute__((used, retain, section(".note.dlopen"), aligned(4))) static const struct {                              \
        uint32_t ownerLength, length, type;                                                                               \
        char owner[4];                                                                                                    \
        char text[(sizeof("[{\"soname\":[\"" soname "\"],\"priority\":\"required\"}]") + 3) & ~(size_t)3];                \
    } CSyncLibrary_note = {                                                                                               \
        4, sizeof CSyncLibrary_note.text, 0x407c0c0a, "FDO", "[{\"soname\":[\"" soname "\"],\"priority\":\"required\"}]"};

/// Declares the function that opens a shim's library, hidden: to be called before any function of the library. NULL when it is
/// open, else what is missing.
#ifdef __cplusplus
#define CSYNC_LIBRARY_OPENING(opening) \
    extern "C" __attribute__((visibility("hidden"))) const char *_Nullable opening(void)
#else
#define CSYNC_LIBRARY_OPENING(opening) __attribute__((visibility("hidden"))) const char *_Nullable opening(void)
#endif

/// Defines it. `FUNCTIONS` is a macro that calls the one it is given with the name of each function.
#define CSYNC_LIBRARY(opening, soname, FUNCTIONS)                                                                         \
    FUNCTIONS(CSYNC_LIBRARY_FUNCTION)                                                                                     \
    CSYNC_LIBRARY_NOTE(soname)                                                                                            \
    CSYNC_LIBRARY_OPENING(opening);                                                                                       \
    const char *opening(void) {                                                                                           \
        static const CSyncLibrary_Function functions[] = {FUNCTIONS(CSYNC_LIBRARY_ROW)};                                  \
        static const CSyncLibrary_Needs needs = {soname, functions, sizeof functions / sizeof *functions};                \
        return CSyncLibrary_Open(&needs);                                                                                 \
    }

#ifdef __cplusplus
}
#endif

#endif
