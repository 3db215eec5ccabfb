import CSyncArchive
import FoundationEssentials
import SyncCore
import SystemPackage

/// A handle of libarchive that writes a ZIP file to a descriptor, which has to outlive it.
///
/// Not copyable. After a failure it can only be let go.
struct ZipStream: ~Copyable {
    private let handle: OpaquePointer

    init(to descriptor: FileDescriptor) throws(Errno) {
        guard let handle = CSyncArchive_ZipCreate(descriptor.rawValue) else { throw Errno.noMemory }
        self.handle = handle
    }

    deinit {
        CSyncArchive_ZipFree(handle)
    }

    mutating func begin(_ entry: ZipEntry) throws(Errno) {
        let seconds = entry.modified.timeIntervalSince1970.rounded(.down)
        try check(CSyncArchive_ZipBegin(handle, entry.name, entry.size, Int64(seconds)))
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try check(CSyncArchive_ZipAppend(handle, bytes.baseAddress, bytes.count))
    }

    mutating func finish() throws(Errno) {
        try check(CSyncArchive_ZipFinish(handle))
    }

    private func check(_ code: CInt) throws(Errno) {
        if code != 0 { throw Errno(rawValue: code) }
    }
}

// One owner at a time (not copyable), and every use needs exclusive access (mutating): the handle is never shared.
extension ZipStream: @unchecked Sendable {}
