// What a copy needs from an EXIF block: orientation, times and colour space, and the block corrected.
//
// Reading is libexif's. Correcting is done in place: libexif writes a block anew, which moves the maker note away from
// the offsets that are inside it and leaves out what it does not know. Here every byte that is kept stays where it is,
// but for the entries behind a removed one, which close the gap in their directory.
//
// A block is the content of an APP1 segment from its TIFF header on (what follows "Exif\0\0"). Any bytes at all may be
// given. The functions keep no state and may be called from any thread.
#ifndef CSYNC_EXIF_H
#define CSYNC_EXIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One of the block's times.
typedef struct CSyncExif_Time {
    /// "YYYY:MM:DD HH:MM:SS" as it is in the block; empty when there is none.
    char time[32];
    /// "+HH:MM", or empty.
    char offset[16];
    /// The digits behind the decimal point of the second, or empty.
    char fraction[16];
} CSyncExif_Time;

typedef struct CSyncExif_Summary {
    /// 1 to 8; 0 when there is none.
    int32_t orientation;
    bool has_gps;
    bool has_maker_note;
    /// DateTimeOriginal.
    CSyncExif_Time taken;
    /// DateTimeDigitized.
    CSyncExif_Time digitized;
    /// DateTime: the last change.
    CSyncExif_Time changed;
    /// GPSDateStamp as it is in the block ("YYYY:MM:DD", UTC); empty when there is none.
    char gps_date[16];
    /// GPSTimeStamp: whole seconds since midnight, UTC; -1 when there is none.
    int32_t gps_time;
    /// ColorSpace: 1 is sRGB, 0xFFFF another; 0 when there is none.
    int32_t colour_space;
    /// Whether the interoperability index is "R03": Adobe RGB, which cameras mark in no other way (DCF 2.0, 4.6).
    bool is_adobe_rgb;
} CSyncExif_Summary;

typedef struct CSyncExif_Changes {
    /// Pixels of the picture that the block will describe.
    int32_t width;
    int32_t height;
} CSyncExif_Changes;

/// Reads what the block tells. A damaged block gives what can be read of it, at worst an empty summary.
CSyncExif_Summary CSyncExif_read(const uint8_t *_Nonnull block, size_t count);

/// Corrects a block in place: orientation 1, the size, the embedded thumbnail out.
///
/// `block` is the caller's and is never written beyond `count`. Returns the new length (at most `count`), or 0 when the
/// block is damaged such that it cannot be corrected: the caller then leaves it out.
size_t CSyncExif_correct(uint8_t *_Nonnull block, size_t count, const CSyncExif_Changes *_Nonnull changes);

#ifdef __cplusplus
}
#endif

#endif
