// HEIC, HEIF and AVIF by libheif, which applies the clean aperture; turns are told in the reply (Boxes.c).

#include "HEIF.h"
#include "Decoder.h"

#include <stdlib.h>
#include <string.h>

const struct heif_error heif_done = {heif_error_Ok, heif_suberror_Unspecified, "Success"};

struct heif_error heif_failure(const char *words) {
    return (struct heif_error){heif_error_Decoder_plugin_error, heif_suberror_Unspecified, words};
}

struct heif_error heif_memory_failure(void) {
    return (struct heif_error){
        heif_error_Memory_allocation_error, heif_suberror_Unspecified, "decoding needs more than the limit of memory"};
}

// MARK: What our decoders give libheif

/// How the picture's chroma was coded; libheif has RGB by the time it tells. An alpha plane comes later, and has none.
static enum heif_chroma coded_chroma;

/// Pixels of all tiles. libheif does not ask whether they cover the picture, and leaves what they do not cover as it was.
static int64_t coded_pixels;

/// What the file tells of its tiles, by which libheif places them: one of another size would leave a gap or lie on the next.
static HEIFTiles tiles;
/// Pictures that were decoded. Those of an alpha plane come after all tiles.
static int64_t coded_pictures;
static bool is_tile_misplaced;

static void begin_tiles(void) {
    coded_pixels = coded_pictures = 0;
    is_tile_misplaced = false;
}

static int scaled_down(int size, bool is_halved) { return is_halved ? (size + 1) / 2 : size; }

struct heif_error make_image(const CodedPicture *picture, struct heif_image **image) {
    static const enum heif_channel channels[] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
    bool is_gray = picture->chroma == heif_chroma_monochrome;
    struct heif_error failure = heif_image_create(
        picture->width, picture->height, is_gray ? heif_colorspace_monochrome : heif_colorspace_YCbCr, picture->chroma,
        image);
    if (failure.code != heif_error_Ok) return failure;
    for (int plane = 0; plane < (is_gray ? 1 : 3) && failure.code == heif_error_Ok; plane += 1) {
        bool is_chroma = plane > 0;
        int width = scaled_down(picture->width, is_chroma && picture->chroma != heif_chroma_444);
        int height = scaled_down(picture->height, is_chroma && picture->chroma == heif_chroma_420);
        failure = heif_image_add_plane(*image, channels[plane], width, height, picture->bits);
        if (failure.code != heif_error_Ok) break;
        int stride;
        uint8_t *to = heif_image_get_plane(*image, channels[plane], &stride);
        size_t bytes = (size_t)width * (picture->bits > 8 ? 2 : 1);
        for (int y = 0; y < height; y += 1) {
            memcpy(to + (ptrdiff_t)y * stride, picture->planes[plane] + (ptrdiff_t)y * picture->strides[plane], bytes);
        }
    }
    struct heif_color_profile_nclx *colour = heif_nclx_color_profile_alloc();
    if (failure.code == heif_error_Ok && colour != NULL) {
        // A number that libheif does not know leaves "unspecified".
        heif_nclx_color_profile_set_color_primaries(colour, (uint16_t)picture->primaries);
        heif_nclx_color_profile_set_transfer_characteristics(colour, (uint16_t)picture->transfer);
        heif_nclx_color_profile_set_matrix_coefficients(colour, (uint16_t)picture->matrix);
        colour->full_range_flag = picture->is_full_range;
        failure = heif_image_set_nclx_color_profile(*image, colour);
    }
    heif_nclx_color_profile_free(colour);
    if (failure.code != heif_error_Ok) {
        heif_image_release(*image);
        *image = NULL;
    } else {
        if (coded_chroma == heif_chroma_undefined) coded_chroma = picture->chroma;
        coded_pixels += (int64_t)picture->width * picture->height;
        bool is_tile = coded_pictures < tiles.count;
        coded_pictures += 1;
        is_tile_misplaced = is_tile_misplaced
            || (is_tile && (picture->width != tiles.width || picture->height != tiles.height));
    }
    return failure;
}

// MARK: The file

typedef struct File {
    Job *job;
    int64_t position;
} File;

static int64_t position_of(void *state) { return ((File *)state)->position; }

static int read_bytes(void *bytes, size_t count, void *state) {
    File *file = state;
    if (read_picture(file->job, bytes, count, file->position) != count) return 1;
    file->position += (int64_t)count;
    return 0;
}

static int seek_to(int64_t position, void *state) {
    ((File *)state)->position = position;
    return 0;
}

static enum heif_reader_grow_status wait_for_size(int64_t size, void *state) {
    File *file = state;
    if (size <= file->job->request.file_bytes) return heif_reader_grow_status_size_reached;
    file->job->reached_end = true;
    return heif_reader_grow_status_size_beyond_eof;
}

/// Without the name of the kind, which says nothing where a decoder of ours has failed.
static const char *words_of(struct heif_error error) {
    static const char kind[] = "Unspecified: ";
    const char *words = strstr(error.message, kind);
    return words == NULL ? error.message : words + sizeof kind - 1;
}

static bool heif_fails(Job *job, struct heif_error error) {
    // libheif asks for more than the file has also where it looks for what a damaged one does not have.
    bool is_in_codec = error.code == heif_error_Decoder_plugin_error && job->read_error == 0;
    if (is_in_codec) job->reached_end = false;
    switch (error.code) {
    case heif_error_Ok:
        return false;
    case heif_error_Memory_allocation_error:
        fail(job, CSYNC_DECODER_OVER_LIMIT, "%s", error.message);
        return true;
    case heif_error_Unsupported_feature:
    case heif_error_Unsupported_filetype:
        fail(job, CSYNC_DECODER_UNSUPPORTED, "%s", error.message);
        return true;
    default:
        fail_by_library(job, words_of(error));
        return true;
    }
}

// MARK: Samples

typedef struct Planes {
    const uint8_t *samples[4];
    int strides[4];
    int bits[4];
    bool is_premultiplied;
} Planes;

static unsigned sample_at(const Planes *planes, int plane, int x, int y) {
    const uint8_t *row = planes->samples[plane] + (ptrdiff_t)y * planes->strides[plane];
    int bits = planes->bits[plane];
    if (bits == 8) return row[x];
    unsigned most = (1u << bits) - 1;
    unsigned value = bits < 8 ? row[x] : (unsigned)(row[2 * x] | row[2 * x + 1] << 8);
    return value >= most ? 255 : (value * 255 + most / 2) / most;
}

/// A row of 8 bits of each plane over white: as it lies, or else in `room`.
static RGBRow take_row(const Planes *planes, int width, int y, uint8_t *room) {
    const uint8_t *rows[3];
    for (int plane = 0; plane < 3; plane += 1) {
        uint8_t *to = room + (size_t)plane * (size_t)width;
        rows[plane] = to;
        if (planes->bits[plane] == 8) {
            const uint8_t *from = planes->samples[plane] + (ptrdiff_t)y * planes->strides[plane];
            if (planes->samples[3] == NULL) {
                rows[plane] = from;
                continue;
            }
            memcpy(to, from, (size_t)width);
        } else {
            for (int x = 0; x < width; x += 1) to[x] = (uint8_t)sample_at(planes, plane, x, y);
        }
        if (planes->samples[3] == NULL) continue;
        for (int x = 0; x < width; x += 1) {
            unsigned alpha = sample_at(planes, 3, x, y);
            unsigned share = planes->is_premultiplied ? to[x] : (to[x] * alpha + 127) / 255;
            unsigned sum = share + 255 - alpha;
            to[x] = (uint8_t)(sum > 255 ? 255 : sum);
        }
    }
    return (RGBRow){rows[0], rows[1], rows[2]};
}

static bool write_planes(Job *job, const Planes *planes, int width, int height, bool is_limited) {
    bool is_gray = coded_chroma == heif_chroma_monochrome && planes->samples[3] == NULL;
    int across = coded_chroma == heif_chroma_420 || coded_chroma == heif_chroma_422 ? 2 : 1;
    int down = coded_chroma == heif_chroma_420 ? 2 : 1;
    int colour = is_gray ? GRAY : across == 2 ? YCBCR : RGB;
    if (!begin_samples(job, width, height, colour, across, down)) return false;
    uint8_t *room = take_memory(job, (int64_t)width * 3 * down);
    if (room == NULL) return false;
    bool is_done = true;
    for (int y = 0; y < height && is_done; y += down) {
        int count = y + down > height ? height - y : down;
        RGBRow rows[2];
        for (int row = 0; row < count; row += 1) {
            rows[row] = take_row(planes, width, y + row, room + (size_t)row * 3 * (size_t)width);
        }
        if (colour == YCBCR) {
            is_done = write_as_ycbcr(job, y, rows, count);
        } else if (colour == GRAY && is_limited) {
            memmove(room, rows[0].red, (size_t)width);
            to_full_range(room, (size_t)width);
            is_done = write_row(job, 0, y, room);
        } else {
            is_done = write_row(job, 0, y, rows[0].red)
                && (colour == GRAY || (write_row(job, 1, y, rows[0].green) && write_row(job, 2, y, rows[0].blue)));
        }
    }
    free(room);
    return is_done;
}

static bool write_image(Job *job, const struct heif_image *image, bool is_limited) {
    static const enum heif_channel channels[] = {heif_channel_R, heif_channel_G, heif_channel_B, heif_channel_Alpha};
    Planes planes = {.is_premultiplied = heif_image_is_premultiplied_alpha((struct heif_image *)image) != 0};
    int width = heif_image_get_width(image, heif_channel_R);
    int height = heif_image_get_height(image, heif_channel_R);
    bool is_gray = heif_image_get_colorspace(image) == heif_colorspace_monochrome;
    if (is_gray) {
        width = heif_image_get_width(image, heif_channel_Y);
        height = heif_image_get_height(image, heif_channel_Y);
    }
    for (int plane = 0; plane < 4; plane += 1) {
        enum heif_channel channel = is_gray && plane < 3 ? heif_channel_Y : channels[plane];
        if (!heif_image_has_channel(image, channel)) continue;
        bool is_whole =
            heif_image_get_width(image, channel) == width && heif_image_get_height(image, channel) == height;
        if (!is_whole) return fail(job, CSYNC_DECODER_UNSUPPORTED, "planes of different size");
        planes.samples[plane] = heif_image_get_plane_readonly(image, channel, &planes.strides[plane]);
        planes.bits[plane] = heif_image_get_bits_per_pixel_range(image, channel);
        if (planes.bits[plane] > 8) job->reply.dropped |= CSYNC_DECODER_DROPPED_DEPTH;
    }
    if (planes.samples[0] == NULL || planes.samples[1] == NULL || planes.samples[2] == NULL) {
        return fail(job, CSYNC_DECODER_UNSUPPORTED, "libheif gives neither RGB nor gray");
    }
    if (coded_pixels < (int64_t)width * height) {
        return fail(job, CSYNC_DECODER_CORRUPT, "the tiles do not cover the picture");
    }
    if (is_tile_misplaced) return fail(job, CSYNC_DECODER_UNSUPPORTED, "its tiles have another size than the file tells");
    if (planes.samples[3] != NULL) job->reply.dropped |= CSYNC_DECODER_DROPPED_ALPHA;
    // libheif leaves the levels of gray as they are coded, but for those that it has made RGB of.
    return write_planes(job, &planes, width, height, is_limited && is_gray);
}

/// What libheif takes: the planes, and once more while it turns them.
static bool memory_suffices(Job *job, const struct heif_image_handle *handle, bool is_turned) {
    int64_t width = heif_image_handle_get_width(handle);
    int64_t height = heif_image_handle_get_height(handle);
    int64_t bytes = width * height * 3 * (heif_image_handle_get_luma_bits_per_pixel(handle) > 8 ? 2 : 1);
    return fits_in_memory(job, is_turned ? 2 * bytes : bytes);
}

enum { LARGEST_TILE = 4096 };
static int larger(int one, int other) { return one > other ? one : other; }

/// By way of RGB, or gray.
static bool write_by_libheif(
    Job *job, struct heif_context *context, struct heif_image_handle *handle, bool is_told,
    struct heif_color_profile_nclx **colour) {
    bool is_turned = !is_told && heif_image_handle_get_ispe_width(handle) != heif_image_handle_get_width(handle);
    if (!memory_suffices(job, handle, is_turned)) return false;
    // A grid tells a size of its own; only that of the picture has been looked at.
    int side = larger(heif_image_handle_get_width(handle), heif_image_handle_get_height(handle));
    heif_context_set_maximum_image_size_limit(context, larger(side, LARGEST_TILE) + 1);
    struct heif_decoding_options *options = heif_decoding_options_alloc();
    if (options == NULL) return fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "no memory left");
    options->strict_decoding = 1;
    options->ignore_transformations = is_told;
    struct heif_image *image = NULL;
    coded_chroma = heif_chroma_undefined;
    begin_tiles();
    struct heif_error error =
        heif_decode_image(handle, &image, heif_colorspace_undefined, heif_chroma_undefined, options);
    if (error.code == heif_error_Ok && heif_image_get_colorspace(image) == heif_colorspace_YCbCr) {
        // Newer versions of libheif give what is coded; RGB is what all of them give when it is asked for.
        heif_image_release(image);
        begin_tiles();
        error = heif_decode_image(handle, &image, heif_colorspace_RGB, heif_chroma_444, options);
    }
    heif_decoding_options_free(options);
    if (heif_fails(job, error)) return false;
    // Of several pictures that nobody could look at, and an alpha plane, none is known to lie where it should.
    if (tiles.count == 0 && coded_pictures > (heif_image_handle_has_alpha_channel(handle) != 0 ? 2 : 1)) {
        heif_image_release(image);
        return fail(job, CSYNC_DECODER_UNSUPPORTED, "it is made of several pictures, and where they lie cannot be read");
    }
    *colour = numbered_colour(handle, image);
    struct heif_error warning;
    bool is_done = true;
    if (heif_image_get_decoding_warnings(image, 0, &warning, 1) > 0) is_done = fail_by_library(job, warning.message);
    is_done = is_done && write_image(job, image, *colour != NULL && !(*colour)->full_range_flag);
    heif_image_release(image);
    return is_done;
}

static bool decode_primary(Job *job, struct heif_context *context, struct heif_image_handle *handle) {
    if (!check_size(job, heif_image_handle_get_width(handle), heif_image_handle_get_height(handle))) return false;
    if (!heif_tiles(job, &tiles)) return false;
    // An alpha plane is turned by libheif in any case.
    int orientation = 1;
    bool is_told = heif_image_handle_has_alpha_channel(handle) == 0 && heif_orientation(job, &orientation);
    if (is_told) job->reply.orientation = orientation;
    struct heif_color_profile_nclx *colour = NULL;
    bool is_written = false;
    bool is_done = !is_told || write_coded_planes(job, handle, &is_written);
    if (is_done && is_written) {
        colour = numbered_colour(handle, NULL);
    } else if (is_done) {
        is_done = write_by_libheif(job, context, handle, is_told, &colour);
    }
    is_done = is_done && write_colour(job, handle, colour) && write_metadata(job, handle);
    if (is_done) note_others(job, context, handle);
    heif_nclx_color_profile_free(colour);
    return is_done;
}

bool decode_heif(Job *job) {
    struct heif_context *context = heif_context_alloc();
    if (context == NULL) return fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "libheif cannot begin");
    heif_context_set_max_decoding_threads(context, 0);
    heif_context_set_maximum_image_size_limit(context, LONGEST_SIDE + 1);
    limit_hevc(job->request.memory_bytes);
    limit_av1(job->request.pixels);
    File file = {.job = job};
    struct heif_reader reader = {
        .reader_api_version = 1, .get_position = position_of, .read = read_bytes, .seek = seek_to,
        .wait_for_file_size = wait_for_size};
    struct heif_image_handle *handle = NULL;
    bool is_done = !heif_fails(job, heif_context_read_from_reader(context, &reader, &file, NULL))
        && !heif_fails(job, heif_context_get_primary_image_handle(context, &handle))
        && decode_primary(job, context, handle);
    if (handle != NULL) heif_image_handle_release(handle);
    heif_context_free(context);
    return is_done;
}
