// Decode, resample, encode: one component's rows at a time, in the colour space of the file.
//
// libjpeg gives and takes "raw" data: each component at its own sampling, neither upsampled nor converted. Chroma goes
// from the input's grid to the output's in one step, whatever the two are, and half of the work never happens.

#include "Internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reduction {
    CSyncJPEG_Reader *reader;
    const CSyncJPEG_Options *options;
    const uint8_t *exif;
    size_t exif_count;
    Writer writer;
    Plane planes[PLANES_MAX];
    JSAMPROW rows[PLANES_MAX][4 * DCTSIZE];
    /// Size of the output before it is turned.
    int width, height;
} Reduction;

void CSyncJPEG_reducedSize(
    int32_t width, int32_t height, const CSyncJPEG_Options *options, int32_t *reduced_width, int32_t *reduced_height) {
    int64_t longer = width > height ? width : height;
    int64_t shorter = width > height ? height : width;
    bool flip_x, flip_y, transpose;

    if (longer > options->max_dimension) {
        shorter = (shorter * options->max_dimension + longer / 2) / longer;
        shorter = shorter < 1 ? 1 : shorter;
        longer = options->max_dimension;
    }
    csj_turn(options->orientation, &flip_x, &flip_y, &transpose);
    bool wide = (width > height) != transpose;
    *reduced_width = (int32_t)(wide ? longer : shorter);
    *reduced_height = (int32_t)(wide ? shorter : longer);
}

/// The size of the decoded blocks, of 8: libjpeg reduces by leaving out the coefficients that a smaller block has no
/// room for. 1, 2, 4 and 8 have vector code, the sizes between are slower than the next greater of these. What is left
/// to the Lanczos filter must be a real reduction (MARGIN), or the edges between blocks would show.
static unsigned block_size(int from, int to) {
    const double MARGIN = 1.1;
    unsigned size = 8;
    while (size > 1 && (double)from * (size / 2) / 8 >= to * MARGIN) {
        size /= 2;
    }
    return size;
}

/// How the samples of an input axis lie under those of an output axis. Both grids begin at the picture's edge; when the
/// output will be mirrored, its last sample must end at the edge instead, for that one becomes the first.
static Span span(int in, double in_per_pixel, int pixels, int out_pixels, int out, int pixels_per_out, bool flip) {
    double ratio = (double)pixels / out_pixels;
    int excess = flip ? out * pixels_per_out - out_pixels : 0;
    Span result = {
        .in = in,
        .out = out,
        .scale = pixels_per_out * ratio * in_per_pixel,
        .offset = -excess * ratio * in_per_pixel,
    };
    return result;
}

void csj_decoding_start(CSyncJPEG_Reader *reader, unsigned block_size) {
    j_decompress_ptr decoder = &reader->decoder;
    decoder->scale_num = block_size;
    decoder->scale_denom = 8;
    decoder->raw_data_out = TRUE;
    decoder->out_color_space = decoder->jpeg_color_space;
    decoder->dct_method = JDCT_ISLOW;
    decoder->do_block_smoothing = FALSE;
    jpeg_start_decompress(decoder);
}

void csj_decoding_rows(CSyncJPEG_Reader *reader, int index, JSAMPROW *rows) {
    const jpeg_component_info *component = &reader->decoder.comp_info[index];
    int count = component->v_samp_factor * component->DCT_scaled_size;
    size_t stride = (size_t)component->width_in_blocks * (size_t)component->DCT_scaled_size;
    uint8_t *samples = csj_arena_alloc(&reader->arena, &reader->guard, (size_t)count, stride);
    for (int y = 0; y < count; y++) {
        rows[y] = samples + (size_t)y * stride;
    }
}

static void init_component(Reduction *reduction, int index) {
    CSyncJPEG_Reader *reader = reduction->reader;
    j_decompress_ptr decoder = &reader->decoder;
    const jpeg_component_info *component = &decoder->comp_info[index];
    const WriterPlane *target = &reduction->writer.planes[index];

    double across_per_pixel =
        (double)(component->h_samp_factor * component->DCT_scaled_size) / (decoder->max_h_samp_factor * DCTSIZE);
    double down_per_pixel =
        (double)(component->v_samp_factor * component->DCT_scaled_size) / (decoder->max_v_samp_factor * DCTSIZE);
    Span across = span(
        (int)component->downsampled_width, across_per_pixel, reader->info.width, reduction->width, target->width,
        target->pixels_across, reduction->writer.flip_x);
    Span down = span(
        (int)component->downsampled_height, down_per_pixel, reader->info.height, reduction->height, target->height,
        target->pixels_down, reduction->writer.flip_y);
    csj_plane_init(&reduction->planes[index], &reader->guard, &reader->arena, across, down);

    csj_decoding_rows(reader, index, reduction->rows[index]);
}

/// Moves a row of one component through its filter into the writer; below the picture's end there is none.
static void take_row(Reduction *reduction, int index, const uint8_t *row) {
    Plane *plane = &reduction->planes[index];
    if (plane->rows_in == plane->in_height) {
        return;
    }
    csj_plane_push(plane, row);
    while (plane->rows_out < plane->out_height && csj_plane_pull(plane, csj_writer_row(&reduction->writer, index))) {
        csj_writer_commit(&reduction->writer, index);
    }
}

/// Moves the decoded rows of one component on.
static void pass_on(Reduction *reduction, int index) {
    const jpeg_component_info *component = &reduction->reader->decoder.comp_info[index];
    int rows = component->v_samp_factor * component->DCT_scaled_size;
    for (int y = 0; y < rows; y++) {
        take_row(reduction, index, reduction->rows[index][y]);
    }
}

/// The same for samples that are there already.
static void reduce_samples(Reduction *reduction) {
    CSyncJPEG_Reader *reader = reduction->reader;
    const Samples *samples = &reader->samples;

    csj_writer_init(&reduction->writer, reader, reduction->width, reduction->height, reduction->options);
    for (int i = 0; i < samples->planes; i++) {
        const WriterPlane *target = &reduction->writer.planes[i];
        Span across = span(
            samples->width[i], 1.0 / samples->across[i], reader->info.width, reduction->width, target->width,
            target->pixels_across, reduction->writer.flip_x);
        Span down = span(
            samples->height[i], 1.0 / samples->down[i], reader->info.height, reduction->height, target->height,
            target->pixels_down, reduction->writer.flip_y);
        csj_plane_init(&reduction->planes[i], &reader->guard, &reader->arena, across, down);
    }
    csj_writer_start(
        &reduction->writer, reader, reduction->exif, reduction->exif_count, reduction->options->keep_iptc);
    for (int row = 0; row < reader->info.height; row += BAND_ROWS) {
        csj_samples_read(reader, row);
        for (int i = 0; i < samples->planes; i++) {
            for (int y = 0; y < BAND_ROWS / samples->down[i]; y++) {
                take_row(reduction, i, samples->band[i] + (size_t)y * (size_t)samples->width[i]);
            }
        }
    }
    csj_writer_finish(&reduction->writer);
}

static void reduce(Reduction *reduction) {
    CSyncJPEG_Reader *reader = reduction->reader;
    j_decompress_ptr decoder = &reader->decoder;
    JSAMPARRAY planes[PLANES_MAX];

    // The size before turning: that of orientation 1.
    CSyncJPEG_Options upright = *reduction->options;
    upright.orientation = 1;
    int32_t width, height;
    CSyncJPEG_reducedSize(reader->info.width, reader->info.height, &upright, &width, &height);
    reduction->width = width;
    reduction->height = height;
    if (reader->has_samples) {
        reduce_samples(reduction);
        return;
    }

    bool wide = reader->info.width > reader->info.height;
    csj_decoding_start(
        reader, wide ? block_size(reader->info.width, width) : block_size(reader->info.height, height));

    csj_writer_init(&reduction->writer, reader, width, height, reduction->options);
    for (int i = 0; i < decoder->num_components; i++) {
        init_component(reduction, i);
        planes[i] = reduction->rows[i];
    }
    csj_writer_start(
        &reduction->writer, reader, reduction->exif, reduction->exif_count, reduction->options->keep_iptc);
    JDIMENSION lines = (JDIMENSION)(decoder->max_v_samp_factor * decoder->min_DCT_scaled_size);
    while (decoder->output_scanline < decoder->output_height) {
        jpeg_read_raw_data(decoder, planes, lines);
        for (int i = 0; i < decoder->num_components; i++) {
            pass_on(reduction, i);
        }
    }
    // To the end marker: a file that stops short of it is not whole.
    jpeg_finish_decompress(decoder);
    csj_writer_finish(&reduction->writer);
}

static const char *misuse(const CSyncJPEG_Reader *reader, const CSyncJPEG_Options *options, size_t exif_count) {
    if (reader->used) {
        return "the reader was used before";
    }
    if (options->max_dimension < 1 || options->max_dimension > JPEG_MAX_DIMENSION) {
        return "the dimension asked for is out of range";
    }
    if (options->quality < 1 || options->quality > 100) {
        return "the quality asked for is out of range";
    }
    return exif_count > 65527 ? "the EXIF block is too long for its segment" : NULL;
}

CSyncJPEG_Status CSyncJPEG_reduce(
    CSyncJPEG_Reader *reader, const CSyncJPEG_Options *options, const uint8_t *exif, size_t exif_count,
    CSyncJPEG_Output *output, CSyncJPEG_Failure *failure) {
    memset(output, 0, sizeof *output);
    memset(failure, 0, sizeof *failure);
    const char *mistake = misuse(reader, options, exif_count);
    Reduction *reduction = mistake == NULL ? calloc(1, sizeof *reduction) : NULL;
    if (reduction == NULL) {
        failure->status = mistake == NULL ? CSYNC_JPEG_OUT_OF_MEMORY : CSYNC_JPEG_INTERNAL;
        strcpy(failure->message, mistake == NULL ? "no memory left" : mistake);
        return failure->status;
    }
    reader->used = true;
    reader->guard.failure = failure;
    reduction->reader = reader;
    reduction->options = options;
    reduction->exif = exif;
    reduction->exif_count = exif_count;
    // Nothing below changes a local between setjmp and longjmp: all state is in the reduction.
    if (setjmp(reader->guard.jump) == 0) {
        csj_charge(&reader->guard, sizeof *reduction);
        reduce(reduction);
        output->bytes = reduction->writer.bytes;
        output->count = reduction->writer.count;
        output->width = (int32_t)reduction->writer.encoder.image_width;
        output->height = (int32_t)reduction->writer.encoder.image_height;
        output->peak_bytes = reader->guard.memory_peak;
        reduction->writer.bytes = NULL;
    }
    csj_writer_destroy(&reduction->writer);
    free(reduction);
    return failure->status;
}

void CSyncJPEG_freeOutput(CSyncJPEG_Output *output) {
    free(output->bytes);
    memset(output, 0, sizeof *output);
}
