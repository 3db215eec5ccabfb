// The protocol between sync-agent and its decoding worker: one datagram each way for each picture.
//
// The worker's standard input is its end of a SOCK_SEQPACKET socket pair (unix(7)). A request carries two descriptors
// (SCM_RIGHTS): the picture, readable, and an empty memfd (memfd_create(2)), which the worker fills. The worker answers
// each request with one reply. It ends when the other end is closed, or when no request has come for half a minute: it takes
// no further one first, so that a request that was sent is answered, or fails with EPIPE. Both ends are of one build: there
// is no version of it.
#ifndef CSYNC_DECODER_H
#define CSYNC_DECODER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CSyncDecoder_Format {   // what the parent has sniffed; the worker calls this library and no other
    CSYNC_DECODER_HEIF = 1,          // HEIC, HEIF, AVIF by libheif
    CSYNC_DECODER_PNG, CSYNC_DECODER_WEBP, CSYNC_DECODER_TIFF, CSYNC_DECODER_GIF, CSYNC_DECODER_BMP,
    CSYNC_DECODER_RAW,               // LibRaw: the largest embedded JPEG preview, handed back as JPEG bytes
    // libjxl: no picture is decoded; `samples_bytes` of the memfd are a file, and of the reply nothing else is filled in.
    CSYNC_DECODER_JPEG_TO_JXL,       // the JPEG XL of a JPEG file, from which each of its bytes comes back
    CSYNC_DECODER_JXL_TO_JPEG        // the JPEG file again
} CSyncDecoder_Format;

typedef enum CSyncDecoder_Status {
    CSYNC_DECODER_OK = 0,
    CSYNC_DECODER_TRUNCATED, CSYNC_DECODER_CORRUPT, CSYNC_DECODER_UNSUPPORTED, CSYNC_DECODER_OVER_LIMIT,
    CSYNC_DECODER_READ_FAILED, CSYNC_DECODER_OUT_OF_MEMORY, CSYNC_DECODER_INTERNAL
} CSyncDecoder_Status;

typedef struct CSyncDecoder_Request {
    uint32_t format;
    uint32_t reserved;
    int64_t pixels;        // limit: width x height
    int64_t memory_bytes;  // limit of what the decoder may take (the memfd not counted)
    int64_t file_bytes;    // size of the picture's file
} CSyncDecoder_Request;

// Samples are 8 bit, planes one after the other in the memfd, rows without padding. Gray: 1 plane; YCbCr (JFIF full range
// BT.601, what a JPEG holds): 3 planes, chroma subsampled by horizontal/vertical (1 or 2), plane sizes rounded up; RGB: 3
// full planes. Alpha is composed over white by the worker. 16 bit and 10/12 bit are rounded to 8.
typedef struct CSyncDecoder_Reply {
    uint32_t status;
    int32_t error_number;          // of READ_FAILED
    char message[240];             // NUL-terminated, for people; the library's own words where the reason is its
    int32_t width, height;         // of the samples as they lie
    int32_t orientation;           // EXIF 1..8 that is still to be applied; of HEIF what irot and imir say, and not EXIF
    uint32_t colour;               // 1 gray, 2 YCbCr, 3 RGB; 0 with RAW: the memfd holds a JPEG of `samples_bytes` bytes
    int32_t horizontal, vertical;  // chroma subsampling of YCbCr: 1 or 2
    uint64_t samples_offset, samples_bytes;
    uint64_t icc_offset, icc_bytes;    // 0 bytes: none (sRGB)
    uint64_t exif_offset, exif_bytes;  // the TIFF block without "Exif\0\0"; 0 bytes: none
    uint32_t dropped;              // bits of what the picture file has beside its primary picture
    uint32_t pictures;             // pictures (frames, pages, top-level images) in the file
    uint64_t picture_end;          // bytes of the file that are the picture's, and not behind it; 0: not known
} CSyncDecoder_Reply;

// Bits of `dropped`.
typedef enum CSyncDecoder_Dropped {
    CSYNC_DECODER_DROPPED_ALPHA = 1,
    CSYNC_DECODER_DROPPED_GAIN_MAP = 2,      // or another HDR auxiliary picture
    CSYNC_DECODER_DROPPED_AUXILIARY = 4,     // depth, or another auxiliary picture
    CSYNC_DECODER_DROPPED_PICTURES = 8,      // further pictures or frames
    CSYNC_DECODER_DROPPED_XMP = 16,
    CSYNC_DECODER_DROPPED_DEPTH = 32         // more than 8 bits
} CSyncDecoder_Dropped;

// None of these keeps anything. They wait as long as the socket does: poll(2) tells when there is something to receive.
// They may be called on any thread; a socket belongs to one at a time. Descriptors that are sent stay the caller's.

/// Sends a request, `picture` and `samples` (the memfd) with it.
///
/// Returns 0, or an errno; EPIPE when the worker has ended, without a SIGPIPE.
int32_t CSyncDecoder_SendRequest(
    int32_t socket, const CSyncDecoder_Request *_Nonnull request, int32_t picture, int32_t samples);

/// Receives a request. Both descriptors are the caller's from then on, and close on execve(2).
///
/// Returns 0, or an errno: EPIPE when the other end is closed, EPROTO for what is no request with two descriptors. Then
/// no descriptor is left open.
int32_t CSyncDecoder_ReceiveRequest(
    int32_t socket, CSyncDecoder_Request *_Nonnull request, int32_t *_Nonnull picture, int32_t *_Nonnull samples);

/// Sends a reply. Returns 0, or an errno; EPIPE when the other end is closed, without a SIGPIPE.
int32_t CSyncDecoder_SendReply(int32_t socket, const CSyncDecoder_Reply *_Nonnull reply);

/// Receives a reply. Its message has an end, and nothing else in it is checked. No descriptor is taken.
///
/// Returns 0, or an errno: EPIPE when the worker has ended, EPROTO for what is no reply.
int32_t CSyncDecoder_ReceiveReply(int32_t socket, CSyncDecoder_Reply *_Nonnull reply);

#ifdef __cplusplus
}
#endif

#endif
