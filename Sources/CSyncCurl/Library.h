#ifndef CSYNCCURL_LIBRARY_H
#define CSYNCCURL_LIBRARY_H

#ifdef __cplusplus
extern "C" {
#endif

/// To be called before any function of the library. NULL when it is open, else what is missing.
__attribute__((visibility("hidden"))) const char *_Nullable CSyncCurl_OpenLibrary(void);

#ifdef __cplusplus
}
#endif

#endif
