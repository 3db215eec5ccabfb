// The planes of a HEIF picture as they are coded, for a JPEG has the same: YCbCr 4:2:0 of 8 bits, by BT.601.
//
// Levels from 16 to 235 become whole ones. Where the chroma lies is not told by HEIF, and libheif takes it to lie as a JPEG's.

#include "Decoder.h"
#include "HEIF.h"

#include <stdlib.h>
#include <string.h>

enum { PLANES = 3 };

static const enum heif_channel channels[PLANES] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};

typedef struct Colours {
    int matrix;
    bool is_full_range;
} Colours;

/// What libheif takes for BT.601: two numbers of it, and "unspecified" (ITU-T H.273, table 4).
static bool is_bt601(int matrix) { return matrix == 5 || matrix == 6 || matrix == 2; }

static bool colours_of(const HEIFCoded *coded, const struct heif_image *image, Colours *colours) {
    *colours = (Colours){coded->matrix, coded->is_full_range};
    if (coded->has_colour) return true;
    struct heif_color_profile_nclx *own = NULL;
    bool is_told = heif_image_get_nclx_color_profile(image, &own).code == heif_error_Ok;
    if (is_told) *colours = (Colours){(int)own->matrix_coefficients, own->full_range_flag != 0};
    heif_nclx_color_profile_free(own);
    return is_told;
}

/// Decodes one of them. NULL when its bytes cannot be read, or its decoder has failed.
static struct heif_image *decode_coded(Job *job, const HEIFCoded *coded, int64_t index) {
    const struct heif_decoder_plugin *codec = coded->is_av1 ? &av1_decoder : &hevc_decoder;
    const HEIFPlace *place = &coded->places[index];
    if (place->bytes > job->request.file_bytes) return NULL;
    size_t count = (size_t)place->bytes;
    uint8_t *bytes = malloc(coded->header_bytes + count);
    if (bytes == NULL) return NULL;
    memcpy(bytes, coded->headers, coded->header_bytes);
    struct heif_image *image = NULL;
    void *decoder = NULL;
    if (read_picture(job, bytes + coded->header_bytes, count, place->offset) == count
        && codec->new_decoder(&decoder).code == heif_error_Ok) {
        bool is_decoded = codec->push_data(decoder, bytes, coded->header_bytes + count).code == heif_error_Ok
            && codec->decode_image(decoder, &image).code == heif_error_Ok;
        if (!is_decoded) image = NULL;
        codec->free_decoder(decoder);
    }
    free(bytes);
    return image;
}

static int64_t halved(int64_t size, int plane) { return plane == 0 ? size : (size + 1) / 2; }

static bool is_as_told(const HEIFCoded *coded, const struct heif_image *image) {
    bool is_told = heif_image_get_colorspace(image) == heif_colorspace_YCbCr
        && heif_image_get_chroma_format(image) == heif_chroma_420;
    for (int plane = 0; plane < PLANES && is_told; plane += 1) {
        is_told = heif_image_get_bits_per_pixel_range(image, channels[plane]) == 8
            && heif_image_get_width(image, channels[plane]) == halved(coded->width, plane)
            && heif_image_get_height(image, channels[plane]) == halved(coded->height, plane);
    }
    return is_told;
}

/// Rows of the picture on their way: those of the tiles that lie side by side.
typedef struct Band {
    uint8_t *planes[PLANES];
} Band;

/// NULL in `planes` where there is one column only, or no memory.
static void begin_band(Job *job, const HEIFCoded *coded, Band *band) {
    *band = (Band){{NULL}};
    int64_t luma = coded->whole_width * coded->height;
    int64_t chroma = halved(coded->whole_width, 1) * halved(coded->height, 1);
    if (coded->columns == 1 || luma + 2 * chroma > job->request.memory_bytes) return;
    uint8_t *bytes = malloc((size_t)(luma + 2 * chroma));
    if (bytes != NULL) *band = (Band){{bytes, bytes + luma, bytes + luma + chroma}};
}

/// Takes a tile into the band, or writes it where it is the only one of its row; with the last one of its row, writes the band.
static bool take_tile(Job *job, const HEIFCoded *coded, Band *band, int64_t index, struct heif_image *image, bool is_limited) {
    int64_t column = index % coded->columns;
    int64_t row = index / coded->columns;
    for (int plane = 0; plane < PLANES; plane += 1) {
        int stride;
        uint8_t *from = heif_image_get_plane(image, channels[plane], &stride);
        int64_t whole = halved(coded->whole_width, plane);
        int64_t left = column * halved(coded->width, plane);
        int64_t top = row * halved(coded->height, plane);
        int64_t width = halved(coded->width, plane);
        int64_t height = halved(coded->height, plane);
        if (width > whole - left) width = whole - left;
        if (height > halved(coded->whole_height, plane) - top) height = halved(coded->whole_height, plane) - top;
        if (is_limited) {
            (plane == 0 ? to_full_range : chroma_to_full_range)(from, (size_t)stride * (size_t)height);
        }
        for (int64_t y = 0; y < height; y += 1, from += stride) {
            if (band->planes[plane] != NULL) {
                memcpy(band->planes[plane] + y * whole + left, from, (size_t)width);
            } else if (!write_row(job, plane, (int32_t)(top + y), from)) {
                return false;
            }
        }
        if (band->planes[plane] == NULL || column + 1 < coded->columns) continue;
        if (!write_band(job, plane, (int32_t)top, (int32_t)height, band->planes[plane])) return false;
    }
    return true;
}

static bool write_tiles(Job *job, const HEIFCoded *coded, Band *band, bool *is_written) {
    Colours colours = {0};
    for (int64_t index = 0; index < coded->count; index += 1) {
        struct heif_image *image = decode_coded(job, coded, index);
        if (image == NULL) return true;
        Colours own;
        bool is_known = is_as_told(coded, image) && colours_of(coded, image, &own);
        if (is_known && index == 0) {
            colours = own;
            is_known = is_bt601(own.matrix);
        }
        is_known = is_known && own.matrix == colours.matrix && own.is_full_range == colours.is_full_range;
        bool is_done = !is_known
            || ((index > 0 || begin_samples(job, coded->whole_width, coded->whole_height, YCBCR, 2, 2))
                && take_tile(job, coded, band, index, image, !own.is_full_range));
        heif_image_release(image);
        if (!is_known || !is_done) return is_done;
    }
    *is_written = true;
    return true;
}

bool write_coded_planes(Job *job, const struct heif_image_handle *handle, bool *is_written) {
    *is_written = false;
    HEIFCoded coded;
    bool has_reached_end = job->reached_end;
    bool is_done = true;
    if (heif_coded(job, &coded)) {
        Band band;
        begin_band(job, &coded, &band);
        bool is_plain = coded.whole_width == heif_image_handle_get_ispe_width(handle)
            && coded.whole_height == heif_image_handle_get_ispe_height(handle)
            && (coded.columns == 1 || band.planes[0] != NULL) && (!coded.has_colour || is_bt601(coded.matrix));
        is_done = !is_plain || write_tiles(job, &coded, &band, is_written);
        free(band.planes[0]);
        heif_coded_release(&coded);
    }
    // What was not understood here is for libheif to tell.
    if (is_done && !*is_written) job->reached_end = has_reached_end;
    return is_done;
}
