// The encoder: rows of each component in, a JPEG in memory out.

#include "Internal.h"

#include <stdlib.h>
#include <string.h>

// MARK: Destination

static void init_destination(j_compress_ptr cinfo) {}

static boolean empty_output_buffer(j_compress_ptr cinfo) {
    Writer *writer = cinfo->client_data;
    size_t capacity = writer->capacity == 0 ? 64 * 1024 : writer->capacity * 2;
    csj_charge(writer->guard, (int64_t)(capacity - writer->capacity));
    uint8_t *bytes = realloc(writer->bytes, capacity);
    if (bytes == NULL) {
        csj_fail(writer->guard, CSYNC_JPEG_OUT_OF_MEMORY, 0, "no memory left for %zu bytes of output", capacity);
    }
    // libjpeg calls this with a full buffer, whatever `free_in_buffer` says.
    writer->destination.next_output_byte = bytes + writer->capacity;
    writer->destination.free_in_buffer = capacity - writer->capacity;
    writer->bytes = bytes;
    writer->capacity = capacity;
    return TRUE;
}

static void term_destination(j_compress_ptr cinfo) {
    Writer *writer = cinfo->client_data;
    writer->count = writer->capacity - writer->destination.free_in_buffer;
}

// MARK: Set-up

void csj_turn(int orientation, bool *flip_x, bool *flip_y, bool *transpose) {
    // EXIF 2.32, tag 0x0112: where row 0 and column 0 of the stored pixels belong in the picture.
    *flip_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    *flip_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    *transpose = orientation >= 5 && orientation <= 8;
}

static void choose_colour(j_compress_ptr encoder, const struct jpeg_decompress_struct *source) {
    encoder->input_components = source->num_components;
    encoder->in_color_space = source->jpeg_color_space;
    jpeg_set_defaults(encoder);
    jpeg_set_colorspace(encoder, source->jpeg_color_space);
    if (source->jpeg_color_space == JCS_CMYK) {
        // Readers take CMYK with an Adobe marker for inverted, and without one as it is. So it stays what it was.
        encoder->write_Adobe_marker = source->saw_Adobe_marker;
    }
}

static void choose_density(Writer *writer, const struct jpeg_decompress_struct *source) {
    if (source->saw_JFIF_marker) {
        writer->encoder.density_unit = source->density_unit;
        writer->encoder.X_density = writer->transpose ? source->Y_density : source->X_density;
        writer->encoder.Y_density = writer->transpose ? source->X_density : source->Y_density;
    }
}

static int divided_up(int value, int step) {
    return (value + step - 1) / step;
}

static void init_plane(Writer *writer, CSyncJPEG_Reader *reader, int index, int width, int height) {
    const jpeg_component_info *component = &writer->encoder.comp_info[index];
    WriterPlane *plane = &writer->planes[index];
    int max_h = 1, max_v = 1;
    for (int i = 0; i < writer->components; i++) {
        const jpeg_component_info *other = &writer->encoder.comp_info[i];
        max_h = other->h_samp_factor > max_h ? other->h_samp_factor : max_h;
        max_v = other->v_samp_factor > max_v ? other->v_samp_factor : max_v;
    }
    // All the samplings that libjpeg chooses are square, so turning keeps them.
    plane->pixels_across = max_h / component->h_samp_factor;
    plane->pixels_down = max_v / component->v_samp_factor;
    plane->width = divided_up(width, plane->pixels_across);
    plane->height = divided_up(height, plane->pixels_down);
    plane->imcu_rows = component->v_samp_factor * DCTSIZE;

    bool turning = writer->flip_x || writer->flip_y || writer->transpose;
    plane->stride = divided_up(plane->width, DCTSIZE) * DCTSIZE;
    // A component may run ahead of another by an iMCU row of the input (32 rows) and the reach of the filter (12).
    plane->capacity = turning || plane->height < 64 ? plane->height : 64 + plane->imcu_rows;
    plane->rows = csj_arena_alloc(&reader->arena, &reader->guard, (size_t)plane->capacity, (size_t)plane->stride);
    if (turning) {
        int turned_width = writer->transpose ? plane->height : plane->width;
        plane->turned_stride = divided_up(turned_width, DCTSIZE) * DCTSIZE;
        plane->turned = csj_arena_alloc(
            &reader->arena, &reader->guard, (size_t)plane->imcu_rows, (size_t)plane->turned_stride);
    }
}

void csj_writer_choose(Writer *writer, CSyncJPEG_Reader *reader, int quality) {
    j_compress_ptr encoder = &writer->encoder;

    writer->guard = &reader->guard;
    encoder->err = &reader->guard.base;
    jpeg_create_compress(encoder);
    encoder->client_data = writer;
    csj_guard_memory(&reader->guard, (j_common_ptr)encoder);
    choose_colour(encoder, &reader->decoder);
    jpeg_set_quality(encoder, quality, TRUE);
    writer->components = encoder->num_components;
}

void csj_writer_init(
    Writer *writer, CSyncJPEG_Reader *reader, int width, int height, const CSyncJPEG_Options *options) {
    j_compress_ptr encoder = &writer->encoder;

    csj_writer_choose(writer, reader, options->quality);
    writer->destination.init_destination = init_destination;
    writer->destination.empty_output_buffer = empty_output_buffer;
    writer->destination.term_destination = term_destination;
    encoder->dest = &writer->destination;

    csj_turn(options->orientation, &writer->flip_x, &writer->flip_y, &writer->transpose);
    encoder->image_width = (JDIMENSION)(writer->transpose ? height : width);
    encoder->image_height = (JDIMENSION)(writer->transpose ? width : height);
    choose_density(writer, &reader->decoder);
    encoder->dct_method = JDCT_ISLOW;
    encoder->raw_data_in = TRUE;
    for (int i = 0; i < writer->components; i++) {
        init_plane(writer, reader, i, width, height);
    }
}

void csj_writer_start(
    Writer *writer, const CSyncJPEG_Reader *reader, const uint8_t *exif, size_t exif_count, bool keep_iptc) {
    empty_output_buffer(&writer->encoder);
    jpeg_start_compress(&writer->encoder, TRUE);
    csj_markers_write(&reader->markers, &writer->encoder, exif, exif_count, keep_iptc);
}

// MARK: Rows

static void pad(uint8_t *row, int width, int stride) {
    memset(row + width, row[width - 1], (size_t)(stride - width));
}

/// Sample (x, y) of the turned plane is gathered from the rows as they came.
static void turn_rows(const Writer *writer, WriterPlane *plane, int first, int count) {
    int width = writer->transpose ? plane->height : plane->width;
    for (int y = 0; y < count; y++) {
        plane->pointers[y] = plane->turned + (size_t)y * (size_t)plane->turned_stride;
    }
    if (writer->transpose) {
        // Column by column, so that the samples that lie side by side in a row are read together.
        for (int x = 0; x < width; x++) {
            int row = writer->flip_y ? plane->height - 1 - x : x;
            const uint8_t *from = plane->rows + (size_t)row * (size_t)plane->stride;
            for (int y = 0; y < count; y++) {
                plane->pointers[y][x] = from[writer->flip_x ? plane->width - 1 - (first + y) : first + y];
            }
        }
    } else {
        for (int y = 0; y < count; y++) {
            int row = writer->flip_y ? plane->height - 1 - (first + y) : first + y;
            const uint8_t *from = plane->rows + (size_t)row * (size_t)plane->stride;
            for (int x = 0; x < width; x++) {
                plane->pointers[y][x] = from[writer->flip_x ? plane->width - 1 - x : x];
            }
        }
    }
    for (int y = 0; y < count; y++) {
        pad(plane->pointers[y], width, plane->turned_stride);
    }
}

static void point_at_rows(WriterPlane *plane, int first, int count) {
    for (int y = 0; y < count; y++) {
        plane->pointers[y] = plane->rows + (size_t)((first + y) % plane->capacity) * (size_t)plane->stride;
    }
}

/// Hands one iMCU row to the encoder; below the picture its last row is repeated.
static void write_imcu_row(Writer *writer) {
    JSAMPARRAY planes[PLANES_MAX];
    for (int i = 0; i < writer->components; i++) {
        WriterPlane *plane = &writer->planes[i];
        int height = writer->transpose ? plane->width : plane->height;
        int first = writer->imcu_row * plane->imcu_rows;
        int count = height - first < plane->imcu_rows ? height - first : plane->imcu_rows;
        if (plane->turned != NULL) {
            turn_rows(writer, plane, first, count);
        } else {
            point_at_rows(plane, first, count);
        }
        for (int y = count; y < plane->imcu_rows; y++) {
            plane->pointers[y] = plane->pointers[count - 1];
        }
        planes[i] = plane->pointers;
    }
    jpeg_write_raw_data(
        &writer->encoder, planes, (JDIMENSION)(writer->encoder.max_v_samp_factor * DCTSIZE));
    writer->imcu_row++;
}

static bool has_imcu_row(const Writer *writer) {
    if (writer->encoder.next_scanline >= writer->encoder.image_height) {
        return false;
    }
    for (int i = 0; i < writer->components; i++) {
        const WriterPlane *plane = &writer->planes[i];
        int end = (writer->imcu_row + 1) * plane->imcu_rows;
        if (plane->filled < (end < plane->height ? end : plane->height)) {
            return false;
        }
    }
    return true;
}

uint8_t *csj_writer_row(Writer *writer, int component) {
    WriterPlane *plane = &writer->planes[component];
    if (plane->filled - writer->imcu_row * plane->imcu_rows >= plane->capacity) {
        csj_fail(writer->guard, CSYNC_JPEG_INTERNAL, 0, "component %d runs ahead of the others", component);
    }
    return plane->rows + (size_t)(plane->filled % plane->capacity) * (size_t)plane->stride;
}

void csj_writer_commit(Writer *writer, int component) {
    WriterPlane *plane = &writer->planes[component];
    pad(plane->rows + (size_t)(plane->filled % plane->capacity) * (size_t)plane->stride, plane->width, plane->stride);
    plane->filled++;
    while (plane->turned == NULL && has_imcu_row(writer)) {
        write_imcu_row(writer);
    }
}

void csj_writer_finish(Writer *writer) {
    while (writer->encoder.next_scanline < writer->encoder.image_height) {
        write_imcu_row(writer);
    }
    jpeg_finish_compress(&writer->encoder);
}

void csj_writer_destroy(Writer *writer) {
    jpeg_destroy_compress(&writer->encoder);
    free(writer->bytes);
    writer->bytes = NULL;
}
