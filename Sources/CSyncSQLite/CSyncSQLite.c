#include "CSyncSQLite.h"

#include <sqlite3.h>

int CSyncSQLite_AllocatePagesSingly(void) {
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}
