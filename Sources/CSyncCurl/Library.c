#include "Library.h"

#include <CSyncLibrary.h>

#define FUNCTIONS(F) \
    F(curl_easy_cleanup) \
    F(curl_easy_getinfo) \
    F(curl_easy_init) \
    F(curl_easy_setopt) \
    F(curl_easy_strerror) \
    F(curl_global_init) \
    F(curl_multi_add_handle) \
    F(curl_multi_cleanup) \
    F(curl_multi_info_read) \
    F(curl_multi_init) \
    F(curl_multi_perform) \
    F(curl_multi_poll) \
    F(curl_multi_remove_handle) \
    F(curl_multi_setopt) \
    F(curl_multi_wakeup) \
    F(curl_slist_append) \
    F(curl_slist_free_all)

FUNCTIONS(CSYNC_LIBRARY_FUNCTION)

CSYNC_LIBRARY_NOTE("libcurl.so.4")

const char *CSyncCurl_OpenLibrary(void) {
    static const CSyncLibrary_Function functions[] = {FUNCTIONS(CSYNC_LIBRARY_ROW)};
    static const CSyncLibrary_Needs needs = {"libcurl.so.4", functions, sizeof functions / sizeof *functions};
    return CSyncLibrary_Open(&needs);
}
