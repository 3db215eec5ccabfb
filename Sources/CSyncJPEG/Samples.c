// Pictures that another decoder has decoded: their planes, read by bands.

#include "Internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int divided_up(int value, int step) {
    return (value + step - 1) / step;
}

static void add_plane(CSyncJPEG_Reader *reader, int across, int down, off_t *offset) {
    Samples *samples = &reader->samples;
    int i = samples->planes++;
    samples->across[i] = across;
    samples->down[i] = down;
    samples->width[i] = divided_up(reader->info.width, across);
    samples->height[i] = divided_up(reader->info.height, down);
    samples->offset[i] = *offset;
    samples->band[i] =
        csj_arena_alloc(&reader->arena, &reader->guard, (size_t)BAND_ROWS / (size_t)down, (size_t)samples->width[i]);
    *offset += (off_t)samples->width[i] * samples->height[i];
}

static bool is_subsampling(const CSyncJPEG_Samples *given) {
    int most = given->colour == CSYNC_JPEG_YCBCR ? 2 : 1;
    return given->across >= 1 && given->across <= most && given->down >= 1 && given->down <= most;
}

void csj_samples_init(CSyncJPEG_Reader *reader, int descriptor, const CSyncJPEG_Samples *given) {
    bool is_gray = given->colour == CSYNC_JPEG_GRAY;
    bool is_rgb = given->colour == CSYNC_JPEG_RGB;
    if (given->width < 1 || given->height < 1 || given->offset < 0 || !is_subsampling(given)
        || !(is_gray || is_rgb || given->colour == CSYNC_JPEG_YCBCR)) {
        csj_fail(&reader->guard, CSYNC_JPEG_INTERNAL, 0, "samples of an unknown kind");
    }
    reader->has_samples = true;
    reader->samples.descriptor = descriptor;
    reader->samples.is_rgb = is_rgb;
    reader->info.width = given->width;
    reader->info.height = given->height;
    reader->info.components = is_gray ? 1 : 3;
    reader->info.colour = is_gray ? CSYNC_JPEG_GRAY : CSYNC_JPEG_YCBCR;
    reader->decoder.num_components = reader->info.components;
    reader->decoder.jpeg_color_space = is_gray ? JCS_GRAYSCALE : JCS_YCbCr;
    for (int i = 0; i < reader->info.components; i++) {
        reader->info.horizontal[i] = i == 0 ? given->across : 1;
        reader->info.vertical[i] = i == 0 ? given->down : 1;
    }
    off_t offset = given->offset;
    add_plane(reader, 1, 1, &offset);
    for (int i = 1; i < reader->info.components; i++) {
        add_plane(reader, given->across, given->down, &offset);
    }
    if (given->icc != NULL) {
        csj_markers_keep_icc(reader, given->icc, given->icc_count);
    }
}

static void read_exactly(CSyncJPEG_Reader *reader, uint8_t *bytes, size_t count, off_t offset) {
    while (count > 0) {
        ssize_t got = pread(reader->samples.descriptor, bytes, count, offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            int error = errno;
            csj_fail(&reader->guard, CSYNC_JPEG_READ_FAILED, error, "read: %s", strerror(error));
        }
        if (got == 0) {
            csj_fail(&reader->guard, CSYNC_JPEG_TRUNCATED, 0, "fewer samples than the picture has");
        }
        bytes += got;
        count -= (size_t)got;
        offset += got;
    }
}

static uint8_t clamped(int value) {
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/// RGB in three planes to YCbCr in the same (ITU-T T.871, 7), in Q16 fixed point.
static void convert(uint8_t *red, uint8_t *green, uint8_t *blue, size_t count) {
    enum { HALF = 1 << 15, CENTRE = 128 << 16 };
    for (size_t i = 0; i < count; i++) {
        int r = red[i], g = green[i], b = blue[i];
        red[i] = clamped((19595 * r + 38470 * g + 7471 * b + HALF) >> 16);
        green[i] = clamped((-11059 * r - 21709 * g + 32768 * b + CENTRE + HALF) >> 16);
        blue[i] = clamped((32768 * r - 27439 * g - 5329 * b + CENTRE + HALF) >> 16);
    }
}

void csj_samples_read(CSyncJPEG_Reader *reader, int row) {
    Samples *samples = &reader->samples;
    for (int i = 0; i < samples->planes; i++) {
        int first = row / samples->down[i];
        int rows = BAND_ROWS / samples->down[i];
        int left = samples->height[i] - first;
        size_t width = (size_t)samples->width[i];
        read_exactly(
            reader, samples->band[i], (size_t)(left < rows ? left : rows) * width,
            samples->offset[i] + (off_t)first * (off_t)width);
    }
    if (samples->is_rgb) {
        convert(
            samples->band[0], samples->band[1], samples->band[2], (size_t)BAND_ROWS * (size_t)samples->width[0]);
    }
}
