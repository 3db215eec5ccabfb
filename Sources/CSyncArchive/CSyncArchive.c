#include "CSyncArchive.h"

#include <CSyncLibrary.h>
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

CSYNC_LIBRARY_OPENING(CSyncArchive_OpenLibrary);

// What is held back until so many bytes are together: the many small parts around a file's bytes cost no system call.
static const int blockLength = 256 * 1024;

struct CSyncArchive_Zip {
    int descriptor;
    bool discards;
    struct archive *writer;
    struct archive_entry *entry;
    // libarchive takes names to be in the encoding of the thread's locale. Ours is "C", whatever the person's is.
    locale_t utf8;
};

static int reason(CSyncArchive_Zip *zip) {
    int code = archive_errno(zip->writer);
    // Below 0 are those of libarchive that mean nothing in particular.
    return code > 0 ? code : EIO;
}

static la_ssize_t write_out(struct archive *writer, void *context, const void *bytes, size_t count) {
    const CSyncArchive_Zip *zip = context;
    if (zip->discards) return (la_ssize_t)count;
    ssize_t written;
    do {
        written = write(zip->descriptor, bytes, count);
    } while (written < 0 && errno == EINTR);
    if (written < 0) archive_set_error(writer, errno, "write");
    return written;
}

const char *CSyncArchive_Missing(void) { return CSyncArchive_OpenLibrary(); }

CSyncArchive_Zip *CSyncArchive_ZipCreate(int descriptor) {
    if (CSyncArchive_OpenLibrary() != NULL) return NULL;
    CSyncArchive_Zip *zip = calloc(1, sizeof *zip);
    if (zip == NULL) return NULL;
    zip->descriptor = descriptor;
    zip->writer = archive_write_new();
    zip->entry = archive_entry_new();
    zip->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (zip->writer == NULL || zip->entry == NULL || zip->utf8 == (locale_t)0
        || archive_write_set_format_zip(zip->writer) != ARCHIVE_OK
        || archive_write_zip_set_compression_store(zip->writer) != ARCHIVE_OK
        || archive_write_set_bytes_per_block(zip->writer, blockLength) != ARCHIVE_OK
        || archive_write_set_bytes_in_last_block(zip->writer, 1) != ARCHIVE_OK
        || archive_write_open2(zip->writer, zip, NULL, write_out, NULL, NULL) != ARCHIVE_OK) {
        CSyncArchive_ZipFree(zip);
        return NULL;
    }
    return zip;
}

int CSyncArchive_ZipBegin(CSyncArchive_Zip *zip, const char *name, int64_t size, int64_t modified) {
    archive_entry_clear(zip->entry);
    archive_entry_set_filetype(zip->entry, S_IFREG);
    archive_entry_set_perm(zip->entry, 0644);
    archive_entry_set_pathname(zip->entry, name);
    archive_entry_set_size(zip->entry, size);
    archive_entry_set_mtime(zip->entry, modified, 0);
    locale_t before = uselocale(zip->utf8);
    int result = archive_write_header(zip->writer, zip->entry);
    uselocale(before);
    // A warning would be a name that was changed.
    return result == ARCHIVE_OK ? 0 : reason(zip);
}

int CSyncArchive_ZipAppend(CSyncArchive_Zip *zip, const void *bytes, size_t count) {
    if (count == 0) return 0;
    la_ssize_t written = archive_write_data(zip->writer, bytes, count);
    if (written < 0) return reason(zip);
    // libarchive drops what is beyond the size that was announced.
    return (size_t)written == count ? 0 : EINVAL;
}

int CSyncArchive_ZipFinish(CSyncArchive_Zip *zip) {
    return archive_write_close(zip->writer) == ARCHIVE_OK ? 0 : reason(zip);
}

void CSyncArchive_ZipFree(CSyncArchive_Zip *zip) {
    if (zip == NULL) return;
    if (zip->writer != NULL) {
        // Freeing finishes the archive, which nobody wants any more. Told that it has failed (archive_write_fail(3)), or
        // after a failure of its own, libarchive 3.6 would not close, and never free its block: hence both.
        zip->discards = true;
        archive_write_close(zip->writer);
        archive_write_free(zip->writer);
    }
    archive_entry_free(zip->entry);
    if (zip->utf8 != (locale_t)0) freelocale(zip->utf8);
    free(zip);
}
