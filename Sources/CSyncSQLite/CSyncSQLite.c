#include "CSyncSQLite.h"

#include <sqlite3.h>

int CSyncSQLite_AllocatePagesSingly(void) {
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}

const void *CSyncSQLite_ColumnBytes(void *statement, int column, int *count) {
    // In this order: the length is that of the form that was asked for last.
    const void *bytes = sqlite3_column_blob(statement, column);
    *count = sqlite3_column_bytes(statement, column);
    return bytes;
}
