#include "CSyncExif.h"

#include <libexif/exif-data.h>
#include <string.h>

static void silent(ExifLog *log, ExifLogCode code, const char *domain, const char *format, va_list list, void *data) {}

/// libexif's reading of a block, or NULL. It wants the segment's header in front of the TIFF header.
static ExifData *load(const uint8_t *block, size_t count) {
    static const uint8_t header[6] = "Exif\0";
    if (count < 8 || count > 65527) {
        return NULL;
    }
    uint8_t segment[65536];
    memcpy(segment, header, sizeof header);
    memcpy(segment + sizeof header, block, count);

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

static void copy_time(ExifData *data, CSyncExif_Summary *summary) {
    static const struct {
        ExifIfd ifd;
        ExifTag time, offset, fraction;
    } tags[] = {
        {EXIF_IFD_EXIF, EXIF_TAG_DATE_TIME_ORIGINAL, EXIF_TAG_OFFSET_TIME_ORIGINAL, EXIF_TAG_SUB_SEC_TIME_ORIGINAL},
        {EXIF_IFD_EXIF, EXIF_TAG_DATE_TIME_DIGITIZED, EXIF_TAG_OFFSET_TIME_DIGITIZED, EXIF_TAG_SUB_SEC_TIME_DIGITIZED},
        {EXIF_IFD_0, EXIF_TAG_DATE_TIME, EXIF_TAG_OFFSET_TIME, EXIF_TAG_SUB_SEC_TIME},
    };
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        copy_text(data, tags[i].ifd, tags[i].time, summary->time, sizeof summary->time);
        // Cameras whose clock was never set write blanks or zeros.
        if (summary->time[0] >= '1' && summary->time[0] <= '9') {
            copy_text(data, EXIF_IFD_EXIF, tags[i].offset, summary->offset, sizeof summary->offset);
            copy_text(data, EXIF_IFD_EXIF, tags[i].fraction, summary->fraction, sizeof summary->fraction);
            return;
        }
    }
    summary->time[0] = 0;
}

CSyncExif_Summary CSyncExif_read(const uint8_t *block, size_t count) {
    CSyncExif_Summary summary;
    memset(&summary, 0, sizeof summary);
    ExifData *data = load(block, count);
    if (data == NULL) {
        return summary;
    }
    const ExifEntry *orientation = exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
    if (orientation != NULL && orientation->data != NULL && orientation->components > 0
        && orientation->format == EXIF_FORMAT_SHORT && orientation->size >= 2) {
        int value = exif_get_short(orientation->data, exif_data_get_byte_order(data));
        summary.orientation = value >= 1 && value <= 8 ? value : 0;
    }
    summary.has_gps = data->ifd[EXIF_IFD_GPS]->count > 0;
    summary.has_maker_note = exif_content_get_entry(data->ifd[EXIF_IFD_EXIF], EXIF_TAG_MAKER_NOTE) != NULL;
    copy_time(data, &summary);
    exif_data_unref(data);
    return summary;
}
