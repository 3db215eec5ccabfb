// libjpeg's data source over a descriptor.

#include "Internal.h"

#include <errno.h>
#include <jerror.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void init_source(j_decompress_ptr cinfo) {}
static void term_source(j_decompress_ptr cinfo) {}

static ssize_t read_memory(const Source *source, unsigned char *buffer) {
    size_t rest = source->memory_count - (size_t)source->offset;
    size_t count = rest < SOURCE_BUFFER ? rest : SOURCE_BUFFER;
    if (count > 0) {
        memcpy(buffer, source->memory + source->offset, count);
    }
    return (ssize_t)count;
}

static ssize_t read_file(const Source *source, unsigned char *buffer) {
    ssize_t count;
    do {
        count = pread(source->descriptor, buffer, SOURCE_BUFFER, source->offset);
    } while (count < 0 && errno == EINTR);
    return count;
}

/// Never suspends: it fills the buffer, or it fails. libjpeg's sample code would feed an EOI and go on with gray.
static boolean fill_input_buffer(j_decompress_ptr cinfo) {
    Source *source = (Source *)cinfo->src;
    unsigned char *buffer = source->bytes + SOURCE_HISTORY;

    // Not from `next_input_byte`: in a marker libjpeg calls this with a stale one.
    memmove(source->bytes, source->bytes + source->filled, SOURCE_HISTORY);
    ssize_t count = source->descriptor < 0 ? read_memory(source, buffer) : read_file(source, buffer);
    if (count < 0) {
        int error = errno;
        csj_fail((Guard *)cinfo->err, CSYNC_JPEG_READ_FAILED, error, "read: %s", strerror(error));
    }
    if (count == 0) {
        if (source->offset == 0) {
            csj_fail((Guard *)cinfo->err, CSYNC_JPEG_TRUNCATED, 0, "Empty input file");
        }
        WARNMS(cinfo, JWRN_JPEG_EOF);
    }
    source->offset += count;
    source->filled = (size_t)count;
    source->base.next_input_byte = buffer;
    source->base.bytes_in_buffer = (size_t)count;
    return TRUE;
}

static void skip_input_data(j_decompress_ptr cinfo, long count) {
    struct jpeg_source_mgr *source = cinfo->src;
    while (count > (long)source->bytes_in_buffer) {
        count -= (long)source->bytes_in_buffer;
        source->next_input_byte += source->bytes_in_buffer;
        source->bytes_in_buffer = 0;
        fill_input_buffer(cinfo);
    }
    if (count > 0) {
        source->next_input_byte += count;
        source->bytes_in_buffer -= (size_t)count;
    }
}

void csj_source_init(Source *source, int descriptor, const uint8_t *memory, size_t memory_count) {
    source->base.init_source = init_source;
    source->base.fill_input_buffer = fill_input_buffer;
    source->base.skip_input_data = skip_input_data;
    source->base.resync_to_restart = jpeg_resync_to_restart;
    source->base.term_source = term_source;
    source->base.bytes_in_buffer = 0;
    source->base.next_input_byte = NULL;
    source->descriptor = descriptor;
    source->memory = memory;
    source->memory_count = memory_count;
    source->offset = 0;
    source->filled = 0;
}

int64_t csj_source_size(const Source *source) {
    struct stat status;
    if (source->descriptor < 0) {
        return (int64_t)source->memory_count;
    }
    return fstat(source->descriptor, &status) == 0 ? status.st_size : -1;
}

off_t csj_source_offset(const Source *source) {
    return source->offset - (off_t)source->base.bytes_in_buffer;
}

int csj_source_byte(j_decompress_ptr cinfo) {
    struct jpeg_source_mgr *source = cinfo->src;
    if (source->bytes_in_buffer == 0) {
        fill_input_buffer(cinfo);
    }
    source->bytes_in_buffer -= 1;
    return *source->next_input_byte++;
}

bool csj_source_skipped_padding(const Source *source, unsigned count) {
    // At its warning libjpeg has not told us yet that it read the marker: the next byte is the marker's first. (At a
    // buffer's border it may be the second, and one byte of the padding goes unseen.)
    const unsigned char *end = source->base.next_input_byte;
    if (count > SOURCE_HISTORY) {
        return false;
    }
    for (const unsigned char *byte = end - count; byte < end; byte++) {
        if (*byte != 0x00 && *byte != 0xFF) {
            return false;
        }
    }
    return true;
}
