#include "CSyncExif.h"

#include "Bounds.h"

#include <libexif/exif-data.h>
#include <string.h>

static void silent(ExifLog *log, ExifLogCode code, const char *domain, const char *format, va_list list, void *data) {}

/// libexif's reading of a block, or NULL. It wants the segment's header in front of the TIFF header, and is given a copy
/// in which nothing keeps it busy.
static ExifData *load(const uint8_t *block, size_t count, Bounds *found) {
    static const uint8_t header[6] = "Exif\0";
    if (count < 8 || count > 65527) {
        return NULL;
    }
    uint8_t segment[65536];
    memcpy(segment, header, sizeof header);
    memcpy(segment + sizeof header, block, count);
    *found = bound_block(segment + sizeof header, count);

    ExifData *data = exif_data_new();
    ExifLog *log = exif_log_new();
    if (data == NULL || log == NULL) {
        exif_data_unref(data);
        exif_log_unref(log);
        return NULL;
    }
    exif_log_set_func(log, silent, NULL);
    exif_data_log(data, log);
    exif_log_unref(log);
    // Its repairs would turn what is there into what should be there.
    exif_data_unset_option(data, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
    exif_data_load_data(data, segment, (unsigned)(sizeof header + count));
    return data;
}

static void copy_text(ExifData *data, ExifIfd ifd, ExifTag tag, char *text, size_t capacity) {
    const ExifEntry *entry = exif_content_get_entry(data->ifd[ifd], tag);
    text[0] = 0;
    if (entry == NULL || entry->data == NULL || entry->format != EXIF_FORMAT_ASCII) {
        return;
    }
    size_t count = strnlen((const char *)entry->data, entry->size);
    if (count >= capacity) {
        return;
    }
    memcpy(text, entry->data, count);
    text[count] = 0;
}

static CSyncExif_Time read_time(ExifData *data, ExifIfd ifd, ExifTag time, ExifTag offset, ExifTag fraction) {
    CSyncExif_Time result;
    copy_text(data, ifd, time, result.time, sizeof result.time);
    copy_text(data, EXIF_IFD_EXIF, offset, result.offset, sizeof result.offset);
    copy_text(data, EXIF_IFD_EXIF, fraction, result.fraction, sizeof result.fraction);
    return result;
}

/// One SHORT, or 0.
static int32_t read_short(ExifData *data, ExifIfd ifd, ExifTag tag) {
    const ExifEntry *entry = exif_content_get_entry(data->ifd[ifd], tag);
    if (entry == NULL || entry->data == NULL || entry->components == 0 || entry->format != EXIF_FORMAT_SHORT
        || entry->size < 2) {
        return 0;
    }
    return exif_get_short(entry->data, exif_data_get_byte_order(data));
}

/// The three RATIONALs of GPSTimeStamp as seconds, or -1.
static int32_t read_gps_time(ExifData *data) {
    const ExifEntry *entry = exif_content_get_entry(data->ifd[EXIF_IFD_GPS], (ExifTag)EXIF_TAG_GPS_TIME_STAMP);
    if (entry == NULL || entry->data == NULL || entry->format != EXIF_FORMAT_RATIONAL || entry->size < 24) {
        return -1;
    }
    uint32_t parts[3];
    for (int index = 0; index < 3; index++) {
        ExifRational part = exif_get_rational(entry->data + index * 8, exif_data_get_byte_order(data));
        if (part.denominator == 0) {
            return -1;
        }
        parts[index] = part.numerator / part.denominator;
    }
    if (parts[0] > 23 || parts[1] > 59 || parts[2] > 60) {
        return -1;
    }
    return (int32_t)(parts[0] * 3600 + parts[1] * 60 + parts[2]);
}

CSyncExif_Summary CSyncExif_read(const uint8_t *block, size_t count) {
    CSyncExif_Summary summary;
    memset(&summary, 0, sizeof summary);
    summary.gps_time = -1;
    Bounds found;
    ExifData *data = load(block, count, &found);
    if (data == NULL) {
        return summary;
    }
    int32_t orientation = read_short(data, EXIF_IFD_0, EXIF_TAG_ORIENTATION);
    summary.orientation = orientation >= 1 && orientation <= 8 ? orientation : 0;
    summary.has_gps = found.has_gps || data->ifd[EXIF_IFD_GPS]->count > 0;
    summary.has_maker_note = found.has_maker_note;
    summary.taken = read_time(data, EXIF_IFD_EXIF, EXIF_TAG_DATE_TIME_ORIGINAL, EXIF_TAG_OFFSET_TIME_ORIGINAL,
        EXIF_TAG_SUB_SEC_TIME_ORIGINAL);
    summary.digitized = read_time(data, EXIF_IFD_EXIF, EXIF_TAG_DATE_TIME_DIGITIZED, EXIF_TAG_OFFSET_TIME_DIGITIZED,
        EXIF_TAG_SUB_SEC_TIME_DIGITIZED);
    summary.changed = read_time(data, EXIF_IFD_0, EXIF_TAG_DATE_TIME, EXIF_TAG_OFFSET_TIME, EXIF_TAG_SUB_SEC_TIME);
    copy_text(data, EXIF_IFD_GPS, (ExifTag)EXIF_TAG_GPS_DATE_STAMP, summary.gps_date, sizeof summary.gps_date);
    summary.gps_time = read_gps_time(data);
    summary.colour_space = read_short(data, EXIF_IFD_EXIF, EXIF_TAG_COLOR_SPACE);
    char index[8];
    copy_text(data, EXIF_IFD_INTEROPERABILITY, EXIF_TAG_INTEROPERABILITY_INDEX, index, sizeof index);
    summary.is_adobe_rgb = strcmp(index, "R03") == 0;
    exif_data_unref(data);
    return summary;
}
