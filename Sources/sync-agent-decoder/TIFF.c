// The first page of a TIFF, by libtiff: by rows where samples lie simply, and else by strips or rows of tiles as RGBA. Of
// L*a*b* libtiff makes RGB that is some levels off: that is made here.

#include "Decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

typedef struct File {
    Job *job;
    int64_t position;
    /// From here on a warning is about samples, and so about what is lost.
    bool is_decoding;
    char words[200];
} File;

static tmsize_t read_bytes(thandle_t state, void *bytes, tmsize_t count) {
    File *file = state;
    size_t got = read_picture(file->job, bytes, (size_t)count, file->position);
    file->position += (int64_t)got;
    return (tmsize_t)got;
}

static tmsize_t write_bytes(thandle_t state, void *bytes, tmsize_t count) { return 0; }

static toff_t seek_to(thandle_t state, toff_t offset, int whence) {
    File *file = state;
    int64_t base = whence == SEEK_CUR ? file->position : whence == SEEK_END ? file->job->request.file_bytes : 0;
    file->position = base + (int64_t)offset;
    return (toff_t)file->position;
}

static int close_file(thandle_t state) { return 0; }

static toff_t size_of(thandle_t state) { return (toff_t)((File *)state)->job->request.file_bytes; }

__attribute__((format(printf, 3, 0)))
static void note_error(thandle_t state, const char *module, const char *format, va_list arguments) {
    File *file = state;
    if (file->words[0] == 0) vsnprintf(file->words, sizeof file->words, format, arguments);
}

__attribute__((format(printf, 3, 0)))
static void note_warning(thandle_t state, const char *module, const char *format, va_list arguments) {
    if (((File *)state)->is_decoding) note_error(state, module, format, arguments);
}

/// Whether strips or tiles of the page lie behind the file's end.
static bool is_page_cut(const File *file, TIFF *tiff) {
    uint32_t count = TIFFIsTiled(tiff) ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
    for (uint32_t index = 0; index < count; index += 1) {
        uint64_t end;
        if (__builtin_add_overflow(TIFFGetStrileOffset(tiff, index), TIFFGetStrileByteCount(tiff, index), &end)) break;
        if (end > (uint64_t)file->job->request.file_bytes) return true;
    }
    return false;
}

/// libtiff does not read what it knows to lie behind the end.
static bool tiff_fails(File *file, TIFF *tiff) {
    if (is_page_cut(file, tiff)) file->job->reached_end = true;
    return fail_by_library(file->job, file->words);
}

/// Looks where the other pages lie, and decodes none of them.
static bool are_others_there(File *file, TIFF *tiff) {
    while (!TIFFLastDirectory(tiff)) {
        file->words[0] = 0;
        if (!TIFFReadDirectory(tiff)) return fail_by_library(file->job, file->words);
        if (is_page_cut(file, tiff)) return fail(file->job, CSYNC_DECODER_TRUNCATED, "a page lies behind the file's end");
    }
    return true;
}

enum { UNTOLD = 0xffff };

typedef struct Page {
    uint32_t width;
    uint32_t height;
    uint16_t bits;
    uint16_t samples;
    uint16_t photometric;
    uint16_t planar;
    uint16_t format;
    uint16_t extra;
    bool has_alpha;
    bool is_premultiplied;
} Page;

static Page read_page(TIFF *tiff) {
    Page page = {0};
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &page.width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &page.height);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &page.bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &page.samples);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &page.planar);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &page.format);
    // libtiff guesses what is not told.
    if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &page.photometric)) page.photometric = UNTOLD;
    uint16_t *kinds;
    if (TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &page.extra, &kinds) && page.extra > 0) {
        page.has_alpha = kinds[0] != EXTRASAMPLE_UNSPECIFIED;
        page.is_premultiplied = kinds[0] == EXTRASAMPLE_ASSOCALPHA;
    }
    return page;
}

static bool is_lab(const Page *page) {
    return page->photometric == PHOTOMETRIC_CIELAB || page->photometric == PHOTOMETRIC_ICCLAB;
}

/// Gray, RGB or L*a*b*, in 8 or 16 bits, row by row.
static bool is_simple(TIFF *tiff, const Page *page) {
    bool is_gray = page->photometric == PHOTOMETRIC_MINISBLACK || page->photometric == PHOTOMETRIC_MINISWHITE;
    bool is_colour = page->photometric == PHOTOMETRIC_RGB || is_lab(page);
    int planes = page->samples - page->extra;
    return (!TIFFIsTiled(tiff) || is_lab(page)) && (page->planar == PLANARCONFIG_CONTIG || page->samples == 1)
        && (page->bits == 8 || page->bits == 16)
        && (page->format == SAMPLEFORMAT_UINT || (is_lab(page) && page->format == SAMPLEFORMAT_INT))
        && (is_gray ? planes == 1 : is_colour && planes == 3);
}

/// A page's rows, which lie in strips or in tiles.
typedef struct Rows {
    TIFF *tiff;
    int64_t bytes;  // of one
    int64_t tile_bytes;  // of a tile's; 0 for strips
    uint32_t count;  // that are read at once
    uint8_t *band;
    uint8_t *tile;
} Rows;

static bool begin_rows(File *file, TIFF *tiff, const Page *page, Rows *rows) {
    Job *job = file->job;
    *rows = (Rows){.tiff = tiff, .bytes = (int64_t)TIFFScanlineSize64(tiff), .count = 1};
    int64_t wanted = (int64_t)page->width * page->samples * (page->bits / 8);
    uint32_t width = 0;
    if (TIFFIsTiled(tiff)) {
        rows->tile_bytes = (int64_t)TIFFTileRowSize64(tiff);
        rows->bytes = wanted;
        if (!TIFFGetField(tiff, TIFFTAG_TILELENGTH, &rows->count) || !TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width)
            || rows->count == 0 || rows->tile_bytes < (int64_t)width * page->samples * (page->bits / 8)
            || rows->tile_bytes == 0) {
            return tiff_fails(file, tiff);
        }
        int64_t bytes = (int64_t)TIFFTileSize64(tiff);
        if (bytes < rows->tile_bytes * rows->count) return tiff_fails(file, tiff);
        rows->tile = take_memory(job, bytes);
        if (rows->tile == NULL) return false;
    }
    if (rows->bytes < wanted) return tiff_fails(file, tiff);
    int64_t all;
    if (__builtin_mul_overflow(rows->bytes, (int64_t)rows->count, &all)) all = INT64_MAX;
    rows->band = take_memory(job, all);
    return rows->band != NULL;
}

static void end_rows(Rows *rows) {
    free(rows->band);
    free(rows->tile);
}

/// NULL where libtiff fails. Rows are read in order.
static const void *read_row(File *file, Rows *rows, const Page *page, uint32_t y) {
    if (rows->tile_bytes == 0) {
        return TIFFReadScanline(rows->tiff, rows->band, y, 0) == 1 && file->words[0] == 0 ? rows->band : NULL;
    }
    for (int64_t at = 0; y % rows->count == 0 && at < rows->bytes; at += rows->tile_bytes) {
        uint32_t x = (uint32_t)(at / (page->samples * (page->bits / 8)));
        if (TIFFReadTile(rows->tiff, rows->tile, x, y, 0, 0) < 0 || file->words[0] != 0) return NULL;
        int64_t bytes = rows->bytes - at < rows->tile_bytes ? rows->bytes - at : rows->tile_bytes;
        for (int64_t row = 0; row < rows->count; row += 1) {
            memcpy(rows->band + row * rows->bytes + at, rows->tile + row * rows->tile_bytes, (size_t)bytes);
        }
    }
    return rows->band + (int64_t)(y % rows->count) * rows->bytes;
}

static uint8_t composed(unsigned sample, unsigned alpha, bool is_premultiplied) {
    unsigned share = is_premultiplied ? sample : (sample * alpha + 127) / 255;
    unsigned sum = share + 255 - alpha;
    return (uint8_t)(sum > 255 ? 255 : sum);
}

static unsigned sample_at(const void *row, size_t index, uint16_t bits) {
    return bits == 8 ? ((const uint8_t *)row)[index] : (((const uint16_t *)row)[index] * 255u + 32767) / 65535;
}

/// The samples of a pixel as sRGB (TIFF 6.0, 23; Photoshop TIFF Technical Notes, "ICCLAB").
static void take_lab(const LabSpace *space, const Page *page, const void *row, size_t at, uint8_t *rgb) {
    bool is_signed = page->photometric == PHOTOMETRIC_CIELAB;
    if (page->bits == 8) {
        const uint8_t *samples = (const uint8_t *)row + at;
        int red_green = is_signed ? (int8_t)samples[1] : samples[1] - 128;
        int yellow_blue = is_signed ? (int8_t)samples[2] : samples[2] - 128;
        lab_to_rgb(space, samples[0] * (100 / 255.0f), (float)red_green, (float)yellow_blue, rgb);
    } else {
        const uint16_t *samples = (const uint16_t *)row + at;
        int red_green = is_signed ? (int16_t)samples[1] : samples[1] - 0x8000;
        int yellow_blue = is_signed ? (int16_t)samples[2] : samples[2] - 0x8000;
        float most = is_signed ? 65535 : 65280;
        lab_to_rgb(space, (float)samples[0] * (100 / most), (float)red_green / 256, (float)yellow_blue / 256, rgb);
    }
}

static void take_pixels(const Page *page, const LabSpace *lab, const void *row, uint8_t *pixels) {
    size_t planes = page->photometric == PHOTOMETRIC_RGB || lab != NULL ? 3 : 1;
    for (size_t x = 0; x < page->width; x += 1) {
        size_t at = x * page->samples;
        uint8_t *pixel = pixels + x * planes;
        if (lab != NULL) take_lab(lab, page, row, at, pixel);
        unsigned alpha = page->has_alpha ? sample_at(row, at + planes, page->bits) : 255;
        for (size_t plane = 0; plane < planes; plane += 1) {
            unsigned sample = lab != NULL ? pixel[plane] : sample_at(row, at + plane, page->bits);
            if (page->photometric == PHOTOMETRIC_MINISWHITE) sample = 255 - sample;
            pixel[plane] = composed(sample, alpha, page->is_premultiplied);
        }
    }
}

static bool write_rows(File *file, TIFF *tiff, const Page *page) {
    Job *job = file->job;
    size_t planes = page->photometric == PHOTOMETRIC_RGB || is_lab(page) ? 3 : 1;
    if (!begin_samples(job, page->width, page->height, planes == 3 ? RGB : GRAY, 1, 1)) return false;
    LabSpace *lab = NULL;
    if (is_lab(page)) {
        float *white = NULL;
        TIFFGetFieldDefaulted(tiff, TIFFTAG_WHITEPOINT, &white);
        static const float d50[] = {0.3457f, 0.3585f};
        lab = begin_lab(job, white != NULL ? white : d50);
        if (lab == NULL) return false;
    }
    Rows rows;
    bool is_done = begin_rows(file, tiff, page, &rows);
    uint8_t *pixels = is_done ? take_memory(job, (int64_t)page->width * (int64_t)planes) : NULL;
    is_done = pixels != NULL;
    for (uint32_t y = 0; y < page->height && is_done; y += 1) {
        const void *row = read_row(file, &rows, page, y);
        if (row != NULL) take_pixels(page, lab, row, pixels);
        is_done = row != NULL ? write_pixels(job, (int32_t)y, pixels, false) : tiff_fails(file, tiff);
    }
    end_rows(&rows);
    free(pixels);
    free(lab);
    return is_done;
}

static bool write_raster(File *file, TIFFRGBAImage *image, const Page *page, uint32_t rows) {
    Job *job = file->job;
    bool is_gray = page->photometric == PHOTOMETRIC_MINISBLACK || page->photometric == PHOTOMETRIC_MINISWHITE;
    size_t planes = is_gray ? 1 : 3;
    if (!begin_samples(job, page->width, page->height, is_gray ? GRAY : RGB, 1, 1)) return false;
    uint32_t *raster = take_memory(job, (int64_t)page->width * rows * 4);
    uint8_t *pixels = take_memory(job, (int64_t)page->width * 3);
    bool is_done = raster != NULL && pixels != NULL;
    for (uint32_t y = 0; y < page->height && is_done; y += rows) {
        uint32_t count = page->height - y < rows ? page->height - y : rows;
        image->row_offset = (int)y;
        image->col_offset = 0;
        if (!TIFFRGBAImageGet(image, raster, page->width, count) || file->words[0] != 0) {
            is_done = tiff_fails(file, image->tif);
            break;
        }
        for (uint32_t row = 0; row < count && is_done; row += 1) {
            for (size_t x = 0; x < page->width; x += 1) {
                uint32_t pixel = raster[(size_t)row * page->width + x];
                unsigned alpha = TIFFGetA(pixel);
                pixels[x * planes] = composed(TIFFGetR(pixel), alpha, true);
                if (is_gray) continue;
                pixels[x * planes + 1] = composed(TIFFGetG(pixel), alpha, true);
                pixels[x * planes + 2] = composed(TIFFGetB(pixel), alpha, true);
            }
            is_done = write_pixels(job, (int32_t)(y + row), pixels, false);
        }
    }
    free(raster);
    free(pixels);
    return is_done;
}

static bool write_strips(File *file, TIFF *tiff, const Page *page) {
    Job *job = file->job;
    // What is not decoded is stored as it is, where it is all there.
    if (is_page_cut(file, tiff)) return fail(job, CSYNC_DECODER_TRUNCATED, "the file ends before its picture does");
    if (page->photometric == PHOTOMETRIC_SEPARATED) {
        return fail(job, CSYNC_DECODER_UNSUPPORTED, "inks (CMYK) instead of colours");
    }
    if (page->format == SAMPLEFORMAT_IEEEFP) {
        return fail(job, CSYNC_DECODER_UNSUPPORTED, "samples in floating point instead of whole numbers");
    }
    if (page->bits > 16) return fail(job, CSYNC_DECODER_UNSUPPORTED, "samples of %u bits", page->bits);
    char words[1024] = "";
    if (!TIFFRGBAImageOK(tiff, words)) {
        return fail(job, CSYNC_DECODER_UNSUPPORTED, "a kind of TIFF that is not decoded (%s)", words);
    }
    uint32_t rows = page->height;
    TIFFGetFieldDefaulted(tiff, TIFFIsTiled(tiff) ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &rows);
    if (rows == 0 || rows > page->height) rows = page->height;
    int64_t piece = (int64_t)(TIFFIsTiled(tiff) ? TIFFTileSize64(tiff) : TIFFStripSize64(tiff));
    if (!fits_in_memory(job, (int64_t)page->width * rows * 4 + piece)) return false;
    TIFFRGBAImage image;
    if (!TIFFRGBAImageBegin(&image, tiff, 1, words)) return fail(job, CSYNC_DECODER_UNSUPPORTED, "%s", words);
    // Rows as they lie: who shows the picture turns it.
    image.req_orientation = image.orientation;
    bool is_done = write_raster(file, &image, page, rows);
    TIFFRGBAImageEnd(&image);
    return is_done;
}

static bool decode_page(File *file, TIFF *tiff) {
    Job *job = file->job;
    Page page = read_page(tiff);
    if (!check_size(job, page.width, page.height)) return false;
    file->words[0] = 0;
    file->is_decoding = true;
    if (!(is_simple(tiff, &page) ? write_rows(file, tiff, &page) : write_strips(file, tiff, &page))) return false;
    file->is_decoding = false;

    uint16_t orientation = 1;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
    job->reply.orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
    if (page.bits > 8) job->reply.dropped |= CSYNC_DECODER_DROPPED_DEPTH;
    if (page.has_alpha) job->reply.dropped |= CSYNC_DECODER_DROPPED_ALPHA;
    uint32_t count;
    void *block;
    if (TIFFGetField(tiff, TIFFTAG_XMLPACKET, &count, &block)) job->reply.dropped |= CSYNC_DECODER_DROPPED_XMP;
    if (TIFFGetField(tiff, TIFFTAG_ICCPROFILE, &count, &block) && !write_icc(job, block, count)) return false;
    job->reply.pictures = TIFFNumberOfDirectories(tiff);
    // Larger or smaller pictures of a page; of a raw file that is called TIFF, what the sensor saw.
    uint16_t others = 0;
    void *offsets = NULL;
    if (TIFFGetField(tiff, TIFFTAG_SUBIFD, &others, &offsets) && others > 0) job->reply.pictures += others;
    return are_others_there(file, tiff);
}

bool decode_tiff(Job *job) {
    File file = {.job = job};
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    TIFFSetErrorHandlerExt(note_error);
    TIFFSetWarningHandlerExt(note_warning);
    // "m": the file is read, and not mapped.
    TIFF *tiff =
        TIFFClientOpen("picture", "rm", &file, read_bytes, write_bytes, seek_to, close_file, size_of, NULL, NULL);
    if (tiff == NULL) return fail_by_library(job, file.words);
    bool is_done = decode_page(&file, tiff);
    TIFFClose(tiff);
    return is_done;
}
