#include "CSyncZlib.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

// `windowBits`: 15 for the window, 16 more for the gzip format (deflateInit2, inflateInit2 in zlib.h).
#define GZIP_WINDOW (15 + 16)

struct CSyncZlib_Stream {
    z_stream z;
    int isInflate;
};

static CSyncZlib_Stream *make(int isInflate) {
    CSyncZlib_Stream *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    stream->isInflate = isInflate;
    int result = isInflate
        ? inflateInit2(&stream->z, GZIP_WINDOW)
        : deflateInit2(&stream->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY);
    if (result != Z_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

uint32_t CSyncZlib_CRC32(uint32_t crc, const uint8_t *bytes, size_t count) {
    return bytes ? (uint32_t)crc32_z(crc, bytes, count) : crc;
}

CSyncZlib_Stream *CSyncZlib_Deflate(void) { return make(0); }

CSyncZlib_Stream *CSyncZlib_Inflate(void) { return make(1); }

int CSyncZlib_Run(
    CSyncZlib_Stream *stream, const uint8_t *input, size_t *inputCount, uint8_t *output, size_t *outputCount,
    int isLast) {
    size_t in = *inputCount > UINT_MAX ? UINT_MAX : *inputCount;
    size_t out = *outputCount > UINT_MAX ? UINT_MAX : *outputCount;
    // zlib's pointer is not const unless it was compiled so; it only reads.
    stream->z.next_in = (Bytef *)input;
    stream->z.avail_in = (uInt)in;
    stream->z.next_out = output;
    stream->z.avail_out = (uInt)out;
    int result = stream->isInflate ? inflate(&stream->z, Z_NO_FLUSH)
                                   : deflate(&stream->z, isLast && in == *inputCount ? Z_FINISH : Z_NO_FLUSH);
    *inputCount = in - stream->z.avail_in;
    *outputCount = out - stream->z.avail_out;
    switch (result) {
        case Z_STREAM_END: return CSyncZlib_Ended;
        // Z_BUF_ERROR: nothing could be done with what was given; it is no failure.
        case Z_OK:
        case Z_BUF_ERROR: return CSyncZlib_GoesOn;
        case Z_MEM_ERROR: return CSyncZlib_NoMemory;
        default: return CSyncZlib_Damaged;
    }
}

void CSyncZlib_Free(CSyncZlib_Stream *stream) {
    if (!stream) return;
    if (stream->isInflate) inflateEnd(&stream->z);
    else deflateEnd(&stream->z);
    free(stream);
}
