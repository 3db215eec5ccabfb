// Pictures that our decoders hand to libheif.
#ifndef HEIF_H
#define HEIF_H

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

/// Above libheif's own.
enum { OUR_PRIORITY = 1000 };

#endif
