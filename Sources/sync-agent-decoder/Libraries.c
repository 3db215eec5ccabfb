// What the decoders are made of.

#include "Decoder.h"
#include "HEIF.h"

#include <dav1d/dav1d.h>
#include <gif_lib.h>
#include <jxl/encode.h>
#include <libde265/de265.h>
#include <libraw/libraw.h>
#include <png.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>
#include <webp/decode.h>

void prepare_libraries(void) {
    heif_init(NULL);
    heif_register_decoder_plugin(&hevc_decoder);
    heif_register_decoder_plugin(&av1_decoder);
}

void print_libraries(void) {
    printf("\"libheif\": \"%s\"", heif_get_version());
    printf(", \"libde265\": \"%s\"", de265_get_version());
    printf(", \"dav1d\": \"%s\"", dav1d_version());
    printf(", \"libpng\": \"%s\"", png_get_libpng_ver(NULL));
    int webp = WebPGetDecoderVersion();
    printf(", \"libwebp\": \"%d.%d.%d\"", webp >> 16, webp >> 8 & 255, webp & 255);
    // "LIBTIFF, Version 4.5.0", and lines about its authors.
    char tiff[200];
    snprintf(tiff, sizeof tiff, "%s", TIFFGetVersion());
    tiff[strcspn(tiff, "\n")] = 0;
    const char *number = strrchr(tiff, ' ');
    printf(", \"libtiff\": \"%s\"", number == NULL ? tiff : number + 1);
    printf(", \"giflib\": \"%d.%d.%d\"", GIFLIB_MAJOR, GIFLIB_MINOR, GIFLIB_RELEASE);
    uint32_t jxl = JxlEncoderVersion();
    printf(", \"libjxl\": \"%u.%u.%u\"", jxl / 1000000, jxl / 1000 % 1000, jxl % 1000);
    printf(", \"libraw\": \"%s\"", libraw_version());
}
