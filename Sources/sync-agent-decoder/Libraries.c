// What the decoders are made of.

#include "Decoder.h"
#include "HEIF.h"

#include <dav1d/dav1d.h>
#include <libde265/de265.h>
#include <png.h>
#include <stdio.h>

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
}
