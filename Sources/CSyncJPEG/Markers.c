// The application segments: which are kept, and how they are written again.
//
// Kept: EXIF, the ICC profile, the IPTC record. Not kept: XMP and its extensions (they describe the pixels as they lay
// before turning, and may be many MiB), MPF (offsets to further pictures in the file), previews of any kind.

#include "Internal.h"

#include <string.h>

static const char exif_header[6] = "Exif\0";
static const char icc_header[12] = "ICC_PROFILE";
static const char photoshop_header[14] = "Photoshop 3.0";
static const char resource_header[4] = {'8', 'B', 'I', 'M'};

enum { SEGMENT_MAX = 65533, ICC_CHUNK_HEADER = 14, RESOURCE_IPTC = 0x0404, EXIF_SEGMENTS_MAX = 16 };

static int segment_length(j_decompress_ptr cinfo) {
    int length = csj_source_byte(cinfo) << 8;
    length |= csj_source_byte(cinfo);
    if (length < 2) {
        csj_fail((Guard *)cinfo->err, CSYNC_JPEG_CORRUPT, 0, "Bogus marker length");
    }
    return length - 2;
}

static void read_bytes(j_decompress_ptr cinfo, uint8_t *bytes, int count) {
    for (int i = 0; i < count; i++) {
        bytes[i] = (uint8_t)csj_source_byte(cinfo);
    }
}

/// Reads a segment whose content begins with `header`; one that does not is skipped, and NULL is returned.
static uint8_t *read_segment(j_decompress_ptr cinfo, const char *header, int header_count, int *count) {
    CSyncJPEG_Reader *reader = cinfo->client_data;
    uint8_t start[16];
    int length = segment_length(cinfo);
    int peeked = length < header_count ? length : header_count;

    read_bytes(cinfo, start, peeked);
    // An unusual file may carry segments between its scans too; the header's are enough.
    if (peeked < header_count || memcmp(start, header, (size_t)header_count) != 0 || cinfo->input_scan_number > 0) {
        cinfo->src->skip_input_data(cinfo, length - peeked);
        return NULL;
    }
    *count = length - header_count;
    uint8_t *bytes = csj_arena_alloc(&reader->arena, &reader->guard, (size_t)*count + 1, 1);
    read_bytes(cinfo, bytes, *count);
    return bytes;
}

static bool begins_block(const uint8_t *bytes, int count) {
    return count >= 4 && (memcmp(bytes, "II*\0", 4) == 0 || memcmp(bytes, "MM\0*", 4) == 0);
}

/// A block that is longer than a segment goes on in the next one, behind the same header. One that begins anew is
/// another block, and is not read.
static boolean read_app1(j_decompress_ptr cinfo) {
    CSyncJPEG_Reader *reader = cinfo->client_data;
    Markers *markers = &reader->markers;
    if (markers->exif_segments == EXIF_SEGMENTS_MAX) {
        cinfo->src->skip_input_data(cinfo, segment_length(cinfo));
        return TRUE;
    }
    int count = 0;
    uint8_t *bytes = read_segment(cinfo, exif_header, sizeof exif_header, &count);
    if (bytes == NULL) {
        return TRUE;
    }
    markers->exif_segments += 1;
    if (markers->exif == NULL) {
        markers->exif = bytes;
        markers->exif_count = (size_t)count;
    } else if (!begins_block(bytes, count)) {
        size_t total = markers->exif_count + (size_t)count;
        uint8_t *block = csj_arena_alloc(&reader->arena, &reader->guard, total + 1, 1);
        memcpy(block, markers->exif, markers->exif_count);
        memcpy(block + markers->exif_count, bytes, (size_t)count);
        markers->exif = block;
        markers->exif_count = total;
    }
    return TRUE;
}

static boolean read_app2(j_decompress_ptr cinfo) {
    Markers *markers = &((CSyncJPEG_Reader *)cinfo->client_data)->markers;
    int count = 0;
    uint8_t *chunk = read_segment(cinfo, icc_header, sizeof icc_header, &count);
    if (chunk == NULL) {
        return TRUE;
    }
    // A number, the number of chunks, and a part of the profile (ICC.1:2010, B.4).
    if (count < 3 || chunk[0] < 1 || chunk[0] > chunk[1] || markers->icc[chunk[0] - 1] != NULL
        || (markers->icc_total != 0 && markers->icc_total != chunk[1])) {
        markers->icc_damaged = true;
        return TRUE;
    }
    markers->icc_total = chunk[1];
    markers->icc[chunk[0] - 1] = chunk + 2;
    markers->icc_count[chunk[0] - 1] = (uint16_t)(count - 2);
    return TRUE;
}

/// Finds the IPTC record among the Photoshop image resources; the others are previews, paths and print settings.
static void find_iptc(Markers *markers, uint8_t *bytes, size_t count) {
    size_t at = 0;
    while (at + 12 <= count && memcmp(bytes + at, resource_header, sizeof resource_header) == 0) {
        unsigned id = (unsigned)bytes[at + 4] << 8 | bytes[at + 5];
        size_t name = (size_t)bytes[at + 6] + 1;
        size_t data = at + 6 + name + (name & 1);
        if (data + 4 > count) {
            return;
        }
        size_t size = (size_t)bytes[data] << 24 | (size_t)bytes[data + 1] << 16 | (size_t)bytes[data + 2] << 8
            | (size_t)bytes[data + 3];
        data += 4;
        if (size > count - data) {
            return;
        }
        if (id == RESOURCE_IPTC && size > 0) {
            markers->iptc = bytes + data;
            markers->iptc_count = size;
            return;
        }
        at = data + size + (size & 1);
    }
}

static boolean read_app13(j_decompress_ptr cinfo) {
    Markers *markers = &((CSyncJPEG_Reader *)cinfo->client_data)->markers;
    int count = 0;
    if (markers->iptc != NULL) {
        cinfo->src->skip_input_data(cinfo, segment_length(cinfo));
        return TRUE;
    }
    uint8_t *bytes = read_segment(cinfo, photoshop_header, sizeof photoshop_header, &count);
    if (bytes != NULL) {
        find_iptc(markers, bytes, (size_t)count);
    }
    return TRUE;
}

void csj_markers_install(j_decompress_ptr cinfo) {
    jpeg_set_marker_processor(cinfo, JPEG_APP0 + 1, read_app1);
    jpeg_set_marker_processor(cinfo, JPEG_APP0 + 2, read_app2);
    jpeg_set_marker_processor(cinfo, JPEG_APP0 + 13, read_app13);
}

void csj_markers_keep_icc(CSyncJPEG_Reader *reader, const uint8_t *icc, size_t count) {
    enum { CHUNK_MAX = SEGMENT_MAX - ICC_CHUNK_HEADER };
    Markers *markers = &reader->markers;
    size_t chunks = (count + CHUNK_MAX - 1) / CHUNK_MAX;
    if (chunks == 0 || chunks > sizeof markers->icc / sizeof *markers->icc) {
        return;
    }
    uint8_t *profile = csj_arena_alloc(&reader->arena, &reader->guard, count, 1);
    memcpy(profile, icc, count);
    markers->icc_total = (int)chunks;
    for (size_t i = 0; i < chunks; i++) {
        size_t rest = count - i * CHUNK_MAX;
        markers->icc[i] = profile + i * CHUNK_MAX;
        markers->icc_count[i] = (uint16_t)(rest < CHUNK_MAX ? rest : CHUNK_MAX);
    }
}

// MARK: Writing

static void write_bytes(j_compress_ptr cinfo, const void *bytes, size_t count) {
    const uint8_t *byte = bytes;
    for (size_t i = 0; i < count; i++) {
        jpeg_write_m_byte(cinfo, byte[i]);
    }
}

static void write_icc(const Markers *markers, j_compress_ptr cinfo) {
    if (markers->icc_damaged) {
        return;
    }
    for (int i = 0; i < markers->icc_total; i++) {
        if (markers->icc[i] == NULL) {
            return;
        }
    }
    for (int i = 0; i < markers->icc_total; i++) {
        const uint8_t number[2] = {(uint8_t)(i + 1), (uint8_t)markers->icc_total};
        jpeg_write_m_header(cinfo, JPEG_APP0 + 2, (unsigned)(ICC_CHUNK_HEADER + markers->icc_count[i]));
        write_bytes(cinfo, icc_header, sizeof icc_header);
        write_bytes(cinfo, number, sizeof number);
        write_bytes(cinfo, markers->icc[i], markers->icc_count[i]);
    }
}

static void write_iptc(const Markers *markers, j_compress_ptr cinfo) {
    size_t count = markers->iptc_count;
    size_t length = sizeof photoshop_header + 12 + count + (count & 1);
    if (count == 0 || length > SEGMENT_MAX) {
        return;
    }
    const uint8_t resource[8] = {
        RESOURCE_IPTC >> 8, RESOURCE_IPTC & 0xFF, 0, 0, 0, 0, (uint8_t)(count >> 8), (uint8_t)count,
    };
    jpeg_write_m_header(cinfo, JPEG_APP0 + 13, (unsigned)length);
    write_bytes(cinfo, photoshop_header, sizeof photoshop_header);
    write_bytes(cinfo, resource_header, sizeof resource_header);
    write_bytes(cinfo, resource, sizeof resource);
    write_bytes(cinfo, markers->iptc, count);
    write_bytes(cinfo, "", count & 1);
}

void csj_markers_write(
    const Markers *markers, j_compress_ptr cinfo, const uint8_t *exif, size_t exif_count, bool keep_iptc) {
    if (exif != NULL && exif_count > 0) {
        jpeg_write_m_header(cinfo, JPEG_APP0 + 1, (unsigned)(sizeof exif_header + exif_count));
        write_bytes(cinfo, exif_header, sizeof exif_header);
        write_bytes(cinfo, exif, exif_count);
    }
    write_icc(markers, cinfo);
    if (keep_iptc) {
        write_iptc(markers, cinfo);
    }
}
