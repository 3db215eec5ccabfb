// WebP by libwebp: still pictures, and the first frame of an animation.

#include "Decoder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <webp/decode.h>
#include <webp/demux.h>

static bool webp_fails(Job *job, VP8StatusCode status) {
    switch (status) {
    case VP8_STATUS_OK:
        return false;
    case VP8_STATUS_OUT_OF_MEMORY:
        fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "no memory left");
        return true;
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        fail(job, CSYNC_DECODER_UNSUPPORTED, "a feature of WebP that libwebp does not have");
        return true;
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
        fail(job, CSYNC_DECODER_TRUNCATED, "the WebP data end before the picture does");
        return true;
    default:
        fail(job, CSYNC_DECODER_CORRUPT, "the WebP data are damaged");
        return true;
    }
}

/// VP8 is YCbCr by BT.601 in limited range (RFC 6386, 9.2): decoded into the memfd, and widened there.
static bool write_yuv(Job *job, const WebPIterator *frame, WebPDecoderConfig *config) {
    if (!begin_samples(job, frame->width, frame->height, YCBCR, 2, 2)) return false;
    size_t count = job->reply.samples_bytes;
    uint8_t *samples = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, job->memory, 0);
    if (samples == MAP_FAILED) return fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "samples cannot be kept");
    size_t luma = (size_t)(job->plane_offset[1] - job->plane_offset[0]);
    size_t chroma = (size_t)(job->plane_offset[2] - job->plane_offset[1]);
    config->output.colorspace = MODE_YUV;
    config->output.is_external_memory = 1;
    config->output.u.YUVA = (WebPYUVABuffer){
        .y = samples, .u = samples + luma, .v = samples + luma + chroma,
        .y_stride = job->plane_width[0], .u_stride = job->plane_width[1], .v_stride = job->plane_width[2],
        .y_size = luma, .u_size = chroma, .v_size = chroma};
    bool is_done = !webp_fails(job, WebPDecode(frame->fragment.bytes, frame->fragment.size, config));
    if (is_done) {
        to_full_range(samples, luma);
        chroma_to_full_range(samples + luma, 2 * chroma);
    }
    munmap(samples, count);
    return is_done;
}

/// What is not covered by the frame is white.
static bool write_rgb(
    Job *job, const WebPIterator *frame, WebPDecoderConfig *config, int64_t width, int64_t height, bool has_alpha) {
    if (!begin_samples(job, width, height, RGB, 1, 1)) return false;
    int step = has_alpha ? 4 : 3;
    int64_t bytes = (int64_t)frame->width * frame->height * step;
    // libwebp has the picture once more where it is lossless.
    if (!fits_in_memory(job, bytes + (int64_t)frame->width * frame->height * 4)) return false;
    uint8_t *pixels = take_memory(job, bytes);
    uint8_t *line = take_memory(job, width * step);
    bool is_done = pixels != NULL && line != NULL;
    if (is_done) {
        config->output.colorspace = has_alpha ? MODE_RGBA : MODE_RGB;
        config->output.is_external_memory = 1;
        config->output.u.RGBA = (WebPRGBABuffer){.rgba = pixels, .stride = frame->width * step, .size = (size_t)bytes};
        is_done = !webp_fails(job, WebPDecode(frame->fragment.bytes, frame->fragment.size, config));
    }
    for (int32_t y = 0; y < height && is_done; y += 1) {
        memset(line, 255, (size_t)(width * step));
        int32_t row = y - frame->y_offset;
        if (row >= 0 && row < frame->height) {
            size_t from = (size_t)row * (size_t)frame->width * (size_t)step;
            memcpy(line + frame->x_offset * step, pixels + from, (size_t)frame->width * (size_t)step);
        }
        is_done = write_pixels(job, y, line, has_alpha);
    }
    free(pixels);
    free(line);
    return is_done;
}

static bool write_blocks(Job *job, WebPDemuxer *file) {
    WebPChunkIterator chunk;
    bool is_done = true;
    if (WebPDemuxGetChunk(file, "ICCP", 1, &chunk)) {
        is_done = write_icc(job, chunk.chunk.bytes, chunk.chunk.size);
        WebPDemuxReleaseChunkIterator(&chunk);
    }
    if (is_done && WebPDemuxGetChunk(file, "EXIF", 1, &chunk)) {
        job->reply.orientation = exif_orientation(chunk.chunk.bytes, chunk.chunk.size);
        is_done = write_exif(job, chunk.chunk.bytes, chunk.chunk.size);
        WebPDemuxReleaseChunkIterator(&chunk);
    }
    if (WebPDemuxGetChunk(file, "XMP ", 1, &chunk)) {
        job->reply.dropped |= CSYNC_DECODER_DROPPED_XMP;
        WebPDemuxReleaseChunkIterator(&chunk);
    }
    return is_done;
}

static bool write_frame(Job *job, WebPDemuxer *file, const WebPIterator *frame) {
    int64_t width = WebPDemuxGetI(file, WEBP_FF_CANVAS_WIDTH);
    int64_t height = WebPDemuxGetI(file, WEBP_FF_CANVAS_HEIGHT);
    if (!check_size(job, width, height)) return false;
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return fail(job, CSYNC_DECODER_INTERNAL, "another version of libwebp");
    if (webp_fails(job, WebPGetFeatures(frame->fragment.bytes, frame->fragment.size, &config.input))) return false;
    if (config.input.width != frame->width || config.input.height != frame->height) {
        return fail(job, CSYNC_DECODER_CORRUPT, "the WebP data tell two sizes");
    }
    enum { LOSSY = 1 };
    bool has_alpha = config.input.has_alpha != 0;
    bool is_whole = frame->width == width && frame->height == height;
    job->reply.pictures = WebPDemuxGetI(file, WEBP_FF_FRAME_COUNT);
    if (has_alpha) job->reply.dropped |= CSYNC_DECODER_DROPPED_ALPHA;
    bool is_done = config.input.format == LOSSY && !has_alpha && is_whole
        ? write_yuv(job, frame, &config)
        : write_rgb(job, frame, &config, width, height, has_alpha);
    WebPFreeDecBuffer(&config.output);
    return is_done && write_blocks(job, file);
}

bool decode_webp(Job *job) {
    uint8_t *bytes = read_whole_picture(job);
    if (bytes == NULL) return false;
    WebPData data = {.bytes = bytes, .size = (size_t)job->request.file_bytes};
    WebPDemuxState state;
    WebPDemuxer *file = WebPDemuxPartial(&data, &state);
    bool is_done = false;
    if (state == WEBP_DEMUX_DONE && file != NULL) {
        // Behind "RIFF" and an even number of bytes, which the library has held against the file.
        uint64_t count = bytes[4] | bytes[5] << 8 | bytes[6] << 16 | (uint64_t)bytes[7] << 24;
        job->reply.picture_end = 8 + count + count % 2;
        WebPIterator frame;
        if (WebPDemuxGetFrame(file, 1, &frame)) {
            is_done = write_frame(job, file, &frame);
            WebPDemuxReleaseIterator(&frame);
        } else {
            fail(job, CSYNC_DECODER_CORRUPT, "no picture in the WebP file");
        }
    } else if (state == WEBP_DEMUX_PARSE_ERROR) {
        fail(job, CSYNC_DECODER_CORRUPT, "the WebP file is damaged");
    } else {
        fail(job, CSYNC_DECODER_TRUNCATED, "the WebP file ends too early");
    }
    WebPDemuxDelete(file);
    free(bytes);
    return is_done;
}
