#ifndef CSYNCQR_H
#define CSYNCQR_H

#include <stddef.h>
#include <stdint.h>

// QR codes (ISO/IEC 18004), by libqrencode (qrencode.h).

/// Makes the code of some bytes, with error correction level M.
///
/// Writes the modules, row by row, into `modules`: 1 is dark. Returns how many a side has, without a quiet zone; 0 when
/// the bytes are too many for a code, or `capacity` is less than its modules, and -1 when memory is short.
int CSyncQR_Encode(const uint8_t *_Nonnull bytes, size_t count, uint8_t *_Nonnull modules, size_t capacity);

/// Modules of the largest code: 177 a side.
enum { CSyncQR_MostModules = 177 * 177 };

#endif
