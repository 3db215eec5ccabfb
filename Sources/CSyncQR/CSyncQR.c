#include "CSyncQR.h"

#include <errno.h>
#include <limits.h>
#include <qrencode.h>

int CSyncQR_Encode(const uint8_t *bytes, size_t count, uint8_t *modules, size_t capacity) {
    if (count == 0 || count > INT_MAX) return 0;
    // Version 0: the smallest that holds it.
    QRcode *code = QRcode_encodeData((int)count, bytes, 0, QR_ECLEVEL_M);
    if (!code) return errno == ENOMEM ? -1 : 0;
    int width = code->width;
    size_t needed = (size_t)width * (size_t)width;
    if (needed > capacity) {
        width = 0;
    } else {
        // The lowest bit tells whether it is dark, the others what it is for.
        for (size_t index = 0; index < needed; index++) modules[index] = code->data[index] & 1;
    }
    QRcode_free(code);
    return width;
}
