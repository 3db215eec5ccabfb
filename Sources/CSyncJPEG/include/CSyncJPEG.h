// A photo as a smaller JPEG, decoded, resampled and encoded as one stream. Over the libjpeg API of libjpeg-turbo.
// What another decoder has decoded is resampled and encoded in the same way.
//
// Every call blocks. A reader may move between threads and is used by one at a time; two readers share nothing.
// libjpeg leaves its functions by longjmp: that jump begins and ends inside these functions, there are no callbacks.
#ifndef CSYNC_JPEG_H
#define CSYNC_JPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CSyncJPEG_Status {
    CSYNC_JPEG_OK = 0,
    /// The bytes are no JPEG.
    CSYNC_JPEG_NOT_JPEG,
    /// The file ends before the picture does.
    CSYNC_JPEG_TRUNCATED,
    /// Damaged: libjpeg met an error, or a warning that means lost picture data.
    CSYNC_JPEG_CORRUPT,
    /// A process that libjpeg does not decode: lossless, 12 bit, hierarchical, a height told after the scan, more than
    /// 65,500 pixels on a side.
    CSYNC_JPEG_UNSUPPORTED,
    /// Beyond one of the limits.
    CSYNC_JPEG_OVER_LIMIT,
    /// read(2) failed; the failure's `error_number` is its errno.
    CSYNC_JPEG_READ_FAILED,
    CSYNC_JPEG_OUT_OF_MEMORY,
    /// An argument out of range, or a mistake of this shim.
    CSYNC_JPEG_INTERNAL
} CSyncJPEG_Status;

typedef struct CSyncJPEG_Failure {
    CSyncJPEG_Status status;
    int error_number;
    /// NUL-terminated; libjpeg's own words where the reason is its.
    char message[240];
} CSyncJPEG_Failure;

/// What a file may ask for. All of it is checked before the first sample is decoded.
typedef struct CSyncJPEG_Limits {
    int64_t file_bytes;
    int64_t pixels;
    /// Heap of libjpeg and of this shim together. Only files with several scans need more than a few MiB.
    int64_t memory_bytes;
    /// Scans of a progressive file: each costs a pass over the whole picture. This one is checked as they come.
    int32_t scans;
} CSyncJPEG_Limits;

typedef enum CSyncJPEG_Colour {
    CSYNC_JPEG_GRAY = 1,
    CSYNC_JPEG_YCBCR,
    CSYNC_JPEG_RGB,
    CSYNC_JPEG_CMYK,
    CSYNC_JPEG_YCCK
} CSyncJPEG_Colour;

typedef struct CSyncJPEG_Info {
    int32_t width;
    int32_t height;
    int32_t components;
    CSyncJPEG_Colour colour;
    /// Sampling factors by component, as in the frame header.
    int32_t horizontal[4];
    int32_t vertical[4];
    bool progressive;
    bool arithmetic;
    /// Bytes of the coefficient arrays that several scans need; 0 when one scan holds the picture.
    int64_t coefficient_bytes;
} CSyncJPEG_Info;

typedef struct CSyncJPEG_Options {
    /// The longer side of the output is at most this; a smaller picture is not enlarged. 1 to 65,500.
    int32_t max_dimension;
    /// 1 to 100.
    int32_t quality;
    /// EXIF orientation, 1 to 8. The pixels are turned by it; other values count as 1.
    int32_t orientation;
    /// Whether the IPTC record (captions, credits, place names) is copied.
    bool keep_iptc;
} CSyncJPEG_Options;

typedef struct CSyncJPEG_Output {
    /// The JPEG. Freed by `CSyncJPEG_freeOutput`.
    uint8_t *_Nullable bytes;
    size_t count;
    int32_t width;
    int32_t height;
    /// The most heap that was held at once, bytes: libjpeg's and this shim's, the output included.
    int64_t peak_bytes;
} CSyncJPEG_Output;

typedef struct CSyncJPEG_Reader CSyncJPEG_Reader;

/// Reads the header of the file up to its first scan, and keeps its EXIF, ICC and IPTC segments.
///
/// The descriptor stays the caller's, stays open for as long as the reader, and is read by pread(2) from offset 0.
/// Returns a reader to be closed by `CSyncJPEG_close`, or NULL with the failure filled in.
CSyncJPEG_Reader *_Nullable CSyncJPEG_open(
    int descriptor, const CSyncJPEG_Limits *_Nonnull limits, CSyncJPEG_Failure *_Nonnull failure);

/// The same for a file that is in memory. The bytes stay the caller's, and as they are for as long as the reader.
CSyncJPEG_Reader *_Nullable CSyncJPEG_openBytes(
    const uint8_t *_Nullable bytes, size_t count, const CSyncJPEG_Limits *_Nonnull limits,
    CSyncJPEG_Failure *_Nonnull failure);

/// A picture that another decoder has decoded. A sample has 8 bits; planes lie one behind the other, rows without padding.
typedef struct CSyncJPEG_Samples {
    /// GRAY: one plane. YCBCR as JFIF has it (BT.601, full range): three, the chroma of it subsampled. RGB: three.
    CSyncJPEG_Colour colour;
    int32_t width;
    int32_t height;
    /// Pixels that a chroma sample covers on each axis, 1 or 2; its planes are rounded up. Of the others: 1.
    int32_t across;
    int32_t down;
    /// Where the first plane begins in the descriptor.
    int64_t offset;
    /// The ICC profile, which is copied. NULL when there is none.
    const uint8_t *_Nullable icc;
    size_t icc_count;
} CSyncJPEG_Samples;

/// A reader of samples, to be encoded as the picture of a JPEG would be; RGB becomes YCbCr.
///
/// The descriptor is read as that of `CSyncJPEG_open`, by bands of a few rows. It may hold anything, and may end too early:
/// then `CSyncJPEG_reduce` answers CSYNC_JPEG_TRUNCATED. Of the limits, pixels and memory count.
CSyncJPEG_Reader *_Nullable CSyncJPEG_openSamples(
    int descriptor, const CSyncJPEG_Samples *_Nonnull samples, const CSyncJPEG_Limits *_Nonnull limits,
    CSyncJPEG_Failure *_Nonnull failure);

void CSyncJPEG_close(CSyncJPEG_Reader *_Nullable reader);

CSyncJPEG_Info CSyncJPEG_info(const CSyncJPEG_Reader *_Nonnull reader);

/// The EXIF block, from its TIFF header on; one that goes on over further segments is joined. It belongs to the reader
/// and lives as long as it; NULL when there is none.
const uint8_t *_Nullable CSyncJPEG_exif(const CSyncJPEG_Reader *_Nonnull reader, size_t *_Nonnull count);

/// The size that `CSyncJPEG_reduce` makes of a picture: the longer side is exact, the other is rounded, at least 1.
void CSyncJPEG_reducedSize(
    int32_t width, int32_t height, const CSyncJPEG_Options *_Nonnull options, int32_t *_Nonnull reduced_width,
    int32_t *_Nonnull reduced_height);

/// Whether the file's encoder left out all that `CSyncJPEG_reduce` would leave out at this quality (1 to 100): its colours are
/// sampled alike, and no step of its quantisation tables is finer. Encoding the picture anew, at its size, then gives about
/// as many bytes as it has, or more. Only the header is looked at; `false` where it does not tell.
bool CSyncJPEG_isAsCoarse(CSyncJPEG_Reader *_Nonnull reader, int32_t quality);

/// Decodes the picture to its end, and makes nothing of it: what is damaged is found as by `CSyncJPEG_reduce`.
///
/// `picture_bytes` are those from the first scan to the end marker. A reader is good for one call; one of samples has none.
CSyncJPEG_Status CSyncJPEG_check(
    CSyncJPEG_Reader *_Nonnull reader, int64_t *_Nonnull picture_bytes, CSyncJPEG_Failure *_Nonnull failure);

/// Decodes the picture to its end and encodes it anew: reduced, upright, baseline, 4:2:0 where it is YCbCr.
///
/// Gray stays gray, CMYK stays CMYK with its Adobe marker. The ICC profile is copied; of the other segments only `exif`
/// (borrowed, from its TIFF header on, at most 65,527 bytes; the caller has corrected it) and IPTC on request.
/// The same input gives the same bytes. A reader is good for one call.
/// Returns CSYNC_JPEG_OK with the output filled in, or the failure's status with no output.
CSyncJPEG_Status CSyncJPEG_reduce(
    CSyncJPEG_Reader *_Nonnull reader, const CSyncJPEG_Options *_Nonnull options, const uint8_t *_Nullable exif,
    size_t exif_count, CSyncJPEG_Output *_Nonnull output, CSyncJPEG_Failure *_Nonnull failure);

void CSyncJPEG_freeOutput(CSyncJPEG_Output *_Nonnull output);

#ifdef __cplusplus
}
#endif

#endif
