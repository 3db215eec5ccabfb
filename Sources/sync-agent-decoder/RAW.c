// The largest JPEG that a camera has put into its raw file, by LibRaw. Raw samples are not developed.

#include "Decoder.h"

#include <libraw/libraw.h>
#include <sys/mman.h>

static bool raw_fails(Job *job, int code) {
    if (code == LIBRAW_SUCCESS) return false;
    if (code == LIBRAW_UNSUFFICIENT_MEMORY || code == LIBRAW_TOO_BIG) {
        fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "%s", libraw_strerror(code));
    } else if (code == LIBRAW_FILE_UNSUPPORTED || code == LIBRAW_NO_THUMBNAIL || code == LIBRAW_UNSUPPORTED_THUMBNAIL) {
        fail(job, CSYNC_DECODER_UNSUPPORTED, "%s", libraw_strerror(code));
    } else {
        fail_by_library(job, libraw_strerror(code));
    }
    return true;
}

/// The size in the first frame header of a JPEG (ITU-T T.81, B.2.2).
static bool read_size(const uint8_t *bytes, size_t count, int64_t *width, int64_t *height) {
    for (size_t at = 2; at + 9 < count && bytes[at] == 0xff;) {
        uint8_t marker = bytes[at + 1];
        if (marker == 0xff) {
            at += 1;
            continue;
        }
        bool is_frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        if (is_frame) {
            *height = bytes[at + 5] << 8 | bytes[at + 6];
            *width = bytes[at + 7] << 8 | bytes[at + 8];
            return true;
        }
        at += 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
    }
    return false;
}

static int orientation_of(int flip) {
    switch (flip) {
    case 3: return 3;
    case 5: return 8;
    case 6: return 6;
    default: return 1;
    }
}

static bool write_preview(Job *job, libraw_data_t *raw) {
    if (raw_fails(job, libraw_unpack_thumb(raw))) return false;
    const uint8_t *bytes = (const uint8_t *)raw->thumbnail.thumb;
    size_t count = raw->thumbnail.tlength;
    bool is_jpeg = raw->thumbnail.tformat == LIBRAW_THUMBNAIL_JPEG && count > 4 && bytes[0] == 0xff && bytes[1] == 0xd8;
    if (!is_jpeg) return fail(job, CSYNC_DECODER_UNSUPPORTED, "a raw file without a preview in JPEG");
    int64_t width = 0;
    int64_t height = 0;
    if (!read_size(bytes, count, &width, &height)) {
        return fail(job, CSYNC_DECODER_CORRUPT, "the preview of the raw file is no JPEG");
    }
    if (!check_size(job, width, height) || !write_samples(job, bytes, count, 0)) return false;
    job->reply.width = (int32_t)width;
    job->reply.height = (int32_t)height;
    job->reply.orientation = orientation_of(raw->sizes.flip);
    job->reply.samples_bytes = count;
    return true;
}

bool decode_raw(Job *job) {
    // LibRaw takes a name or memory, and there are no names here. Pages of the file are none of ours.
    size_t count = (size_t)job->request.file_bytes;
    void *bytes = mmap(NULL, count, PROT_READ, MAP_PRIVATE, job->picture, 0);
    if (bytes == MAP_FAILED) return fail(job, CSYNC_DECODER_READ_FAILED, "the file cannot be mapped");
    libraw_data_t *raw = libraw_init(LIBRAW_OPIONS_NO_MEMERR_CALLBACK | LIBRAW_OPIONS_NO_DATAERR_CALLBACK);
    bool is_done = false;
    if (raw == NULL) {
        fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "LibRaw cannot begin");
    } else {
        is_done = !raw_fails(job, libraw_open_buffer(raw, bytes, count)) && write_preview(job, raw);
        libraw_close(raw);
    }
    munmap(bytes, count);
    return is_done;
}
