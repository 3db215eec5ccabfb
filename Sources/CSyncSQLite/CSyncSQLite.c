#include "CSyncSQLite.h"

#include <sqlite3.h>

// Settings of the whole process, which SQLite takes before its first use only: so they are made when the program is loaded.
__attribute__((constructor)) static void configure(void) {
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    // Not one KiB more: it is written at once, and SQLite can write no more than 131,071 bytes so (seekAndWriteFd()).
    // Beyond that, each statement that has to write it fails, as if the disk were full.
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, 127 * 1024);
}

const void *CSyncSQLite_ColumnBytes(void *statement, int column, int *count) {
    // Taken once, the value is asked without a look for the column, its lock and its errors each time. That is for one
    // thread only (https://www.sqlite.org/c3ref/column_blob.html): the one that has the connection.
    sqlite3_value *value = sqlite3_column_value(statement, column);
    // In this order: the length is that of the form that was asked for last.
    const void *bytes = sqlite3_value_blob(value);
    *count = sqlite3_value_bytes(value);
    return bytes;
}

void CSyncSQLite_RemoveAuthorizer(void *connection) {
    (void)sqlite3_set_authorizer(connection, (void *)0, (void *)0);
}

int64_t CSyncSQLite_ColumnInteger(void *statement, int column) { return sqlite3_column_int64(statement, column); }

bool CSyncSQLite_ColumnIsNull(void *statement, int column) {
    return sqlite3_column_type(statement, column) == SQLITE_NULL;
}
