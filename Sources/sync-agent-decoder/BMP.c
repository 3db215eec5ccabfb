// BMP: 1, 4, 8, 16, 24 and 32 bits a pixel, bit fields, RLE4 and RLE8, from the top or from the bottom.

#include "Decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_HEADER = 14, CORE_HEADER = 12, INFO_HEADER = 40, V5_HEADER = 124 };
enum { BI_RGB = 0, BI_RLE8 = 1, BI_RLE4 = 2, BI_BITFIELDS = 3, BI_ALPHABITFIELDS = 6 };

typedef struct BMP {
    Job *job;
    uint8_t header[V5_HEADER];
    uint32_t header_bytes;
    int64_t told_end;  // of the file, as its header has it
    int64_t samples;   // where they begin
    int64_t end;       // of what was read
    int64_t width;
    int64_t height;
    bool is_from_top;
    unsigned bits;
    uint32_t coding;
    uint32_t masks[4];  // red, green, blue, alpha
    uint8_t palette[256][3];
    unsigned colours;
} BMP;

static uint32_t little(const uint8_t *bytes, int count) {
    uint32_t value = 0;
    for (int index = count - 1; index >= 0; index -= 1) value = value << 8 | bytes[index];
    return value;
}

static bool need(Job *job, void *bytes, size_t count, int64_t offset) {
    return read_picture(job, bytes, count, offset) == count || fail_by_library(job, "the BMP file ends too early");
}

/// What is not decoded is stored as it is, where it is all there.
__attribute__((format(printf, 2, 3)))
static bool give_up(const BMP *bmp, const char *format, ...) {
    if (bmp->told_end > bmp->job->request.file_bytes) {
        return fail(bmp->job, CSYNC_DECODER_TRUNCATED, "the BMP file ends too early");
    }
    char words[80];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return fail(bmp->job, CSYNC_DECODER_UNSUPPORTED, "%s", words);
}

static bool read_palette(BMP *bmp, int64_t offset, uint32_t count) {
    size_t entry = bmp->header_bytes == CORE_HEADER ? 3 : 4;
    unsigned most = 1u << bmp->bits;
    if (count == 0 || count > most) count = most;
    uint8_t bytes[256 * 4];
    // Some files have fewer colours than they may; the samples begin there.
    if (offset + (int64_t)(entry * count) > bmp->samples) {
        if (bmp->samples <= offset) return fail(bmp->job, CSYNC_DECODER_CORRUPT, "the BMP file has no colours");
        count = (uint32_t)((size_t)(bmp->samples - offset) / entry);
    }
    if (!need(bmp->job, bytes, entry * count, offset)) return false;
    for (uint32_t index = 0; index < count; index += 1) {
        for (size_t plane = 0; plane < 3; plane += 1) bmp->palette[index][plane] = bytes[index * entry + 2 - plane];
    }
    bmp->colours = count;
    return true;
}

static bool read_masks(BMP *bmp) {
    static const uint32_t of_16[] = {0x7c00, 0x03e0, 0x001f, 0};
    static const uint32_t of_32[] = {0x00ff0000, 0x0000ff00, 0x000000ff, 0};
    memcpy(bmp->masks, bmp->bits == 16 ? of_16 : of_32, sizeof bmp->masks);
    if (bmp->coding == BI_RGB) return true;
    // Behind a header of 40 bytes, and in longer ones.
    uint8_t bytes[16] = {0};
    int count = bmp->header_bytes >= 56 || bmp->coding == BI_ALPHABITFIELDS ? 4 : 3;
    if (!need(bmp->job, bytes, (size_t)count * 4, FILE_HEADER + INFO_HEADER)) return false;
    for (int index = 0; index < 4; index += 1) bmp->masks[index] = little(bytes + 4 * index, 4);
    return true;
}

static bool is_known(const BMP *bmp) {
    switch (bmp->coding) {
    case BI_RGB: return bmp->bits == 1 || bmp->bits == 4 || bmp->bits == 8 || bmp->bits == 16 || bmp->bits == 24
        || bmp->bits == 32;
    case BI_RLE8: return bmp->bits == 8 && !bmp->is_from_top;
    case BI_RLE4: return bmp->bits == 4 && !bmp->is_from_top;
    case BI_BITFIELDS:
    case BI_ALPHABITFIELDS: return bmp->bits == 16 || bmp->bits == 32;
    default: return false;
    }
}

static bool read_header(BMP *bmp) {
    Job *job = bmp->job;
    uint8_t file[FILE_HEADER + 4];
    if (!need(job, file, sizeof file, 0)) return false;
    if (file[0] != 'B' || file[1] != 'M') return fail(job, CSYNC_DECODER_UNSUPPORTED, "a list of bitmaps, or no BMP");
    bmp->told_end = little(file + 2, 4);
    bmp->samples = little(file + 10, 4);
    bmp->header_bytes = little(file + FILE_HEADER, 4);
    bool is_core = bmp->header_bytes == CORE_HEADER;
    if (!is_core && (bmp->header_bytes < INFO_HEADER || bmp->header_bytes > V5_HEADER)) {
        return give_up(bmp, "a BMP header of %u bytes", bmp->header_bytes);
    }
    if (!need(job, bmp->header, bmp->header_bytes, FILE_HEADER)) return false;
    if (is_core) {
        bmp->width = little(bmp->header + 4, 2);
        bmp->height = little(bmp->header + 6, 2);
        bmp->bits = little(bmp->header + 10, 2);
    } else {
        bmp->width = (int32_t)little(bmp->header + 4, 4);
        bmp->height = (int32_t)little(bmp->header + 8, 4);
        bmp->bits = little(bmp->header + 14, 2);
        bmp->coding = little(bmp->header + 16, 4);
    }
    bmp->is_from_top = bmp->height < 0;
    if (bmp->is_from_top) bmp->height = -bmp->height;
    if (!is_known(bmp)) {
        return give_up(bmp, "a BMP of %u bits, coding %u", bmp->bits, bmp->coding);
    }
    if (!check_size(job, bmp->width, bmp->height)) return false;
    uint32_t colours = is_core ? 0 : little(bmp->header + 32, 4);
    if (bmp->bits <= 8) return read_palette(bmp, FILE_HEADER + (int64_t)bmp->header_bytes, colours);
    return bmp->bits == 24 || read_masks(bmp);
}

// MARK: Samples

static int64_t row_of(const BMP *bmp, int64_t line) { return bmp->is_from_top ? line : bmp->height - 1 - line; }

/// A sample of any width as 8 bits.
static uint8_t sample_of(uint32_t pixel, uint32_t mask) {
    if (mask == 0) return 0;
    uint32_t most = mask >> __builtin_ctz(mask);
    uint64_t value = (pixel & mask) >> __builtin_ctz(mask);
    return (uint8_t)((value * 255 + most / 2) / most);
}

static bool put_colour(const BMP *bmp, uint8_t *pixel, unsigned index) {
    if (index >= bmp->colours) return fail(bmp->job, CSYNC_DECODER_CORRUPT, "a colour that the BMP file does not have");
    memcpy(pixel, bmp->palette[index], 3);
    return true;
}

static bool take_pixels(const BMP *bmp, const uint8_t *row, uint8_t *pixels, bool has_alpha) {
    size_t step = has_alpha ? 4 : 3;
    for (size_t x = 0; x < (size_t)bmp->width; x += 1) {
        uint8_t *pixel = pixels + x * step;
        if (bmp->bits <= 8) {
            size_t bit = x * bmp->bits;
            unsigned index = (row[bit / 8] >> (8 - bmp->bits - bit % 8)) & ((1u << bmp->bits) - 1);
            if (!put_colour(bmp, pixel, index)) return false;
        } else if (bmp->bits == 24) {
            for (size_t plane = 0; plane < 3; plane += 1) pixel[plane] = row[3 * x + 2 - plane];
        } else {
            uint32_t value = little(row + x * bmp->bits / 8, (int)bmp->bits / 8);
            for (size_t plane = 0; plane < step; plane += 1) pixel[plane] = sample_of(value, bmp->masks[plane]);
        }
    }
    return true;
}

/// Whether some pixel has the alpha that the header promises. Many programs of Windows leave it 0 everywhere and mean a
/// picture that hides nothing, and so browsers and viewers show it. Over white nothing would be left of it.
static bool find_alpha(const BMP *bmp, uint8_t *row, int64_t bytes, bool *has_alpha) {
    size_t step = bmp->bits / 8;
    *has_alpha = false;
    if (bmp->bits <= 8 || bmp->bits == 24 || bmp->masks[3] == 0) return true;
    for (int64_t line = 0; line < bmp->height && !*has_alpha; line += 1) {
        if (!need(bmp->job, row, (size_t)bytes, bmp->samples + line * bytes)) return false;
        for (size_t x = 0; x < (size_t)bmp->width && !*has_alpha; x += 1) {
            *has_alpha = (little(row + x * step, (int)step) & bmp->masks[3]) != 0;
        }
    }
    return true;
}

static bool write_rows(BMP *bmp) {
    Job *job = bmp->job;
    if (!begin_samples(job, bmp->width, bmp->height, RGB, 1, 1)) return false;
    int64_t bytes = (bmp->width * bmp->bits + 31) / 32 * 4;
    uint8_t *row = take_memory(job, bytes);
    uint8_t *pixels = take_memory(job, bmp->width * 4);
    bool has_alpha = false;
    bool is_done = row != NULL && pixels != NULL && find_alpha(bmp, row, bytes, &has_alpha);
    for (int64_t line = 0; line < bmp->height && is_done; line += 1) {
        is_done = need(job, row, (size_t)bytes, bmp->samples + line * bytes) && take_pixels(bmp, row, pixels, has_alpha)
            && write_pixels(job, (int32_t)row_of(bmp, line), pixels, has_alpha);
    }
    if (has_alpha) job->reply.dropped |= CSYNC_DECODER_DROPPED_ALPHA;
    bmp->end = bmp->samples + bmp->height * bytes;
    free(row);
    free(pixels);
    return is_done;
}

/// Fills `indices`, a byte for each pixel, from the codes; those that are jumped over stay 0.
static bool read_runs(BMP *bmp, const uint8_t *codes, size_t count, uint8_t *indices) {
    size_t at = 0;
    int64_t x = 0;
    int64_t line = 0;
    bool is_half = bmp->coding == BI_RLE4;
    while (at + 2 <= count) {
        unsigned first = codes[at];
        unsigned second = codes[at + 1];
        at += 2;
        bmp->end = bmp->samples + (int64_t)at;
        if (first == 0 && second == 1) return true;
        if (first == 0 && second == 0) {
            x = 0;
            line += 1;
        } else if (first == 0 && second == 2) {
            if (at + 2 > count) break;
            x += codes[at];
            line += codes[at + 1];
            at += 2;
        } else {
            unsigned length = first > 0 ? first : second;
            size_t bytes = is_half ? (length + 1) / 2 : length;
            if (first == 0 && at + bytes > count) break;
            if (line >= bmp->height) return fail(bmp->job, CSYNC_DECODER_CORRUPT, "a run that leaves the picture");
            uint8_t *to = indices + row_of(bmp, line) * bmp->width;
            // ImageMagick's rows have some pixels more, to a multiple of four.
            for (unsigned index = 0; index < length && x + index < bmp->width; index += 1) {
                unsigned code = first > 0 ? second : codes[at + (is_half ? index / 2 : index)];
                to[x + index] = (uint8_t)(!is_half ? code : index % 2 == 0 ? code >> 4 : code & 15);
            }
            x += length;
            if (first == 0) at += (bytes + 1) / 2 * 2;
        }
    }
    return fail(bmp->job, CSYNC_DECODER_TRUNCATED, "the runs end before the picture does");
}

static bool write_runs(BMP *bmp) {
    Job *job = bmp->job;
    if (!begin_samples(job, bmp->width, bmp->height, RGB, 1, 1)) return false;
    int64_t count = job->request.file_bytes - bmp->samples;
    if (count <= 0) return fail(job, CSYNC_DECODER_TRUNCATED, "the BMP file ends before its picture");
    if (!fits_in_memory(job, count + bmp->width * bmp->height)) return false;
    uint8_t *codes = take_memory(job, count);
    uint8_t *indices = take_memory(job, bmp->width * bmp->height);
    uint8_t *pixels = take_memory(job, bmp->width * 3);
    bool is_done = codes != NULL && indices != NULL && pixels != NULL && need(job, codes, (size_t)count, bmp->samples);
    if (is_done) {
        memset(indices, 0, (size_t)(bmp->width * bmp->height));
        is_done = read_runs(bmp, codes, (size_t)count, indices);
    }
    for (int64_t y = 0; y < bmp->height && is_done; y += 1) {
        for (int64_t x = 0; x < bmp->width && is_done; x += 1) {
            is_done = put_colour(bmp, pixels + 3 * x, indices[y * bmp->width + x]);
        }
        is_done = is_done && write_pixels(job, (int32_t)y, pixels, false);
    }
    free(codes);
    free(indices);
    free(pixels);
    return is_done;
}

/// A profile is at the end of files with the longest header ("MBED").
static bool write_profile(BMP *bmp) {
    if (bmp->header_bytes != V5_HEADER || little(bmp->header + 56, 4) != 0x4d424544) return true;
    int64_t offset = FILE_HEADER + (int64_t)little(bmp->header + 112, 4);
    uint32_t count = little(bmp->header + 116, 4);
    if (count == 0 || count > LARGEST_BLOCK) return true;
    uint8_t *profile = take_memory(bmp->job, count);
    if (profile == NULL) return false;
    bool is_done = need(bmp->job, profile, count, offset) && write_icc(bmp->job, profile, count);
    if (offset + count > bmp->end) bmp->end = offset + count;
    free(profile);
    return is_done;
}

bool decode_bmp(Job *job) {
    BMP bmp = {.job = job};
    if (!read_header(&bmp)) return false;
    bool is_coded = bmp.coding == BI_RLE8 || bmp.coding == BI_RLE4;
    bool is_done = (is_coded ? write_runs(&bmp) : write_rows(&bmp)) && write_profile(&bmp);
    // Programs fill the picture up, and tell so; others tell 0.
    bool is_told = bmp.told_end > bmp.end && bmp.told_end <= job->request.file_bytes;
    job->reply.picture_end = (uint64_t)(is_told ? bmp.told_end : bmp.end);
    return is_done;
}
