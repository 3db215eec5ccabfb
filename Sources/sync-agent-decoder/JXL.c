// JPEG files as JPEG XL and back, byte for byte (ISO/IEC 18181-2, `jbrd`), by libjxl. No pixel is decoded, and no thread
// started: without a parallel runner libjxl does all by itself.
//
// libjxl 0.7 ends the process where memory ends: by an exception that nobody catches (NewHandler.cc), or by a trap. What a
// file will take is therefore reckoned before it begins. Measured, for pictures of 24 megapixels and 3 to 12 MB: 17 bytes
// of memory for a pixel and 33 for a byte of the file, and 36 more for a pixel that are set aside and never touched, but
// are counted by the limit (RLIMIT_DATA); back 19 bytes for a pixel, of which 7 are touched.

#include "Decoder.h"

#include <jxl/decode.h>
#include <jxl/encode.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PIECE = 1 << 20, SPARE = 32 << 20, LARGEST_JPEG = 256 << 20 };

/// Efforts from 3 to 7 give the same size to a part in a thousand.
enum { EFFORT = 3 };

/// Pixels in whole groups, by which libjxl takes memory.
static int64_t pixels_in_groups(int64_t width, int64_t height) {
    enum { GROUP = 256 };
    return (width + GROUP - 1) / GROUP * GROUP * ((height + GROUP - 1) / GROUP * GROUP);
}

/// Large blocks are taken from one heap: pages that were touched once are touched again, and not asked for anew.
static void keep_touched_pages(void) {
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 16 << 20);
}

// MARK: JPEG to JPEG XL

/// Size of the picture in the first frame header (ITU-T T.81, B.2.2). False where there is none.
static bool find_size(const uint8_t *bytes, size_t count, int64_t *width, int64_t *height) {
    for (size_t at = 2; at + 9 <= count && bytes[at] == 0xFF;) {
        uint8_t marker = bytes[at + 1];
        if (marker == 0xFF) {
            at += 1;
            continue;
        }
        bool is_frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
        if (is_frame) {
            *height = bytes[at + 5] << 8 | bytes[at + 6];
            *width = bytes[at + 7] << 8 | bytes[at + 8];
            return true;
        }
        size_t length = (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
        if (marker == 0xDA || length < 2) return false;
        at += 2 + length;
    }
    return false;
}

/// Fails where libjxl would take more than the limit, or touch more than half of it.
static bool check_jpeg(Job *job, const uint8_t *bytes) {
    int64_t count = job->request.file_bytes;
    int64_t width;
    int64_t height;
    if (!find_size(bytes, (size_t)count, &width, &height)) {
        return fail(job, CSYNC_DECODER_UNSUPPORTED, "no picture's size is found in the JPEG file");
    }
    if (!check_size(job, width, height)) return false;
    int64_t pixels = pixels_in_groups(width, height);
    int64_t touched = 18 * pixels + 34 * count + SPARE;
    return fits_in_memory(job, touched + 36 * pixels) && fits_in_memory(job, 2 * touched);
}

static bool encoder_fails(Job *job, JxlEncoder *encoder) {
    switch (JxlEncoderGetError(encoder)) {
    case JXL_ENC_ERR_OOM:
        return fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "no memory left");
    case JXL_ENC_ERR_JBRD:
        return fail(job, CSYNC_DECODER_UNSUPPORTED, "JPEG XL cannot give this JPEG file back");
    default:
        // It has no words for what it does not like.
        return fail(job, CSYNC_DECODER_UNSUPPORTED, "libjxl cannot recompress this JPEG file; it may be damaged");
    }
}

/// Takes the file in. Its bytes are no longer needed then.
static bool add_jpeg(Job *job, JxlEncoder *encoder) {
    uint8_t *bytes = read_whole_picture(job);
    if (bytes == NULL) return false;
    bool is_done = check_jpeg(job, bytes);
    if (is_done) {
        JxlEncoderFrameSettings *settings = JxlEncoderFrameSettingsCreate(encoder, NULL);
        // Chroma from luma: a fifth of the time for 2 parts in a thousand of the bytes.
        is_done = settings != NULL
            && JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, EFFORT) == JXL_ENC_SUCCESS
            && JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_JPEG_RECON_CFL, 0) == JXL_ENC_SUCCESS
            && JxlEncoderUseContainer(encoder, JXL_TRUE) == JXL_ENC_SUCCESS
            && JxlEncoderStoreJPEGMetadata(encoder, JXL_TRUE) == JXL_ENC_SUCCESS
            && JxlEncoderAddJPEGFrame(settings, bytes, (size_t)job->request.file_bytes) == JXL_ENC_SUCCESS;
        if (!is_done) encoder_fails(job, encoder);
    }
    free(bytes);
    return is_done;
}

bool jpeg_to_jxl(Job *job) {
    keep_touched_pages();
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    uint8_t *piece = take_memory(job, PIECE);
    bool is_done = encoder != NULL && piece != NULL && add_jpeg(job, encoder);
    if (is_done) JxlEncoderCloseInput(encoder);
    JxlEncoderStatus status = JXL_ENC_NEED_MORE_OUTPUT;
    while (is_done && status == JXL_ENC_NEED_MORE_OUTPUT) {
        uint8_t *next = piece;
        size_t room = PIECE;
        status = JxlEncoderProcessOutput(encoder, &next, &room);
        size_t count = (size_t)(next - piece);
        if (status == JXL_ENC_ERROR) {
            is_done = encoder_fails(job, encoder);
        } else {
            is_done = write_samples(job, piece, count, job->end);
            job->end += (int64_t)count;
        }
    }
    job->reply.samples_bytes = (uint64_t)job->end;
    free(piece);
    JxlEncoderDestroy(encoder);
    return is_done;
}

// MARK: JPEG XL to JPEG

static bool check_jxl(Job *job, const JxlDecoder *decoder) {
    JxlBasicInfo info;
    if (JxlDecoderGetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS) {
        return fail(job, CSYNC_DECODER_CORRUPT, "the JPEG XL file tells no size");
    }
    if (!check_size(job, info.xsize, info.ysize)) return false;
    return fits_in_memory(job, 20 * pixels_in_groups(info.xsize, info.ysize) + 2 * job->request.file_bytes + SPARE);
}

/// Writes the JPEG file to `jpeg`, which has room for the largest. libjxl goes on only when it has room for all.
static bool reconstruct(Job *job, JxlDecoder *decoder, uint8_t *jpeg) {
    bool is_jpeg = false;
    while (true) {
        switch (JxlDecoderProcessInput(decoder)) {
        case JXL_DEC_BASIC_INFO:
            if (!check_jxl(job, decoder)) return false;
            break;
        case JXL_DEC_JPEG_RECONSTRUCTION:
            if (is_jpeg || JxlDecoderSetJPEGBuffer(decoder, jpeg, LARGEST_JPEG) != JXL_DEC_SUCCESS) {
                return fail(job, CSYNC_DECODER_CORRUPT, "the JPEG XL file holds no JPEG file that can be given back");
            }
            is_jpeg = true;
            break;
        case JXL_DEC_FULL_IMAGE:
            if (!is_jpeg) return fail(job, CSYNC_DECODER_UNSUPPORTED, "no JPEG file is in the JPEG XL file");
            job->end = LARGEST_JPEG - (int64_t)JxlDecoderReleaseJPEGBuffer(decoder);
            return true;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            return fail(job, CSYNC_DECODER_UNSUPPORTED, "no JPEG file is in the JPEG XL file");
        case JXL_DEC_NEED_MORE_INPUT:
            return fail(job, CSYNC_DECODER_TRUNCATED, "the JPEG XL file ends too early");
        case JXL_DEC_JPEG_NEED_MORE_OUTPUT:
            return fail(job, CSYNC_DECODER_OVER_LIMIT, "the JPEG file is larger than 256 MiB");
        default:
            return fail(job, CSYNC_DECODER_CORRUPT, "the JPEG XL data are damaged");
        }
    }
}

static bool decode_bytes(Job *job, const uint8_t *bytes, uint8_t *jpeg) {
    size_t count = (size_t)job->request.file_bytes;
    if (JxlSignatureCheck(bytes, count) != JXL_SIG_CONTAINER) {
        return fail(job, CSYNC_DECODER_UNSUPPORTED, "it is no JPEG XL file that holds a JPEG file");
    }
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    int events = JXL_DEC_BASIC_INFO | JXL_DEC_JPEG_RECONSTRUCTION | JXL_DEC_FULL_IMAGE;
    bool is_ready = decoder != NULL && JxlDecoderSubscribeEvents(decoder, events) == JXL_DEC_SUCCESS
        && JxlDecoderSetInput(decoder, bytes, count) == JXL_DEC_SUCCESS;
    if (is_ready) JxlDecoderCloseInput(decoder);
    bool is_done = is_ready ? reconstruct(job, decoder, jpeg)
                            : fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "libjxl cannot begin");
    JxlDecoderDestroy(decoder);
    return is_done;
}

bool jxl_to_jpeg(Job *job) {
    keep_touched_pages();
    uint8_t *bytes = read_whole_picture(job);
    if (bytes == NULL) return false;
    // Pages that are not written to are none.
    uint8_t *jpeg = MAP_FAILED;
    if (extend_samples(job, LARGEST_JPEG)) {
        jpeg = mmap(NULL, LARGEST_JPEG, PROT_READ | PROT_WRITE, MAP_SHARED, job->memory, 0);
        if (jpeg == MAP_FAILED) fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "the JPEG file cannot be kept");
    }
    bool is_done = jpeg != MAP_FAILED && decode_bytes(job, bytes, jpeg);
    if (jpeg != MAP_FAILED) munmap(jpeg, LARGEST_JPEG);
    free(bytes);
    if (!extend_samples(job, job->end)) return false;
    job->reply.samples_bytes = (uint64_t)job->end;
    return is_done;
}
