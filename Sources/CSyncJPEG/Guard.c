// Errors, warnings and memory.

#include "Internal.h"

#include <jerror.h>
#include <stdlib.h>
#include <string.h>

static CSyncJPEG_Status status_of(int code) {
    switch (code) {
    case JERR_NO_SOI:
        return CSYNC_JPEG_NOT_JPEG;
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_EMPTY_IMAGE:
    // 65,500 pixels on a side are where libjpeg ends, and 65,535 where the format does.
    case JERR_IMAGE_TOO_BIG:
    case JERR_NOTIMPL:
    case JERR_ARITH_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
        return CSYNC_JPEG_UNSUPPORTED;
    case JERR_OUT_OF_MEMORY:
        return CSYNC_JPEG_OUT_OF_MEMORY;
    default:
        return CSYNC_JPEG_CORRUPT;
    }
}

void csj_fail(Guard *guard, CSyncJPEG_Status status, int error_number, const char *format, ...) {
    va_list arguments;
    guard->failure->status = status;
    guard->failure->error_number = error_number;
    va_start(arguments, format);
    vsnprintf(guard->failure->message, sizeof guard->failure->message, format, arguments);
    va_end(arguments);
    longjmp(guard->jump, 1);
}

static void fail_in_own_words(j_common_ptr cinfo, CSyncJPEG_Status status) {
    char message[JMSG_LENGTH_MAX];
    (*cinfo->err->format_message)(cinfo, message);
    csj_fail((Guard *)cinfo->err, status, 0, "%s", message);
}

static void error_exit(j_common_ptr cinfo) {
    fail_in_own_words(cinfo, status_of(cinfo->err->msg_code));
}

/// Whether bytes that were skipped in front of a marker were picture data.
///
/// In the header they cannot be. After a scan they are what a decoder leaves when it fell out of step, or padding that
/// some cameras write. Less than four bytes do not hold one 4:2:0 MCU. In front of a restart marker a few more are
/// harmless: all blocks up to it are there, and behind it the decoder begins anew.
static bool lost_in_skipped_bytes(j_decompress_ptr cinfo) {
    enum { FEW = 4, FEW_BEFORE_RESTART = 16 };
    const CSyncJPEG_Reader *reader = cinfo->client_data;
    unsigned count = (unsigned)cinfo->err->msg_parm.i[0];
    int marker = cinfo->err->msg_parm.i[1];
    bool is_restart = marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7;
    if (cinfo->input_scan_number == 0 || count < (is_restart ? FEW_BEFORE_RESTART : FEW)) {
        return false;
    }
    return !csj_source_skipped_padding(&reader->source, count);
}

static void emit_message(j_common_ptr cinfo, int level) {
    if (level >= 0) {
        return;
    }
    switch (cinfo->err->msg_code) {
    case JWRN_ADOBE_XFORM:  // an unknown colour transform is taken for YCbCr
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:  // bytes of the scan header that a sequential scan does not use
        return;
    case JWRN_EXTRANEOUS_DATA:
        if (cinfo->is_decompressor && !lost_in_skipped_bytes((j_decompress_ptr)cinfo)) {
            return;
        }
        break;
    case JWRN_JPEG_EOF:
        fail_in_own_words(cinfo, CSYNC_JPEG_TRUNCATED);
        return;
    default:
        break;
    }
    fail_in_own_words(cinfo, CSYNC_JPEG_CORRUPT);
}

static void output_message(j_common_ptr cinfo) {}

void csj_guard_init(Guard *guard, int64_t memory_limit) {
    memset(guard, 0, sizeof *guard);
    jpeg_std_error(&guard->base);
    guard->base.error_exit = error_exit;
    guard->base.emit_message = emit_message;
    guard->base.output_message = output_message;
    guard->memory_limit = memory_limit;
}

// MARK: Memory

void csj_charge(Guard *guard, int64_t bytes) {
    guard->memory_held += bytes;
    if (guard->memory_held > guard->memory_peak) {
        guard->memory_peak = guard->memory_held;
    }
    if (guard->memory_held > guard->memory_limit) {
        csj_fail(
            guard, CSYNC_JPEG_OVER_LIMIT, 0, "decoding needs more than the limit of %lld MiB of memory",
            (long long)(guard->memory_limit >> 20));
    }
}

// libjpeg hands out its own functions through a table; these stand in front of them and count. What it frees before the
// end is not subtracted: it frees a picture's pool as a whole.

static void *alloc_small(j_common_ptr cinfo, int pool, size_t size) {
    Guard *guard = (Guard *)cinfo->err;
    csj_charge(guard, (int64_t)size);
    return guard->library.alloc_small(cinfo, pool, size);
}

static void *alloc_large(j_common_ptr cinfo, int pool, size_t size) {
    Guard *guard = (Guard *)cinfo->err;
    csj_charge(guard, (int64_t)size);
    return guard->library.alloc_large(cinfo, pool, size);
}

static JSAMPARRAY alloc_samples(j_common_ptr cinfo, int pool, JDIMENSION width, JDIMENSION rows) {
    Guard *guard = (Guard *)cinfo->err;
    csj_charge(guard, (int64_t)rows * (int64_t)(width + sizeof(JSAMPROW)));
    return guard->library.alloc_sarray(cinfo, pool, width, rows);
}

static JBLOCKARRAY alloc_blocks(j_common_ptr cinfo, int pool, JDIMENSION blocks, JDIMENSION rows) {
    Guard *guard = (Guard *)cinfo->err;
    csj_charge(guard, (int64_t)rows * (int64_t)(blocks * sizeof(JBLOCK) + sizeof(JBLOCKROW)));
    return guard->library.alloc_barray(cinfo, pool, blocks, rows);
}

static jvirt_barray_ptr request_blocks(
    j_common_ptr cinfo, int pool, boolean zeroed, JDIMENSION blocks, JDIMENSION rows, JDIMENSION access) {
    Guard *guard = (Guard *)cinfo->err;
    csj_charge(guard, (int64_t)rows * (int64_t)(blocks * sizeof(JBLOCK) + sizeof(JBLOCKROW)));
    return guard->library.request_virt_barray(cinfo, pool, zeroed, blocks, rows, access);
}

void csj_guard_memory(Guard *guard, j_common_ptr cinfo) {
    // Decoder and encoder have the same functions behind them.
    guard->library = *cinfo->mem;
    cinfo->mem->alloc_small = alloc_small;
    cinfo->mem->alloc_large = alloc_large;
    cinfo->mem->alloc_sarray = alloc_samples;
    cinfo->mem->alloc_barray = alloc_blocks;
    cinfo->mem->request_virt_barray = request_blocks;
}

struct ArenaBlock {
    struct ArenaBlock *next;
    unsigned char padding[64 - sizeof(struct ArenaBlock *)];
};

void *csj_arena_alloc(Arena *arena, Guard *guard, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > ((size_t)1 << 40)) {
        csj_fail(guard, CSYNC_JPEG_OUT_OF_MEMORY, 0, "%zu × %zu bytes of memory asked for", count, size);
    }
    bytes = (bytes + sizeof(struct ArenaBlock) + 63) & ~(size_t)63;
    csj_charge(guard, (int64_t)bytes);
    struct ArenaBlock *block = aligned_alloc(64, bytes);
    if (block == NULL) {
        csj_fail(guard, CSYNC_JPEG_OUT_OF_MEMORY, 0, "no %zu bytes of memory left", bytes);
    }
    memset(block, 0, bytes);
    block->next = arena->first;
    arena->first = block;
    return block + 1;
}

void csj_arena_free(Arena *arena) {
    while (arena->first != NULL) {
        struct ArenaBlock *block = arena->first;
        arena->first = block->next;
        free(block);
    }
}
