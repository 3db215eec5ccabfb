// One picture, by the decoder of its kind.

#include "Decoder.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static bool decode(Job *job) {
    switch (job->request.format) {
    case CSYNC_DECODER_HEIF: return heif_is_whole(job) && decode_heif(job);
    case CSYNC_DECODER_PNG: return decode_png(job);
    case CSYNC_DECODER_WEBP: return decode_webp(job);
    case CSYNC_DECODER_TIFF: return tiff_is_whole(job) && decode_tiff(job);
    case CSYNC_DECODER_GIF: return decode_gif(job);
    case CSYNC_DECODER_BMP: return decode_bmp(job);
    case CSYNC_DECODER_RAW: return decode_raw(job);
    case CSYNC_DECODER_JPEG_TO_JXL: return jpeg_to_jxl(job);
    case CSYNC_DECODER_JXL_TO_JPEG: return jxl_to_jpeg(job);
    default: return fail(job, CSYNC_DECODER_UNSUPPORTED, "no decoder of kind %u", job->request.format);
    }
}

/// What a library takes and does not fill, and a damaged picture lets it show, is the same each time, and nothing of an
/// earlier picture (mallopt(3), M_PERTURB). JPEG XL takes half a gigabyte; its files are proven by the way back.
static void fill_memory(uint32_t format) {
    enum { FILL = 0xa5 };
    bool is_original = format == CSYNC_DECODER_JPEG_TO_JXL || format == CSYNC_DECODER_JXL_TO_JPEG;
    mallopt(M_PERTURB, is_original ? 0 : FILL);
}

CSyncDecoder_Reply decode_picture(const CSyncDecoder_Request *request, int picture, int memory) {
    Job job = {.picture = picture, .memory = memory, .request = *request};
    job.reply.orientation = 1;
    job.reply.pictures = 1;
    fill_memory(request->format);
    bool is_done = decode(&job);
    if (!is_done) fail(&job, CSYNC_DECODER_INTERNAL, "the decoder gives no reason");
    free(job.row);
    if (job.reply.pictures > 1) job.reply.dropped |= CSYNC_DECODER_DROPPED_PICTURES;
    if (is_done) return job.reply;
    CSyncDecoder_Reply failure = {.status = job.reply.status, .error_number = job.reply.error_number};
    memcpy(failure.message, job.reply.message, sizeof failure.message);
    return failure;
}
