// Pictures that our decoders hand to libheif.
#ifndef HEIF_H
#define HEIF_H

#include "Decoder.h"

#include <libheif/heif.h>
#include <libheif/heif_plugin.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct CodedPicture {
    int width;
    int height;
    int bits;
    enum heif_chroma chroma;
    const uint8_t *planes[3];
    /// Bytes from row to row.
    int strides[3];
    /// As ITU-T H.273 numbers them.
    int primaries;
    int transfer;
    int matrix;
    bool is_full_range;
} CodedPicture;

/// Copies a picture. The image is libheif's then.
struct heif_error make_image(const CodedPicture *picture, struct heif_image **image);

extern const struct heif_error heif_done;

/// `words` live on.
struct heif_error heif_failure(const char *words);
struct heif_error heif_memory_failure(void);

// Decoders without threads, which tell what is damaged; libheif's own do neither.
extern const struct heif_decoder_plugin hevc_decoder;
extern const struct heif_decoder_plugin av1_decoder;

/// What a request allows, before its picture is decoded: a coded picture may claim a size that its file does not.
void limit_hevc(int64_t memory_bytes);
void limit_av1(int64_t pixels);

// HEIFItems.c

/// Where a coded picture's data lie in the file, in bytes.
typedef struct HEIFPlace {
    int64_t offset;
    int64_t bytes;
} HEIFPlace;

/// The coded pictures of which the primary picture is made: side by side, row by row, of one size and with one configuration. By
/// that they are of 8 bits, and 4:2:0.
typedef struct HEIFCoded {
    bool is_av1;
    int64_t count;
    int64_t columns;
    int64_t rows;
    /// Of each.
    int64_t width;
    int64_t height;
    /// Of the primary picture, as it lies.
    int64_t whole_width;
    int64_t whole_height;
    HEIFPlace *places;
    /// What the decoder reads before the data of each.
    uint8_t *headers;
    size_t header_bytes;
    /// Without it, the coded pictures tell their colours.
    bool has_colour;
    int matrix;
    bool is_full_range;
} HEIFCoded;

/// False where the file is not so, or not as it should be; the job has not failed then. Else it is to be released.
bool heif_coded(Job *job, HEIFCoded *coded);
void heif_coded_release(HEIFCoded *coded);

// HEIFPlanes.c

/// Writes the planes of the primary picture as they are coded, where a JPEG has such. Those that it has not, and those that
/// cannot be decoded, are left to libheif. False when the job has failed.
bool write_coded_planes(Job *job, const struct heif_image_handle *handle, bool *is_written);

// HEIFBlocks.c

bool write_metadata(Job *job, const struct heif_image_handle *handle);
void note_others(Job *job, struct heif_context *context, const struct heif_image_handle *handle);
/// The nclx of the file, or of the image if there is one; NULL without. libheif hands over memory also when it fails.
struct heif_color_profile_nclx *numbered_colour(
    const struct heif_image_handle *handle, const struct heif_image *image);
/// The colour that nclx tells; `icc` of the file counts before it.
bool write_colour(Job *job, const struct heif_image_handle *handle, const struct heif_color_profile_nclx *colour);

/// Above libheif's own.
enum { OUR_PRIORITY = 1000 };

#endif
