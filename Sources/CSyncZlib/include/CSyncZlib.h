#ifndef CSYNCZLIB_H
#define CSYNCZLIB_H

#include <stddef.h>
#include <stdint.h>

// Streams in the gzip format (RFC 1952), by zlib (https://zlib.net/manual.html). A stream belongs to one thread at a time.

typedef struct CSyncZlib_Stream CSyncZlib_Stream;

enum {
    /// More input is needed, or more room for output.
    CSyncZlib_GoesOn = 0,
    /// The stream has come to its end, and its checksum is right.
    CSyncZlib_Ended = 1,
    /// The bytes are no gzip, or are damaged.
    CSyncZlib_Damaged = 2,
    CSyncZlib_NoMemory = 3,
};

/// A stream that compresses. NULL when memory is short. The caller owns it and frees it.
CSyncZlib_Stream *_Nullable CSyncZlib_Deflate(void);

/// A stream that reads what was compressed. NULL when memory is short. The caller owns it and frees it.
CSyncZlib_Stream *_Nullable CSyncZlib_Inflate(void);

/// Takes as much of `input` as it can, and fills as much of `output` as there is.
///
/// On return `inputCount` is what was taken of the input, and `outputCount` what was written. With `isLast` no input follows
/// after this one: call it again until it answers `Ended`.
int CSyncZlib_Run(
    CSyncZlib_Stream *_Nonnull stream, const uint8_t *_Nullable input, size_t *_Nonnull inputCount,
    uint8_t *_Nonnull output, size_t *_Nonnull outputCount, int isLast);

/// The CRC-32 (RFC 1952, 8) of bytes that follow others, of which it is `crc`; 0 is that of none.
uint32_t CSyncZlib_CRC32(uint32_t crc, const uint8_t *_Nullable bytes, size_t count);

void CSyncZlib_Free(CSyncZlib_Stream *_Nullable stream);

#endif
