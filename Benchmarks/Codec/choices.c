// Other choices for the codec's encoder, for scripts/bench-codec --choices: linked with -Wl,--wrap=jpeg_start_compress, it is
// called in place of libjpeg when the codec has made all of its own. The environment says what is chosen instead:
//
//   CHOICE_TABLES    a file of 128 numbers from 1 to 255, row by row: the quantisation tables of luma and chroma
//   CHOICE_CODING    optimized (Huffman tables), progressive (libjpeg's script) or few (scans, a shorter one)

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

void __real_jpeg_start_compress(j_compress_ptr encoder, boolean all_tables);
void __wrap_jpeg_start_compress(j_compress_ptr encoder, boolean all_tables);

static void set_tables(j_compress_ptr encoder, const char *path) {
    unsigned table[DCTSIZE2];
    FILE *file = fopen(path, "r");
    for (int slot = 0; slot < 2; slot++) {
        for (int i = 0; i < DCTSIZE2; i++) {
            if (file == NULL || fscanf(file, "%u", &table[i]) != 1) {
                fprintf(stderr, "%s: no two tables\n", path);
                exit(1);
            }
        }
        jpeg_add_quant_table(encoder, slot, table, 100, TRUE);
    }
    fclose(file);
}

/// Luma in two passes, the second one for its last bit; all else in one.
static void set_few_scans(j_compress_ptr encoder) {
    static jpeg_scan_info scans[MAX_COMPONENTS + 2];
    int count = 1;
    scans[0].comps_in_scan = encoder->num_components;
    for (int i = 0; i < encoder->num_components; i++) {
        scans[0].component_index[i] = i;
        scans[count++] = (jpeg_scan_info){.comps_in_scan = 1, .component_index = {i}, .Ss = 1, .Se = 63, .Al = i == 0};
    }
    scans[count++] = (jpeg_scan_info){.comps_in_scan = 1, .Ss = 1, .Se = 63, .Ah = 1};
    encoder->scan_info = scans;
    encoder->num_scans = count;
}

void __wrap_jpeg_start_compress(j_compress_ptr encoder, boolean all_tables) {
    const char *tables = getenv("CHOICE_TABLES"), *coding = getenv("CHOICE_CODING");
    if (tables != NULL) {
        set_tables(encoder, tables);
    }
    if (coding != NULL && strcmp(coding, "optimized") == 0) {
        encoder->optimize_coding = TRUE;
    } else if (coding != NULL && strcmp(coding, "progressive") == 0) {
        jpeg_simple_progression(encoder);
    } else if (coding != NULL && strcmp(coding, "few") == 0) {
        set_few_scans(encoder);
    }
    __real_jpeg_start_compress(encoder, all_tables);
}
