// ssim A.ppm B.ppm: the mean structural similarity of two binary PPMs' luma, over windows of 8 × 8 (Wang et al., 2004).

#include <stdio.h>
#include <stdlib.h>

typedef struct Picture {
    int width, height;
    double *luma;
} Picture;

static Picture load(const char *path) {
    Picture picture;
    int maximum;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fscanf(file, "P6 %d %d %d", &picture.width, &picture.height, &maximum) != 3) {
        fprintf(stderr, "%s: no binary PPM\n", path);
        exit(1);
    }
    fgetc(file);
    size_t count = (size_t)picture.width * (size_t)picture.height;
    unsigned char *pixels = malloc(count * 3);
    picture.luma = malloc(count * sizeof(double));
    if (pixels == NULL || picture.luma == NULL || fread(pixels, 3, count, file) != count) {
        fprintf(stderr, "%s: too short\n", path);
        exit(1);
    }
    for (size_t i = 0; i < count; i++) {
        picture.luma[i] = 0.299 * pixels[3 * i] + 0.587 * pixels[3 * i + 1] + 0.114 * pixels[3 * i + 2];
    }
    free(pixels);
    fclose(file);
    return picture;
}

static double window(const Picture *a, const Picture *b, int left, int top) {
    enum { SIDE = 8, COUNT = SIDE * SIDE };
    const double c1 = 6.5025, c2 = 58.5225;
    double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
    for (int y = top; y < top + SIDE; y++) {
        for (int x = left; x < left + SIDE; x++) {
            double va = a->luma[(size_t)y * (size_t)a->width + (size_t)x];
            double vb = b->luma[(size_t)y * (size_t)b->width + (size_t)x];
            sa += va, sb += vb, saa += va * va, sbb += vb * vb, sab += va * vb;
        }
    }
    double ma = sa / COUNT, mb = sb / COUNT;
    double va = saa / COUNT - ma * ma, vb = sbb / COUNT - mb * mb, vab = sab / COUNT - ma * mb;
    return (2 * ma * mb + c1) * (2 * vab + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: ssim A.ppm B.ppm\n");
        return 64;
    }
    Picture a = load(arguments[1]), b = load(arguments[2]);
    if (a.width != b.width || a.height != b.height) {
        fprintf(stderr, "%d x %d and %d x %d differ\n", a.width, a.height, b.width, b.height);
        return 1;
    }
    double sum = 0, windows = 0;
    for (int y = 0; y + 8 <= a.height; y++) {
        for (int x = 0; x + 8 <= a.width; x++) {
            sum += window(&a, &b, x, y);
            windows++;
        }
    }
    printf("%.4f\n", sum / windows);
    return 0;
}
