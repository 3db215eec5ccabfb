/// What tells one state of a file from another without reading it (statx(2)). Equal stamps: nobody touched the file.
///
/// Size and modification time alone do not promise that: `cp -p` and `exiftool -P` set the time back, and a new file may
/// get the inode of a removed one. The kernel's own time of the last change cannot be set back by any program. It also
/// moves for what is no change of the content (a rename, a link, other permissions): the file is read again, and that
/// costs nothing else.
package struct FileStamp: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    /// Bytes.
    package var size: Int64
    /// Modification time, nanoseconds since 1970. It is finer than the clock tick, and stays so in the ledger.
    package var modified: Int64
    /// When content, name, links or attributes changed last (ctime), nanoseconds since 1970; `nil` where an older ledger
    /// did not note it.
    package var changed: Int64?
    /// When the file was made (btime), nanoseconds since 1970; `nil` where the file system does not tell, or an older
    /// ledger did not note it.
    package var born: Int64?

    package init(
        device: UInt64, inode: UInt64, size: Int64, modified: Int64, changed: Int64? = nil, born: Int64? = nil
    ) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
        self.born = born
    }

    /// Whether this is what `earlier` was, as far as that one knows: stamps of older ledgers lack the last two times.
    package func isUntouched(since earlier: FileStamp) -> Bool {
        isLike(earlier) && (earlier.changed == nil || changed == earlier.changed)
            && (earlier.born == nil || born == earlier.born)
    }

    /// Whether this is the same file with the same content, though it got another name. For places where that is our own
    /// doing, or is going to be proved by reading: a rewrite that sets the modification time back looks the same.
    package func isRenamed(from other: FileStamp) -> Bool {
        isLike(other) && born == other.born
    }

    private func isLike(_ other: FileStamp) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified && device == other.device
    }
}
