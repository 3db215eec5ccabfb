#include <CSyncLibrary.h>

#define FUNCTIONS(F) \
    F(archive_entry_clear) \
    F(archive_entry_free) \
    F(archive_entry_new) \
    F(archive_entry_set_filetype) \
    F(archive_entry_set_mtime) \
    F(archive_entry_set_pathname) \
    F(archive_entry_set_perm) \
    F(archive_entry_set_size) \
    F(archive_errno) \
    F(archive_set_error) \
    F(archive_write_close) \
    F(archive_write_data) \
    F(archive_write_free) \
    F(archive_write_header) \
    F(archive_write_new) \
    F(archive_write_open2) \
    F(archive_write_set_bytes_in_last_block) \
    F(archive_write_set_bytes_per_block) \
    F(archive_write_set_format_zip) \
    F(archive_write_zip_set_compression_store)

CSYNC_LIBRARY(CSyncArchive_OpenLibrary, "libarchive.so.13", FUNCTIONS)
