// The way into the memfd: planes, blocks, and what failed.

#include "Decoder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool fail(Job *job, CSyncDecoder_Status status, const char *format, ...) {
    if (job->reply.status != CSYNC_DECODER_OK) return false;
    job->reply.status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(job->reply.message, sizeof job->reply.message, format, arguments);
    va_end(arguments);
    // Some libraries end theirs with a new line.
    job->reply.message[strcspn(job->reply.message, "\n")] = 0;
    return false;
}

bool fail_by_library(Job *job, const char *words) {
    if (job->read_error != 0) {
        job->reply.error_number = job->read_error;
        return fail(job, CSYNC_DECODER_READ_FAILED, "%s", strerror(job->read_error));
    }
    if (words == NULL || *words == 0) words = "the library gives no reason";
    return fail(job, job->reached_end ? CSYNC_DECODER_TRUNCATED : CSYNC_DECODER_CORRUPT, "%s", words);
}

bool fits_in_memory(Job *job, int64_t bytes) {
    if (bytes <= job->request.memory_bytes) return true;
    return fail(
        job, CSYNC_DECODER_OVER_LIMIT, "decoding needs %lld MiB of memory, and the limit is %lld MiB",
        (long long)((bytes + (1 << 20) - 1) >> 20), (long long)(job->request.memory_bytes >> 20));
}

void *take_memory(Job *job, int64_t bytes) {
    if (!fits_in_memory(job, bytes)) return NULL;
    void *memory = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (memory == NULL) fail(job, CSYNC_DECODER_OVER_LIMIT, "decoding needs more than the limit of memory");
    return memory;
}

// MARK: The file

size_t read_picture(Job *job, void *bytes, size_t count, int64_t offset) {
    size_t done = 0;
    while (done < count) {
        ssize_t got = pread(job->picture, (char *)bytes + done, count - done, offset + (int64_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) job->read_error = errno;
        if (got == 0) job->reached_end = true;
        if (got <= 0) break;
        done += (size_t)got;
    }
    return done;
}

uint8_t *read_whole_picture(Job *job) {
    int64_t count = job->request.file_bytes;
    uint8_t *bytes = take_memory(job, count);
    if (bytes == NULL) return NULL;
    if (read_picture(job, bytes, (size_t)count, 0) == (size_t)count) return bytes;
    free(bytes);
    fail_by_library(job, "the file is shorter than it was");
    return NULL;
}

// MARK: Samples

bool write_samples(Job *job, const void *bytes, size_t count, int64_t offset) {
    for (size_t done = 0; done < count;) {
        ssize_t written = pwrite(job->memory, (const char *)bytes + done, count - done, offset + (int64_t)done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            job->reply.error_number = errno;
            return fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "samples cannot be kept: %s", strerror(errno));
        }
        done += (size_t)written;
    }
    return true;
}

bool read_samples(Job *job, void *bytes, size_t count, int64_t offset) {
    for (size_t done = 0; done < count;) {
        ssize_t got = pread(job->memory, (char *)bytes + done, count - done, offset + (int64_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return fail(job, CSYNC_DECODER_INTERNAL, "samples cannot be read again");
        done += (size_t)got;
    }
    return true;
}

bool extend_samples(Job *job, int64_t end) {
    if (ftruncate(job->memory, end) == 0) return true;
    return fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "samples cannot be kept: %s", strerror(errno));
}

bool check_size(Job *job, int64_t width, int64_t height) {
    if (width < 1 || height < 1) return fail(job, CSYNC_DECODER_CORRUPT, "the picture has no pixels");
    int64_t pixels;
    if (__builtin_mul_overflow(width, height, &pixels) || pixels > job->request.pixels) {
        return fail(
            job, CSYNC_DECODER_OVER_LIMIT, "the picture has %lld × %lld pixels, and the limit is %lld",
            (long long)width, (long long)height, (long long)job->request.pixels);
    }
    if (width > LONGEST_SIDE || height > LONGEST_SIDE) {
        return fail(
            job, CSYNC_DECODER_UNSUPPORTED, "the picture has %lld × %lld pixels; a side can have %d",
            (long long)width, (long long)height, LONGEST_SIDE);
    }
    return true;
}

bool begin_samples(Job *job, int64_t width, int64_t height, int colour, int horizontal, int vertical) {
    if (!check_size(job, width, height)) return false;
    int64_t offset = 0;
    for (int plane = 0; plane < (colour == GRAY ? 1 : 3); plane += 1) {
        bool is_chroma = colour == YCBCR && plane > 0;
        int64_t across = is_chroma ? (width + horizontal - 1) / horizontal : width;
        int64_t down = is_chroma ? (height + vertical - 1) / vertical : height;
        job->plane_offset[plane] = offset;
        job->plane_width[plane] = (int32_t)across;
        offset += across * down;
    }
    free(job->row);
    job->row = take_memory(job, width * 3);
    if (job->row == NULL) return false;
    if (!extend_samples(job, offset)) return false;
    job->end = offset;
    job->reply.width = (int32_t)width;
    job->reply.height = (int32_t)height;
    job->reply.colour = (uint32_t)colour;
    job->reply.horizontal = horizontal;
    job->reply.vertical = vertical;
    job->reply.samples_offset = 0;
    job->reply.samples_bytes = (uint64_t)offset;
    return true;
}

bool write_band(Job *job, int plane, int32_t row, int32_t count, const uint8_t *samples) {
    int64_t width = job->plane_width[plane];
    return write_samples(job, samples, (size_t)(width * count), job->plane_offset[plane] + row * width);
}

bool write_row(Job *job, int plane, int32_t row, const uint8_t *samples) {
    return write_band(job, plane, row, 1, samples);
}

static uint8_t over_white(uint8_t sample, uint8_t alpha) {
    return (uint8_t)((sample * alpha + 255 * (255 - alpha) + 127) / 255);
}

bool write_pixels(Job *job, int32_t row, const uint8_t *pixels, bool has_alpha) {
    int32_t width = job->reply.width;
    int planes = job->reply.colour == GRAY ? 1 : 3;
    int step = planes + has_alpha;
    if (step == 1) return write_row(job, 0, row, pixels);
    for (int plane = 0; plane < planes; plane += 1) {
        uint8_t *samples = job->row + (size_t)plane * (size_t)width;
        if (has_alpha) {
            for (int32_t x = 0; x < width; x += 1) {
                samples[x] = over_white(pixels[x * step + plane], pixels[x * step + planes]);
            }
        } else {
            for (int32_t x = 0; x < width; x += 1) samples[x] = pixels[x * step + plane];
        }
        if (!write_row(job, plane, row, samples)) return false;
    }
    return true;
}

// MARK: Blocks

static bool append(Job *job, const void *block, size_t count, uint64_t *offset, uint64_t *bytes) {
    if (count == 0 || count > LARGEST_BLOCK) return true;
    if (!write_samples(job, block, count, job->end)) return false;
    *offset = (uint64_t)job->end;
    *bytes = count;
    job->end += (int64_t)count;
    return true;
}

bool write_icc(Job *job, const void *block, size_t count) {
    return append(job, block, count, &job->reply.icc_offset, &job->reply.icc_bytes);
}

/// Moves `block` behind "Exif\0\0". Returns whether it is a TIFF block.
static bool find_block(const uint8_t **block, size_t *count) {
    if (*count >= 6 && memcmp(*block, "Exif\0\0", 6) == 0) {
        *block += 6;
        *count -= 6;
    }
    return *count >= 8 && (memcmp(*block, "II*\0", 4) == 0 || memcmp(*block, "MM\0*", 4) == 0);
}

bool write_exif(Job *job, const uint8_t *block, size_t count) {
    if (!find_block(&block, &count)) return true;
    return append(job, block, count, &job->reply.exif_offset, &job->reply.exif_bytes);
}

int exif_orientation(const uint8_t *block, size_t count) {
    if (!find_block(&block, &count)) return 1;
    bool is_big = block[0] == 'M';
    int high = is_big ? 0 : 1;
    int low = is_big ? 1 : 0;
    uint64_t at = 0;
    for (int index = 0; index < 4; index += 1) at = at << 8 | block[is_big ? 4 + index : 7 - index];
    if (at + 2 > count) return 1;
    int entries = block[at + (size_t)high] << 8 | block[at + (size_t)low];
    at += 2;
    for (int index = 0; index < entries && at + 12 <= count; index += 1, at += 12) {
        const uint8_t *entry = block + at;
        if ((entry[high] << 8 | entry[low]) != 0x0112) continue;
        int value = entry[8 + high] << 8 | entry[8 + low];
        return value >= 1 && value <= 8 ? value : 1;
    }
    return 1;
}
