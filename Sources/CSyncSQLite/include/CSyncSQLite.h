#ifndef CSYNCSQLITE_H
#define CSYNCSQLITE_H

#include <stdbool.h>
#include <stdint.h>

// What GRDB does not give: what is set for the whole process, by a variadic function, and values as SQLite has them.
//
// A program that links this has SQLite configured from its start
// (https://www.sqlite.org/c3ref/c_config_covering_index_scan.html):
//
// - No cache allocates its first pages in one block (SQLITE_CONFIG_PAGECACHE). A block of 20 pages pays for a connection,
//   and not for the tables of a few rows that a statement makes for itself: each `IN` with a list has one, also in the
//   condition of an index or a trigger, and 88 KB were taken from the system and given back for each.
// - Nobody counts what SQLite has allocated (SQLITE_CONFIG_MEMSTATUS): nothing here asks for that, and a lock of the whole
//   process around each piece of memory is a seventh of what it takes to read the schema and to prepare statements.
// - What one statement may have to take back stays in memory up to 127 KiB (SQLITE_CONFIG_STMTJRNL_SPILL), and not only
//   up to 64. An object with its indexes and triggers changes more than 16 pages, if seldom; and from the first such
//   statement on, each one of the transaction writes the pages that it changes to a temporary file, too. So does one
//   that changes more than 31 pages.

/// The bytes of a column in the row at which a statement (`sqlite3_stmt *`) stands: of a TEXT in UTF-8, without an end
/// (https://www.sqlite.org/c3ref/column_blob.html).
///
/// They are SQLite's, until the statement's next step or reset. Returns NULL for NULL and for an empty value. For the
/// thread that has the connection.
const void *_Nullable CSyncSQLite_ColumnBytes(void *_Nonnull statement, int column, int *_Nonnull count);

/// Takes the function away that a connection (`sqlite3 *`) asks about all that a statement reads and writes as it prepares it
/// (https://www.sqlite.org/c3ref/set_authorizer.html). For the thread that has the connection.
void CSyncSQLite_RemoveAuthorizer(void *_Nonnull connection);

/// The number in a column of that row; 0 for NULL. For the thread that has the connection, as the next one.
int64_t CSyncSQLite_ColumnInteger(void *_Nonnull statement, int column);

/// Whether nothing is in it. To be asked before its bytes are: those of a number make a text of it.
bool CSyncSQLite_ColumnIsNull(void *_Nonnull statement, int column);

#endif
