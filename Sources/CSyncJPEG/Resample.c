// A separable Lanczos filter over a stream of rows, in fixed point.
//
// Down first, then across: the vertical pass runs along whole rows, which the compiler turns into vector code, and
// leaves fewer rows for the horizontal one. Input samples are kept as sample << 7; the vertical pass takes the upper
// half of 16 × 16 bit products with Q14 weights (at an edge they go beyond 1), which leaves sample << 5 in 16 bits; the
// horizontal pass sums in 32 bits. Rows are padded to BLOCK samples, so that the loops have constant lengths.

#include "Internal.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64, LOBES = 3, WEIGHT_BITS = 14, ONE = 1 << WEIGHT_BITS };

static double lanczos(double x) {
    if (x == 0) {
        return 1;
    }
    if (x <= -LOBES || x >= LOBES) {
        return 0;
    }
    double t = x * M_PI;
    return LOBES * sin(t) * sin(t / LOBES) / (t * t);
}

static int16_t saturated(int value) {
    return (int16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

/// Weights of one output sample, normalised over those that lie inside, so that their sum is exactly ONE.
static void weigh(const Span *span, int index, int first, int taps, double *exact, int16_t *weights) {
    double stretch = span->scale > 1 ? span->scale : 1;
    double centre = (index + 0.5) * span->scale + span->offset;
    double sum = 0;
    for (int t = 0; t < taps; t++) {
        int at = first + t;
        exact[t] = at >= 0 && at < span->in ? lanczos((at + 0.5 - centre) / stretch) : 0;
        sum += exact[t];
    }
    if (sum <= 0) {
        sum = exact[0] = 1;
    }
    int left = ONE, largest = 0;
    for (int t = 0; t < taps; t++) {
        weights[t] = saturated((int)lrint(exact[t] / sum * ONE));
        left -= weights[t];
        if (weights[t] > weights[largest]) {
            largest = t;
        }
    }
    weights[largest] = saturated(weights[largest] + left);
}

static bool is_identity(const Span *span) {
    return span->scale == 1 && span->offset == 0;
}

static void filter_init(Filter *filter, Guard *guard, Arena *arena, const Span *span, int round_taps_to) {
    double support = LOBES * (span->scale > 1 ? span->scale : 1);
    int taps = (int)ceil(support) * 2 + 1;
    if (is_identity(span)) {
        taps = 1;
    }
    filter->taps = (taps + round_taps_to - 1) / round_taps_to * round_taps_to;
    filter->first = csj_arena_alloc(arena, guard, (size_t)span->out, sizeof *filter->first);
    filter->weights = csj_arena_alloc(arena, guard, (size_t)span->out * (size_t)filter->taps, sizeof *filter->weights);
    double *exact = csj_arena_alloc(arena, guard, (size_t)taps, sizeof *exact);
    for (int i = 0; i < span->out; i++) {
        double centre = (i + 0.5) * span->scale + span->offset;
        int first = taps == 1 ? i : (int)floor(centre - support);
        // Never in front of the first sample: what lies behind the last one is padding with weight 0.
        first = first < 0 ? 0 : first > span->in - 1 ? span->in - 1 : first;
        filter->first[i] = first;
        weigh(span, i, first, taps, exact, filter->weights + (size_t)i * (size_t)filter->taps);
    }
}

void csj_plane_init(Plane *plane, Guard *guard, Arena *arena, Span across, Span down) {
    plane->in_width = across.in;
    plane->in_height = down.in;
    plane->out_width = across.out;
    plane->out_height = down.out;
    filter_init(&plane->across, guard, arena, &across, 8);
    filter_init(&plane->down, guard, arena, &down, 1);
    plane->is_copy = is_identity(&across) && is_identity(&down) && across.out <= across.in;
    plane->ring_rows = plane->down.taps < down.in ? plane->down.taps : down.in;
    plane->ring_stride = (across.in + BLOCK - 1) / BLOCK * BLOCK;
    plane->ring = csj_arena_alloc(
        arena, guard, (size_t)plane->ring_rows * (size_t)plane->ring_stride, sizeof *plane->ring);
    plane->mixed = csj_arena_alloc(
        arena, guard, (size_t)plane->ring_stride + (size_t)plane->across.taps, sizeof *plane->mixed);
    plane->rows_in = plane->rows_out = 0;
}

void csj_plane_push(Plane *plane, const uint8_t *row) {
    int16_t *slot = plane->ring + (size_t)(plane->rows_in % plane->ring_rows) * (size_t)plane->ring_stride;
    for (int x = 0; x < plane->in_width; x++) {
        slot[x] = (int16_t)(row[x] << 7);
    }
    plane->rows_in++;
}

static inline int16_t high(int16_t a, int16_t b) {
    return (int16_t)(((int32_t)a * b) >> 16);
}

/// The weighted sum of `taps` rows into `mixed`.
static void mix_rows(const Plane *plane, int first, int taps, const int16_t *weights) {
    for (int x = 0; x < plane->ring_stride; x += BLOCK) {
        int16_t sum[BLOCK];
        // The upper half of a product is rounded down: half a unit is lost for each tap.
        for (int i = 0; i < BLOCK; i++) {
            sum[i] = (int16_t)(taps / 2);
        }
        int t = 0;
        for (; t + 4 <= taps; t += 4) {
            const int16_t *row[4];
            for (int r = 0; r < 4; r++) {
                row[r] = plane->ring + (size_t)((first + t + r) % plane->ring_rows) * (size_t)plane->ring_stride + x;
            }
            const int16_t a = weights[t], b = weights[t + 1], c = weights[t + 2], d = weights[t + 3];
            for (int i = 0; i < BLOCK; i++) {
                sum[i] += high(row[0][i], a) + high(row[1][i], b) + high(row[2][i], c) + high(row[3][i], d);
            }
        }
        for (; t < taps; t++) {
            const int16_t *row =
                plane->ring + (size_t)((first + t) % plane->ring_rows) * (size_t)plane->ring_stride + x;
            const int16_t a = weights[t];
            for (int i = 0; i < BLOCK; i++) {
                sum[i] += high(row[i], a);
            }
        }
        memcpy(plane->mixed + x, sum, sizeof sum);
    }
}

static inline uint8_t clamped(int32_t sum) {
    const int BITS = 5 + WEIGHT_BITS;
    int32_t value = (sum + (1 << (BITS - 1))) >> BITS;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/// `taps` is a constant in each of its calls, so that the inner loop is unrolled into vector code.
static inline __attribute__((always_inline)) void filter_row(const Plane *plane, uint8_t *row, int taps) {
    for (int x = 0; x < plane->out_width; x++) {
        const int16_t *sample = plane->mixed + plane->across.first[x];
        const int16_t *weight = plane->across.weights + (size_t)x * (size_t)taps;
        int32_t sum = 0;
        for (int t = 0; t < taps; t++) {
            sum += sample[t] * weight[t];
        }
        row[x] = clamped(sum);
    }
}

bool csj_plane_pull(Plane *plane, uint8_t *row) {
    if (plane->rows_out >= plane->out_height) {
        return false;
    }
    int first = plane->down.first[plane->rows_out];
    int taps = plane->in_height - first < plane->down.taps ? plane->in_height - first : plane->down.taps;
    if (first + taps > plane->rows_in) {
        return false;
    }
    if (plane->is_copy) {
        const int16_t *sample = plane->ring + (size_t)(first % plane->ring_rows) * (size_t)plane->ring_stride;
        for (int x = 0; x < plane->out_width; x++) {
            row[x] = (uint8_t)(sample[x] >> 7);
        }
        plane->rows_out++;
        return true;
    }
    mix_rows(plane, first, taps, plane->down.weights + (size_t)plane->rows_out * (size_t)plane->down.taps);
    switch (plane->across.taps) {
    case 8:
        filter_row(plane, row, 8);
        break;
    case 16:
        filter_row(plane, row, 16);
        break;
    case 24:
        filter_row(plane, row, 24);
        break;
    default:
        filter_row(plane, row, plane->across.taps);
    }
    plane->rows_out++;
    return true;
}
