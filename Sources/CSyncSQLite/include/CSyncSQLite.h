#ifndef CSYNCSQLITE_H
#define CSYNCSQLITE_H

// What is set for the whole process before SQLite is used (https://www.sqlite.org/c3ref/c_config_covering_index_scan.html),
// by a variadic function.

/// No cache allocates its first pages in one block (SQLITE_CONFIG_PAGECACHE).
///
/// A block of 20 pages pays for a connection, and not for the tables of a few rows that a statement makes for itself: each
/// `IN` with a list has one, also in the condition of an index or a trigger, and 88 KB were taken from the system and given
/// back for each. Returns SQLITE_OK, or SQLITE_MISUSE when SQLite is in use already.
int CSyncSQLite_AllocatePagesSingly(void);

#endif
