// HEVC by libde265, for libheif: one thread, and a picture with a damaged slice is none.

#include "HEIF.h"

#include <errno.h>
#include <libde265/de265.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// A slice that ends too early leaves blocks as they were, and libde265 says nothing. All planes are stripes before that no
// picture has, and where they are still there nothing has been decoded.

enum { BLOCK = 16, MARGIN = 4, WITHIN = 8 };

static const uint8_t stripes[16] = {
    0x9e, 0x37, 0x79, 0xb9, 0x7f, 0x4a, 0x7c, 0x15, 0xf3, 0x9c, 0xc0, 0x60, 0x5c, 0xed, 0xc8, 0x34};

static bool is_decoding;
static int64_t largest_plane;

void limit_hevc(int64_t memory_bytes) { largest_plane = memory_bytes; }

/// In place of the C library's: libde265 takes its planes by it, and has no other way to see that.
int posix_memalign(void **memory, size_t alignment, size_t count) {
    if (count > SIZE_MAX - alignment || (is_decoding && count > (size_t)largest_plane)) return ENOMEM;
    uint8_t *taken = aligned_alloc(alignment, (count + alignment - 1) / alignment * alignment);
    if (taken == NULL) return ENOMEM;
    *memory = taken;
    if (!is_decoding) return 0;
    // As they stand from the first byte on, and then in whole.
    size_t first = (size_t)(uintptr_t)taken % sizeof stripes;
    uint8_t whole[sizeof stripes];
    for (size_t at = 0; at < sizeof whole; at += 1) whole[at] = stripes[(first + at) % sizeof stripes];
    size_t at = 0;
    for (; at + sizeof whole <= count; at += sizeof whole) memcpy(taken + at, whole, sizeof whole);
    memcpy(taken + at, whole, count - at);
    return 0;
}

/// The middle of a block: its edges are smoothed with those of its neighbours.
static bool is_striped(const CodedPicture *picture, int x, int y) {
    int bytes = picture->bits > 8 ? 2 : 1;
    for (int row = y + MARGIN; row < y + MARGIN + WITHIN; row += 1) {
        const uint8_t *at = picture->planes[0] + (ptrdiff_t)row * picture->strides[0] + (x + MARGIN) * bytes;
        for (int index = 0; index < WITHIN * bytes; index += 1) {
            if (at[index] != stripes[(uintptr_t)(at + index) % sizeof stripes]) return false;
        }
    }
    return true;
}

static bool is_whole(const CodedPicture *picture) {
    for (int y = 0; y + BLOCK <= picture->height; y += BLOCK) {
        for (int x = 0; x + BLOCK <= picture->width; x += BLOCK) {
            if (is_striped(picture, x, y)) return false;
        }
    }
    return true;
}

static const char *name(void) { return "libde265, strict"; }
static void begin(void) { de265_init(); }
static void end(void) { de265_free(); }
static int supports(enum heif_compression_format format) {
    return format == heif_compression_HEVC ? OUR_PRIORITY : 0;
}

static struct heif_error make(void **decoder) {
    *decoder = de265_new_decoder();
    if (*decoder == NULL) return heif_failure("libde265 cannot begin");
    de265_set_parameter_bool(*decoder, DE265_DECODER_PARAM_SUPPRESS_FAULTY_PICTURES, 1);
    return heif_done;
}

static void release(void *decoder) { de265_free_decoder(decoder); }

/// Each unit has its length before it, in four bytes.
static struct heif_error push(void *decoder, const void *data, size_t count) {
    const uint8_t *bytes = data;
    for (size_t at = 0; at < count;) {
        if (count - at < 4) return heif_failure("a unit of HEVC is cut off");
        size_t length =
            (size_t)bytes[at] << 24 | (size_t)bytes[at + 1] << 16 | (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        at += 4;
        if (length > count - at) return heif_failure("a unit of HEVC is cut off");
        de265_error failure = de265_push_NAL(decoder, bytes + at, (int)length, 0, NULL);
        if (failure != DE265_OK) return heif_failure(de265_get_error_text(failure));
        at += length;
    }
    return heif_done;
}

static struct heif_error hevc_failure(de265_error state) {
    bool is_memory = state == DE265_ERROR_OUT_OF_MEMORY || state == DE265_WARNING_CANNOT_APPLY_SAO_OUT_OF_MEMORY;
    return is_memory ? heif_memory_failure() : heif_failure(de265_get_error_text(state));
}

/// What libde265 only warns of, and goes on, is damage; but for what tells of itself or of blocks beside the picture.
static bool is_harmless(de265_error warning) {
    switch (warning) {
    case DE265_WARNING_NO_WPP_CANNOT_USE_MULTITHREADING:
    case DE265_WARNING_NUMBER_OF_THREADS_LIMITED_TO_MAXIMUM:
    case DE265_WARNING_SPS_MISSING_CANNOT_DECODE_SEI:
        return true;
    default:
        return false;
    }
}

static struct heif_error hand_over(de265_decoder_context *decoder, struct heif_image **image) {
    const struct de265_image *picture = de265_peek_next_picture(decoder);
    CodedPicture coded = {
        .width = de265_get_image_width(picture, 0),
        .height = de265_get_image_height(picture, 0),
        .bits = de265_get_bits_per_pixel(picture, 0),
        .chroma = (enum heif_chroma)de265_get_chroma_format(picture),
        .primaries = de265_get_image_colour_primaries(picture),
        .transfer = de265_get_image_transfer_characteristics(picture),
        .matrix = de265_get_image_matrix_coefficients(picture),
        .is_full_range = de265_get_image_full_range_flag(picture),
    };
    for (int plane = 0; plane < (coded.chroma == heif_chroma_monochrome ? 1 : 3); plane += 1) {
        if (de265_get_bits_per_pixel(picture, plane) != coded.bits) return heif_failure("planes of different depth");
        coded.planes[plane] = de265_get_image_plane(picture, plane, &coded.strides[plane]);
    }
    struct heif_error failure =
        is_whole(&coded) ? make_image(&coded, image) : heif_failure("a part of the picture is missing");
    de265_release_next_picture(decoder);
    return failure;
}

static struct heif_error decode(void *decoder, struct heif_image **image) {
    *image = NULL;
    struct heif_error failure = heif_done;
    is_decoding = true;
    de265_error state = de265_flush_data(decoder);
    for (int more = 1; more && state == DE265_OK && *image == NULL && failure.code == heif_error_Ok;) {
        state = de265_decode(decoder, &more);
        if (de265_peek_next_picture(decoder) != NULL) failure = hand_over(decoder, image);
    }
    is_decoding = false;
    for (de265_error warning; failure.code == heif_error_Ok && (warning = de265_get_warning(decoder)) != DE265_OK;) {
        if (!is_harmless(warning)) failure = hevc_failure(warning);
    }
    if (failure.code == heif_error_Ok && state != DE265_OK) failure = hevc_failure(state);
    if (failure.code == heif_error_Ok && *image == NULL) failure = heif_failure("the picture is damaged");
    if (failure.code != heif_error_Ok && *image != NULL) {
        heif_image_release(*image);
        *image = NULL;
    }
    return failure;
}

const struct heif_decoder_plugin hevc_decoder = {3, name, begin, end, supports, make, release, push, decode, NULL,
                                                 "sync-agent-hevc"};
