// PNG by libpng, row by row.

#include "Decoder.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

typedef struct PNG {
    Job *job;
    png_structp png;
    png_infop info;
    int64_t position;
    uint8_t *row;
    /// Of the colours, where the file numbers them (ITU-T H.273); else 0.
    int primaries;
    int transfer;
    jmp_buf jump;
} PNG;

static void stop(png_structp png, png_const_charp words) {
    PNG *state = png_get_error_ptr(png);
    fail_by_library(state->job, words);
    longjmp(state->jump, 1);
}

/// What is said of the compressed rows is about rows that are lost, unless there is more than is needed. The rest is
/// about blocks beside the picture, which libpng leaves out; but for one that says it is longer than any may be: libpng
/// would take as much memory as it says, and goes on (png_check_chunk_length of 1.6).
static void warn(png_structp png, png_const_charp words) {
    if (strstr(words, "chunk data is too large") != NULL) stop(png, words);
    if (strncmp(words, "IDAT: ", 6) != 0 || strstr(words, "Extra") != NULL || strstr(words, "Too m") != NULL) return;
    stop(png, words);
}

static void read_bytes(png_structp png, png_bytep bytes, size_t count) {
    PNG *state = png_get_io_ptr(png);
    if (read_picture(state->job, bytes, count, state->position) != count) png_error(png, "the file ends too early");
    state->position += (int64_t)count;
}

/// acTL: an animation, whose first picture is the one that all others decode. cICP: colours by their numbers.
static int read_unknown(png_structp png, png_unknown_chunkp chunk) {
    PNG *state = png_get_user_chunk_ptr(png);
    if (memcmp(chunk->name, "acTL", 4) == 0 && chunk->size >= 4) {
        state->job->reply.pictures = png_get_uint_32(chunk->data);
    }
    if (memcmp(chunk->name, "cICP", 4) == 0 && chunk->size == 4) {
        state->primaries = chunk->data[0];
        state->transfer = chunk->data[1];
    }
    return 1;
}

/// Ends the reading when the job has failed.
static void need(PNG *state, bool is_done) {
    if (!is_done) longjmp(state->jump, 1);
}

/// The passes of an interlaced picture meet in the memfd, behind the planes.
static void read_interlaced(PNG *state, int passes, size_t row_bytes, bool has_alpha) {
    Job *job = state->job;
    int64_t begin = job->end;
    need(state, extend_samples(job, begin + (int64_t)row_bytes * job->reply.height));
    for (int pass = 0; pass < passes; pass += 1) {
        for (int32_t y = 0; y < job->reply.height; y += 1) {
            int64_t offset = begin + (int64_t)row_bytes * y;
            need(state, read_samples(job, state->row, row_bytes, offset));
            png_read_row(state->png, state->row, NULL);
            need(state, write_samples(job, state->row, row_bytes, offset));
        }
    }
    for (int32_t y = 0; y < job->reply.height; y += 1) {
        need(state, read_samples(job, state->row, row_bytes, begin + (int64_t)row_bytes * y));
        need(state, write_pixels(job, y, state->row, has_alpha));
    }
    need(state, extend_samples(job, begin));
}

static void read_picture_data(PNG *state) {
    Job *job = state->job;
    png_structp png = state->png;
    png_read_info(png, state->info);
    need(state, check_size(job, png_get_image_width(png, state->info), png_get_image_height(png, state->info)));
    int depth = png_get_bit_depth(png, state->info);
    int type = png_get_color_type(png, state->info);
    bool has_alpha = (type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, state->info, PNG_INFO_tRNS) != 0;
    int planes = (type & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1;
    png_set_expand(png);
    png_set_scale_16(png);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, state->info);

    need(state, begin_samples(
        job, png_get_image_width(png, state->info), png_get_image_height(png, state->info), planes == 1 ? GRAY : RGB,
        1, 1));
    size_t row_bytes = png_get_rowbytes(png, state->info);
    if (row_bytes != (size_t)job->reply.width * (size_t)(planes + has_alpha)) png_error(png, "unexpected row size");
    state->row = take_memory(job, (int64_t)row_bytes);
    need(state, state->row != NULL);
    if (passes > 1) {
        read_interlaced(state, passes, row_bytes, has_alpha);
    } else {
        for (int32_t y = 0; y < job->reply.height; y += 1) {
            png_read_row(png, state->row, NULL);
            need(state, write_pixels(job, y, state->row, has_alpha));
        }
    }
    png_read_end(png, state->info);
    job->reply.picture_end = (uint64_t)state->position;
    if (depth == 16) job->reply.dropped |= CSYNC_DECODER_DROPPED_DEPTH;
    if (has_alpha) job->reply.dropped |= CSYNC_DECODER_DROPPED_ALPHA;
}

static int digit(char character) {
    if (character >= '0' && character <= '9') return character - '0';
    if (character >= 'a' && character <= 'f') return character - 'a' + 10;
    return -1;
}

/// ImageMagick's older way: "\nexif\n    1234\n" and the block in hexadecimal digits.
static size_t bytes_of_text(char *text, size_t count) {
    int lines = 0;
    size_t at = 0;
    for (; at < count && lines < 3; at += 1) lines += text[at] == '\n';
    size_t bytes = 0;
    int high = -1;
    for (; at < count; at += 1) {
        int value = digit(text[at]);
        if (value < 0) continue;
        if (high < 0) {
            high = value;
        } else {
            text[bytes] = (char)(high << 4 | value);
            bytes += 1;
            high = -1;
        }
    }
    return bytes;
}

static bool write_exif_block(Job *job, const uint8_t *block, size_t count) {
    job->reply.orientation = exif_orientation(block, count);
    return write_exif(job, block, count);
}

static bool write_blocks(PNG *state) {
    Job *job = state->job;
    if (!require_sdr(job, state->transfer)) return false;
    png_charp name;
    int method;
    png_bytep block;
    png_uint_32 count;
    if (png_get_iCCP(state->png, state->info, &name, &method, &block, &count) != 0 && !write_icc(job, block, count)) {
        return false;
    }
    if (job->reply.icc_bytes == 0 && !write_profile_of(job, state->primaries, state->transfer)) return false;
    if (png_get_eXIf_1(state->png, state->info, &count, &block) != 0) {
        if (!write_exif_block(job, block, count)) return false;
    }
    png_textp text;
    int texts = 0;
    png_get_text(state->png, state->info, &text, &texts);
    for (int index = 0; index < texts; index += 1) {
        if (strcmp(text[index].key, "XML:com.adobe.xmp") == 0) job->reply.dropped |= CSYNC_DECODER_DROPPED_XMP;
        bool is_exif = strcmp(text[index].key, "Raw profile type exif") == 0
            || strcmp(text[index].key, "Raw profile type APP1") == 0;
        if (!is_exif || job->reply.exif_bytes > 0) continue;
        size_t bytes = bytes_of_text(text[index].text, text[index].text_length);
        if (!write_exif_block(job, (const uint8_t *)text[index].text, bytes)) return false;
    }
    return true;
}

bool decode_png(Job *job) {
    PNG state = {.job = job};
    volatile bool isDone = false;
    state.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, stop, warn);
    if (state.png != NULL) state.info = png_create_info_struct(state.png);
    if (state.info == NULL) {
        fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "libpng cannot begin");
    } else if (setjmp(state.jump) == 0) {
        png_set_read_fn(state.png, &state, read_bytes);
        // Sizes are looked at below.
        png_set_user_limits(state.png, 0x7fffffff, 0x7fffffff);
        png_set_chunk_malloc_max(state.png, LARGEST_BLOCK);
        png_set_keep_unknown_chunks(state.png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
        png_set_keep_unknown_chunks(state.png, PNG_HANDLE_CHUNK_IF_SAFE, (png_const_bytep) "acTL\0cICP", 2);
        png_set_read_user_chunk_fn(state.png, &state, read_unknown);
        read_picture_data(&state);
        isDone = write_blocks(&state);
    }
    free(state.row);
    png_destroy_read_struct(&state.png, &state.info, NULL);
    return isDone;
}
