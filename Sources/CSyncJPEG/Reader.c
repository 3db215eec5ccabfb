// A file's header, and the limits it is held against.

#include "Internal.h"

#include <stdlib.h>
#include <string.h>

static const char *colour_name(J_COLOR_SPACE space) {
    switch (space) {
    case JCS_GRAYSCALE:
        return "grayscale";
    case JCS_YCbCr:
        return "YCbCr";
    case JCS_RGB:
        return "RGB";
    case JCS_CMYK:
        return "CMYK";
    case JCS_YCCK:
        return "YCCK";
    default:
        return "unknown colours";
    }
}

static CSyncJPEG_Colour colour_of(Guard *guard, const struct jpeg_decompress_struct *decoder) {
    switch (decoder->jpeg_color_space) {
    case JCS_GRAYSCALE:
        return CSYNC_JPEG_GRAY;
    case JCS_YCbCr:
        return CSYNC_JPEG_YCBCR;
    case JCS_RGB:
        return CSYNC_JPEG_RGB;
    case JCS_CMYK:
        return CSYNC_JPEG_CMYK;
    case JCS_YCCK:
        return CSYNC_JPEG_YCCK;
    default:
        csj_fail(
            guard, CSYNC_JPEG_UNSUPPORTED, 0, "%s with %d components", colour_name(decoder->jpeg_color_space),
            decoder->num_components);
    }
}

static int64_t rounded_up(int64_t value, int64_t step) {
    return (value + step - 1) / step * step;
}

/// Bytes of the arrays that hold all coefficients while the scans refine them, as libjpeg will ask for them.
static int64_t coefficient_bytes(const struct jpeg_decompress_struct *decoder) {
    int64_t blocks = 0;
    for (int i = 0; i < decoder->num_components; i++) {
        const jpeg_component_info *component = &decoder->comp_info[i];
        blocks += rounded_up(component->width_in_blocks, component->h_samp_factor)
            * rounded_up(component->height_in_blocks, component->v_samp_factor);
    }
    return blocks * (int64_t)sizeof(JBLOCK);
}

static void check_limits(CSyncJPEG_Reader *reader) {
    const CSyncJPEG_Info *info = &reader->info;
    int64_t pixels = (int64_t)info->width * info->height;
    if (pixels > reader->limits.pixels) {
        csj_fail(
            &reader->guard, CSYNC_JPEG_OVER_LIMIT, 0, "%d × %d pixels are more than the limit of %lld", info->width,
            info->height, (long long)reader->limits.pixels);
    }
    if (info->coefficient_bytes > reader->limits.memory_bytes) {
        csj_fail(
            &reader->guard, CSYNC_JPEG_OVER_LIMIT, 0,
            "a %s picture of %d × %d pixels takes %lld MiB of memory to decode; the limit is %lld MiB",
            info->progressive ? "progressive" : "multi-scan", info->width, info->height,
            (long long)(info->coefficient_bytes >> 20), (long long)(reader->limits.memory_bytes >> 20));
    }
}

/// Called by libjpeg while it collects scans.
static void check_scans(j_common_ptr cinfo) {
    const struct jpeg_decompress_struct *decoder = (j_decompress_ptr)cinfo;
    CSyncJPEG_Reader *reader = cinfo->client_data;
    if (cinfo->is_decompressor && decoder->input_scan_number > reader->limits.scans) {
        csj_fail(
            &reader->guard, CSYNC_JPEG_OVER_LIMIT, 0, "more than the limit of %d scans in a progressive picture",
            reader->limits.scans);
    }
}

static void check_file(CSyncJPEG_Reader *reader) {
    int64_t size = csj_source_size(&reader->source);
    if (size > reader->limits.file_bytes) {
        csj_fail(
            &reader->guard, CSYNC_JPEG_OVER_LIMIT, 0, "%lld bytes are more than the limit of %lld",
            (long long)size, (long long)reader->limits.file_bytes);
    }
}

static void read_header(CSyncJPEG_Reader *reader) {
    j_decompress_ptr decoder = &reader->decoder;

    check_file(reader);
    jpeg_create_decompress(decoder);
    decoder->client_data = reader;
    csj_guard_memory(&reader->guard, (j_common_ptr)decoder);
    decoder->src = &reader->source.base;
    reader->progress.progress_monitor = check_scans;
    decoder->progress = &reader->progress;
    csj_markers_install(decoder);
    jpeg_read_header(decoder, TRUE);

    CSyncJPEG_Info *info = &reader->info;
    info->colour = colour_of(&reader->guard, decoder);
    info->width = (int32_t)decoder->image_width;
    info->height = (int32_t)decoder->image_height;
    info->components = decoder->num_components;
    info->progressive = decoder->progressive_mode;
    info->arithmetic = decoder->arith_code;
    for (int i = 0; i < decoder->num_components; i++) {
        info->horizontal[i] = decoder->comp_info[i].h_samp_factor;
        info->vertical[i] = decoder->comp_info[i].v_samp_factor;
    }
    info->coefficient_bytes = jpeg_has_multiple_scans(decoder) ? coefficient_bytes(decoder) : 0;
    check_limits(reader);
}

static CSyncJPEG_Reader *new_reader(const CSyncJPEG_Limits *limits, CSyncJPEG_Failure *failure) {
    memset(failure, 0, sizeof *failure);
    CSyncJPEG_Reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        failure->status = CSYNC_JPEG_OUT_OF_MEMORY;
        strcpy(failure->message, "no memory left");
        return NULL;
    }
    reader->limits = *limits;
    csj_guard_init(&reader->guard, limits->memory_bytes);
    reader->guard.failure = failure;
    reader->decoder.err = &reader->guard.base;
    reader->guard.memory_held = reader->guard.memory_peak = sizeof *reader;
    return reader;
}

static CSyncJPEG_Reader *open_source(
    int descriptor, const uint8_t *bytes, size_t count, const CSyncJPEG_Limits *limits, CSyncJPEG_Failure *failure) {
    CSyncJPEG_Reader *reader = new_reader(limits, failure);
    if (reader == NULL) {
        return NULL;
    }
    csj_source_init(&reader->source, descriptor, bytes, count);
    if (setjmp(reader->guard.jump) != 0) {
        CSyncJPEG_close(reader);
        return NULL;
    }
    read_header(reader);
    return reader;
}

CSyncJPEG_Reader *CSyncJPEG_open(int descriptor, const CSyncJPEG_Limits *limits, CSyncJPEG_Failure *failure) {
    return open_source(descriptor, NULL, 0, limits, failure);
}

CSyncJPEG_Reader *CSyncJPEG_openBytes(
    const uint8_t *bytes, size_t count, const CSyncJPEG_Limits *limits, CSyncJPEG_Failure *failure) {
    return open_source(-1, bytes, count, limits, failure);
}

CSyncJPEG_Reader *CSyncJPEG_openSamples(
    int descriptor, const CSyncJPEG_Samples *samples, const CSyncJPEG_Limits *limits, CSyncJPEG_Failure *failure) {
    CSyncJPEG_Reader *reader = new_reader(limits, failure);
    if (reader == NULL) {
        return NULL;
    }
    if (setjmp(reader->guard.jump) != 0) {
        CSyncJPEG_close(reader);
        return NULL;
    }
    csj_samples_init(reader, descriptor, samples);
    check_limits(reader);
    return reader;
}

void CSyncJPEG_close(CSyncJPEG_Reader *reader) {
    if (reader == NULL) {
        return;
    }
    jpeg_destroy_decompress(&reader->decoder);
    csj_arena_free(&reader->arena);
    free(reader);
}

CSyncJPEG_Info CSyncJPEG_info(const CSyncJPEG_Reader *reader) {
    return reader->info;
}

const uint8_t *CSyncJPEG_exif(const CSyncJPEG_Reader *reader, size_t *count) {
    *count = reader->markers.exif == NULL ? 0 : reader->markers.exif_count;
    return reader->markers.exif;
}
