#ifndef CSYNCARCHIVE_H
#define CSYNCARCHIVE_H

#include <stddef.h>
#include <stdint.h>

// Writes a ZIP file as a stream, by libarchive (archive_write(3)). Files are stored, not compressed: photos are already.
//
// A writer belongs to one thread at a time. Functions that return `int` return 0, or an errno; after a failure only
// CSyncArchive_ZipFree may be called.

typedef struct CSyncArchive_Zip CSyncArchive_Zip;

/// Opens libarchive and what it needs, 13 libraries. NULL when it is there; else what is missing, valid until the thread's next
/// call of dlopen(3).
const char *_Nullable CSyncArchive_Missing(void);

/// A writer to the current position of a descriptor, which stays the caller's and has to outlive it. NULL when memory is
/// short, libarchive is missing or the C library has no locale for UTF-8. The caller owns it and frees it.
CSyncArchive_Zip *_Nullable CSyncArchive_ZipCreate(int descriptor);

/// Begins the next file, of exactly `size` bytes. The one before has all of its bytes.
///
/// `name` is UTF-8 and is kept as it is. `modified` is in seconds since 1970, UTC.
int CSyncArchive_ZipBegin(
    CSyncArchive_Zip *_Nonnull zip, const char *_Nonnull name, int64_t size, int64_t modified);

/// Appends bytes to the file that was begun, no more than it still has to get.
int CSyncArchive_ZipAppend(CSyncArchive_Zip *_Nonnull zip, const void *_Nullable bytes, size_t count);

/// Writes the directory, and all that was held back. The writer can only be freed afterwards.
int CSyncArchive_ZipFinish(CSyncArchive_Zip *_Nonnull zip);

/// Writes nothing.
void CSyncArchive_ZipFree(CSyncArchive_Zip *_Nullable zip);

#endif
