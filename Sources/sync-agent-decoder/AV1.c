// AV1 by dav1d, for libheif: one thread, and no picture out of a damaged stream.

#include "HEIF.h"

#include <dav1d/dav1d.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct Decoder {
    Dav1dContext *context;
    Dav1dData data;
} Decoder;

static unsigned most_pixels;

void limit_av1(int64_t pixels) { most_pixels = pixels > UINT32_MAX ? UINT32_MAX : (unsigned)pixels; }

static const char *name(void) { return "dav1d, one thread"; }
static int supports(enum heif_compression_format format) {
    return format == heif_compression_AV1 ? OUR_PRIORITY : 0;
}

static void release(void *state) {
    Decoder *decoder = state;
    if (decoder->data.sz > 0) dav1d_data_unref(&decoder->data);
    if (decoder->context != NULL) dav1d_close(&decoder->context);
    free(decoder);
}

static struct heif_error make(void **state) {
    Decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL) return heif_memory_failure();
    Dav1dSettings settings;
    dav1d_default_settings(&settings);
    settings.n_threads = 1;
    settings.max_frame_delay = 1;
    settings.all_layers = 0;
    settings.frame_size_limit = most_pixels;
    // Nothing on standard error.
    settings.logger.callback = NULL;
    if (dav1d_open(&decoder->context, &settings) != 0) {
        release(decoder);
        return heif_failure("dav1d cannot begin");
    }
    *state = decoder;
    return heif_done;
}

static struct heif_error push(void *state, const void *bytes, size_t count) {
    Decoder *decoder = state;
    if (decoder->data.sz > 0 || count == 0) return heif_failure("an AV1 picture without data");
    uint8_t *copy = dav1d_data_create(&decoder->data, count);
    if (copy == NULL) return heif_memory_failure();
    memcpy(copy, bytes, count);
    return heif_done;
}

static struct heif_error av1_failure(int result) {
    return result == DAV1D_ERR(ENOMEM) ? heif_memory_failure() : heif_failure("the AV1 stream is damaged");
}

static struct heif_error decode(void *state, struct heif_image **image) {
    Decoder *decoder = state;
    Dav1dPicture frame = {0};
    for (int result = DAV1D_ERR(EAGAIN), rests = 0; result != 0;) {
        if (decoder->data.sz > 0) {
            result = dav1d_send_data(decoder->context, &decoder->data);
            if (result != 0 && result != DAV1D_ERR(EAGAIN)) return av1_failure(result);
        } else {
            // Once for what is decoded, once for what is left; then nothing comes any more.
            rests += 1;
            if (rests > 2) return heif_failure("the AV1 stream ends before its picture does");
        }
        result = dav1d_get_picture(decoder->context, &frame);
        if (result != 0 && result != DAV1D_ERR(EAGAIN)) return av1_failure(result);
    }
    static const enum heif_chroma chroma[] = {
        [DAV1D_PIXEL_LAYOUT_I400] = heif_chroma_monochrome, [DAV1D_PIXEL_LAYOUT_I420] = heif_chroma_420,
        [DAV1D_PIXEL_LAYOUT_I422] = heif_chroma_422, [DAV1D_PIXEL_LAYOUT_I444] = heif_chroma_444};
    CodedPicture coded = {
        .width = frame.p.w,
        .height = frame.p.h,
        .bits = frame.p.bpc,
        .chroma = chroma[frame.p.layout],
        .planes = {frame.data[0], frame.data[1], frame.data[2]},
        .strides = {(int)frame.stride[0], (int)frame.stride[1], (int)frame.stride[1]},
        .primaries = (int)frame.seq_hdr->pri,
        .transfer = (int)frame.seq_hdr->trc,
        .matrix = (int)frame.seq_hdr->mtrx,
        .is_full_range = frame.seq_hdr->color_range != 0,
    };
    struct heif_error failure = make_image(&coded, image);
    dav1d_picture_unref(&frame);
    return failure;
}

const struct heif_decoder_plugin av1_decoder = {3, name, NULL, NULL, supports, make, release, push, decode, NULL,
                                                "sync-agent-av1"};
