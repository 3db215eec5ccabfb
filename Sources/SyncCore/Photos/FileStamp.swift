/// What tells one state of a file from another without reading it (stat(2)). Equal stamps: nobody touched the file.
package struct FileStamp: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    /// Bytes.
    package var size: Int64
    /// Modification time, nanoseconds since 1970. It is finer than the clock tick, and stays so in the ledger.
    package var modified: Int64

    package init(device: UInt64, inode: UInt64, size: Int64, modified: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
    }
}
