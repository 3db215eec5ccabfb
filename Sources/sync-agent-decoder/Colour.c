// Levels, YCbCr as a JPEG has it, sRGB of L*a*b*, and profiles for colours that a file only numbers.

#include "Decoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// JFIF: full range, BT.601, in units of 1/65536.

static uint8_t luma(int red, int green, int blue) {
    return (uint8_t)((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
}

/// Of sums over 1 << `shift` pixels. The middle is 128, so that nothing is below 0.
static uint8_t chroma(int red, int green, int blue, int shift) {
    int value = (red + green + blue + (128 << (16 + shift)) + (1 << (15 + shift))) >> (16 + shift);
    return (uint8_t)(value > 255 ? 255 : value);
}

// The compiler makes both loops of vectors, where it may multiply them: x86-64 has that since 2013, and not in its baseline.
#if defined(__x86_64__)
#define VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define VECTORS
#endif

VECTORS
static void take_luma(const RGBRow *from, size_t width, uint8_t *restrict out) {
    for (size_t x = 0; x < width; x += 1) out[x] = luma(from->red[x], from->green[x], from->blue[x]);
}

/// Of whole pairs of pixels, in two rows.
VECTORS
static void take_chroma(
    const RGBRow *upper, const RGBRow *lower, size_t pairs, uint8_t *restrict cb, uint8_t *restrict cr) {
    for (size_t pair = 0; pair < pairs; pair += 1) {
        size_t x = 2 * pair;
        int red = upper->red[x] + upper->red[x + 1] + lower->red[x] + lower->red[x + 1];
        int green = upper->green[x] + upper->green[x + 1] + lower->green[x] + lower->green[x + 1];
        int blue = upper->blue[x] + upper->blue[x + 1] + lower->blue[x] + lower->blue[x + 1];
        cb[pair] = chroma(-11059 * red, -21709 * green, 32768 * blue, 2);
        cr[pair] = chroma(32768 * red, -27439 * green, -5329 * blue, 2);
    }
}

bool write_as_ycbcr(Job *job, int32_t row, const RGBRow *rgb, int rows) {
    size_t width = (size_t)job->reply.width;
    uint8_t *out = job->row;
    for (int index = 0; index < rows; index += 1) {
        take_luma(&rgb[index], width, out);
        if (!write_row(job, 0, row + index, out)) return false;
    }
    uint8_t *cb = out;
    uint8_t *cr = out + width;
    // The last column and the last row stand for those that are not there.
    const RGBRow *lower = &rgb[rows - 1];
    take_chroma(rgb, lower, width / 2, cb, cr);
    if (width % 2 == 1) {
        size_t x = width - 1;
        int red = 2 * (rgb->red[x] + lower->red[x]);
        int green = 2 * (rgb->green[x] + lower->green[x]);
        int blue = 2 * (rgb->blue[x] + lower->blue[x]);
        cb[x / 2] = chroma(-11059 * red, -21709 * green, 32768 * blue, 2);
        cr[x / 2] = chroma(32768 * red, -27439 * green, -5329 * blue, 2);
    }
    int32_t chroma_row = row / job->reply.vertical;
    return write_row(job, 1, chroma_row, cb) && write_row(job, 2, chroma_row, cr);
}

static void replace(uint8_t *samples, size_t count, int zero, int range, int middle) {
    uint8_t table[256];
    for (int level = 0; level < 256; level += 1) {
        int distance = (level - zero) * 255;
        int value = middle + (distance + (distance < 0 ? -range / 2 : range / 2)) / range;
        table[level] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
    for (size_t index = 0; index < count; index += 1) samples[index] = table[samples[index]];
}

void to_full_range(uint8_t *samples, size_t count) { replace(samples, count, 16, 219, 0); }

void chroma_to_full_range(uint8_t *samples, size_t count) { replace(samples, count, 128, 224, 128); }

// MARK: L*a*b* (CIE 15), by way of XYZ with the white of sRGB (Bradford)

enum { LEVELS = 16384 };

struct LabSpace {
    /// Of what the three functions of L*a*b* give, light of sRGB.
    float light[3][3];
    /// Samples of sRGB (IEC 61966-2-1), by their light.
    uint8_t samples[LEVELS + 1];
};

static void multiply(const double left[3][3], const double right[3][3], double product[3][3]) {
    for (size_t row = 0; row < 3; row += 1) {
        for (size_t column = 0; column < 3; column += 1) {
            product[row][column] = 0;
            for (size_t index = 0; index < 3; index += 1) product[row][column] += left[row][index] * right[index][column];
        }
    }
}

LabSpace *begin_lab(Job *job, const float *white) {
    static const double to_cones[3][3] = {{0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}};
    static const double from_cones[3][3] = {
        {0.9869929, -0.1470543, 0.1599627}, {0.4323053, 0.5183603, 0.0492912}, {-0.0085287, 0.0400428, 0.9684867}};
    static const double to_srgb[3][3] = {
        {3.2404542, -1.5371385, -0.4985314}, {-0.9692660, 1.8760108, 0.0415560}, {0.0556434, -0.2040259, 1.0572252}};
    static const double d65[3] = {0.95047, 1, 1.08883};
    bool is_white = white[0] > 0.01f && white[1] > 0.01f && white[0] + white[1] < 1;
    double x = is_white ? (double)white[0] : 0.3127;
    double y = is_white ? (double)white[1] : 0.3290;
    double from[3] = {x / y, 1, (1 - x - y) / y};
    double scale[3][3] = {{0}};
    double part[3][3];
    double whole[3][3];
    for (size_t cone = 0; cone < 3; cone += 1) {
        double before = 0;
        double after = 0;
        for (size_t index = 0; index < 3; index += 1) {
            before += to_cones[cone][index] * from[index];
            after += to_cones[cone][index] * d65[index];
        }
        scale[cone][cone] = after / before;
    }
    multiply(scale, to_cones, part);
    multiply(from_cones, part, whole);
    multiply(to_srgb, whole, part);
    LabSpace *space = take_memory(job, sizeof *space);
    if (space == NULL) return NULL;
    for (size_t row = 0; row < 3; row += 1) {
        for (size_t column = 0; column < 3; column += 1) space->light[row][column] = (float)(part[row][column] * from[column]);
    }
    for (int level = 0; level <= LEVELS; level += 1) {
        double light = (double)level / LEVELS;
        double sample = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
        space->samples[level] = (uint8_t)lround(sample * 255);
    }
    return space;
}

/// The inverse of the function of L*a*b*.
static float inverse(float value) {
    return value > 6 / 29.0f ? value * value * value : 3 * (6 / 29.0f) * (6 / 29.0f) * (value - 4 / 29.0f);
}

void lab_to_rgb(const LabSpace *space, float lightness, float red_green, float yellow_blue, uint8_t *rgb) {
    float middle = (lightness + 16) / 116;
    float parts[3] = {inverse(middle + red_green / 500), inverse(middle), inverse(middle - yellow_blue / 200)};
    for (size_t plane = 0; plane < 3; plane += 1) {
        const float *by = space->light[plane];
        float light = by[0] * parts[0] + by[1] * parts[1] + by[2] * parts[2];
        rgb[plane] = space->samples[light <= 0 ? 0 : light >= 1 ? LEVELS : (int)(light * LEVELS + 0.5f)];
    }
}

// MARK: Profiles (ICC.1:2022)

typedef struct Profile {
    uint8_t bytes[640];
    size_t count;
    int tags;
} Profile;

static void put(Profile *profile, size_t at, uint32_t value) {
    for (size_t index = 0; index < 4; index += 1) profile->bytes[at + index] = (uint8_t)(value >> (24 - 8 * index));
}

static void append(Profile *profile, uint32_t value) {
    put(profile, profile->count, value);
    profile->count += 4;
}

static void append_name(Profile *profile, const char *name) {
    memcpy(profile->bytes + profile->count, name, 4);
    profile->count += 4;
}

/// A fraction with 16 bits behind the point.
static void append_fixed(Profile *profile, double value) {
    append(profile, (uint32_t)(int32_t)lround(value * 65536));
}

enum { HEADER = 128, TAGS = 10, ENTRY = 12 };

/// The data that follows is that of `name`.
static void begin_tag(Profile *profile, const char *name) {
    size_t at = HEADER + 4 + (size_t)profile->tags * ENTRY;
    memcpy(profile->bytes + at, name, 4);
    put(profile, at + 4, (uint32_t)profile->count);
    profile->tags += 1;
}

static void end_tag(Profile *profile) {
    size_t at = HEADER + 4 + (size_t)(profile->tags - 1) * ENTRY;
    uint32_t begin = (uint32_t)(
        (unsigned)profile->bytes[at + 4] << 24 | profile->bytes[at + 5] << 16 | profile->bytes[at + 6] << 8
        | profile->bytes[at + 7]);
    put(profile, at + 8, (uint32_t)profile->count - begin);
    profile->count = (profile->count + 3) & ~(size_t)3;
}

static void add_text(Profile *profile, const char *name, const char *text) {
    begin_tag(profile, name);
    append_name(profile, "mluc");
    append(profile, 0);
    append(profile, 1);
    append(profile, 12);
    append_name(profile, "enUS");
    append(profile, (uint32_t)(2 * strlen(text)));
    append(profile, 28);
    for (; *text != 0; text += 1) {
        profile->bytes[profile->count + 1] = (uint8_t)*text;
        profile->count += 2;
    }
    end_tag(profile);
}

static void add_numbers(Profile *profile, const char *name, const char *type, const double *numbers, int count) {
    begin_tag(profile, name);
    append_name(profile, type);
    append(profile, 0);
    for (int index = 0; index < count; index += 1) append_fixed(profile, numbers[index]);
    end_tag(profile);
}

static void add_curve(Profile *profile, const char *name, double gamma) {
    // sRGB: IEC 61966-2-1.
    static const double srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    begin_tag(profile, name);
    append_name(profile, "para");
    append(profile, 0);
    append(profile, gamma > 0 ? 0 : 3 << 16);
    for (int index = 0; index < (gamma > 0 ? 1 : 5); index += 1) append_fixed(profile, gamma > 0 ? gamma : srgb[index]);
    end_tag(profile);
}

/// Primaries in XYZ, adapted to D50 (Bradford), for D65.
typedef struct Primaries {
    int number;
    const char *name;
    double red[3], green[3], blue[3];
} Primaries;

static const Primaries wide[] = {
    {12, "Display P3", {0.515102, 0.241182, -0.001050}, {0.291965, 0.692236, 0.041885}, {0.157153, 0.066582, 0.784378}},
    {9, "BT.2020", {0.673459, 0.279033, -0.001935}, {0.165661, 0.675338, 0.029989}, {0.125100, 0.045629, 0.797162}},
    {1, "sRGB", {0.436075, 0.222504, 0.013932}, {0.385065, 0.716879, 0.097105}, {0.143080, 0.060617, 0.714173}},
};

static double gamma_of(int transfer) {
    switch (transfer) {
    case 4: return 2.2;
    case 5: return 2.8;
    case 8: return 1;
    // BT.709 and its like are shown as sRGB is.
    default: return 0;
    }
}

bool write_profile_of(Job *job, int primaries, int transfer) {
    double gamma = gamma_of(transfer);
    const Primaries *found = NULL;
    for (size_t index = 0; index < sizeof wide / sizeof *wide; index += 1) {
        // What is not named is taken for sRGB, and so are the primaries of television, which are near.
        if (wide[index].number == primaries || wide[index].number == 1) {
            found = &wide[index];
            break;
        }
    }
    if (found->number == 1 && gamma == 0) return true;
    static const double white[] = {0.9642, 1, 0.8249};
    static const double from_d65[] = {
        1.047886, 0.022919, -0.050216, 0.029582, 0.990484, -0.017079, -0.009252, 0.015073, 0.751678};
    Profile profile = {.count = HEADER + 4 + TAGS * ENTRY};
    add_text(&profile, "desc", found->name);
    add_text(&profile, "cprt", "CC0");
    add_numbers(&profile, "wtpt", "XYZ ", white, 3);
    add_numbers(&profile, "chad", "sf32", from_d65, 9);
    add_numbers(&profile, "rXYZ", "XYZ ", found->red, 3);
    add_numbers(&profile, "gXYZ", "XYZ ", found->green, 3);
    add_numbers(&profile, "bXYZ", "XYZ ", found->blue, 3);
    add_curve(&profile, "rTRC", gamma);
    // One curve for all: three entries of the table, and the same data.
    size_t entry = HEADER + 4 + (size_t)(profile.tags - 1) * ENTRY;
    static const char *const names[] = {"gTRC", "bTRC"};
    for (size_t index = 0; index < 2; index += 1) {
        uint8_t *next = profile.bytes + entry + (index + 1) * ENTRY;
        memcpy(next, profile.bytes + entry, ENTRY);
        memcpy(next, names[index], 4);
    }
    put(&profile, 0, (uint32_t)profile.count);
    put(&profile, 8, 0x04300000);
    memcpy(profile.bytes + 12, "mntrRGB XYZ ", 12);
    static const uint8_t date[] = {0x07, 0xea, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0};
    memcpy(profile.bytes + 24, date, sizeof date);
    memcpy(profile.bytes + 36, "acsp", 4);
    for (size_t index = 0; index < 3; index += 1) {
        put(&profile, 68 + 4 * index, (uint32_t)lround(white[index] * 65536));
    }
    put(&profile, HEADER, TAGS);
    return write_icc(job, profile.bytes, profile.count);
}

bool require_sdr(Job *job, int transfer) {
    enum { PQ = 16, HLG = 18 };
    if (transfer != PQ && transfer != HLG) return true;
    const char *name = transfer == PQ ? "PQ" : "HLG";
    return fail(job, CSYNC_DECODER_UNSUPPORTED, "an HDR picture (%s), of which no SDR copy is made", name);
}
