// Whether a picture is whole, and whether encoding it anew could make it smaller, without doing so.

#include "Internal.h"

#include <stdlib.h>
#include <string.h>

/// Whether no step of `ours` is wider than that of `theirs`.
static bool is_as_fine(const JQUANT_TBL *ours, const JQUANT_TBL *theirs) {
    if (ours == NULL || theirs == NULL) {
        return false;
    }
    for (int i = 0; i < DCTSIZE2; i++) {
        if (ours->quantval[i] > theirs->quantval[i]) {
            return false;
        }
    }
    return true;
}

/// The table of a component, or NULL. Its number is whatever byte the file has: libjpeg looks at it when it begins a
/// scan, and not when it reads the header.
static const JQUANT_TBL *table_of(const jpeg_component_info *component, JQUANT_TBL *const *tables) {
    int number = component->quant_tbl_no;
    return number < 0 || number >= NUM_QUANT_TBLS ? NULL : tables[number];
}

static bool is_as_coarse(const struct jpeg_decompress_struct *decoder, const struct jpeg_compress_struct *encoder) {
    for (int i = 0; i < decoder->num_components; i++) {
        const jpeg_component_info *theirs = &decoder->comp_info[i], *ours = &encoder->comp_info[i];
        // A gray picture is one plane, whatever its factors are.
        bool is_sampled_alike = decoder->num_components == 1
            || (theirs->h_samp_factor == ours->h_samp_factor && theirs->v_samp_factor == ours->v_samp_factor);
        if (!is_sampled_alike
            || !is_as_fine(table_of(ours, encoder->quant_tbl_ptrs), table_of(theirs, decoder->quant_tbl_ptrs))) {
            return false;
        }
    }
    return true;
}

bool CSyncJPEG_isAsCoarse(CSyncJPEG_Reader *reader, int32_t quality) {
    const struct jpeg_decompress_struct *decoder = &reader->decoder;
    // Of many short intervals, the marks between them may be a tenth of the file.
    if (reader->has_samples || decoder->restart_interval > 0
        || !(decoder->jpeg_color_space == JCS_GRAYSCALE || decoder->jpeg_color_space == JCS_YCbCr)) {
        return false;
    }
    CSyncJPEG_Failure failure;
    Writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        return false;
    }
    reader->guard.failure = &failure;
    volatile bool result = false;
    if (setjmp(reader->guard.jump) == 0) {
        csj_writer_choose(writer, reader, quality);
        result = is_as_coarse(decoder, &writer->encoder);
    }
    csj_writer_destroy(writer);
    free(writer);
    return result;
}

typedef struct Check {
    CSyncJPEG_Reader *reader;
    JSAMPROW rows[PLANES_MAX][4 * DCTSIZE];
} Check;

/// To the end marker. Each coefficient is read; of a block only the mean is computed.
static void decode(Check *check) {
    j_decompress_ptr decoder = &check->reader->decoder;
    JSAMPARRAY planes[PLANES_MAX];

    csj_decoding_start(check->reader, 1);
    for (int i = 0; i < decoder->num_components; i++) {
        csj_decoding_rows(check->reader, i, check->rows[i]);
        planes[i] = check->rows[i];
    }
    JDIMENSION lines = (JDIMENSION)(decoder->max_v_samp_factor * decoder->min_DCT_scaled_size);
    while (decoder->output_scanline < decoder->output_height) {
        jpeg_read_raw_data(decoder, planes, lines);
    }
    jpeg_finish_decompress(decoder);
}

CSyncJPEG_Status CSyncJPEG_check(CSyncJPEG_Reader *reader, int64_t *picture_bytes, CSyncJPEG_Failure *failure) {
    memset(failure, 0, sizeof *failure);
    bool is_misused = reader->used || reader->has_samples;
    Check *check = is_misused ? NULL : calloc(1, sizeof *check);
    if (check == NULL) {
        failure->status = is_misused ? CSYNC_JPEG_INTERNAL : CSYNC_JPEG_OUT_OF_MEMORY;
        strcpy(failure->message, is_misused ? "the reader was used before, or reads samples" : "no memory left");
        return failure->status;
    }
    reader->used = true;
    reader->guard.failure = failure;
    check->reader = reader;
    // As in CSyncJPEG_reduce, nothing below changes a local between setjmp and longjmp.
    if (setjmp(reader->guard.jump) == 0) {
        csj_charge(&reader->guard, sizeof *check);
        off_t start = csj_source_offset(&reader->source);
        decode(check);
        *picture_bytes = csj_source_offset(&reader->source) - start;
    }
    free(check);
    return failure->status;
}
