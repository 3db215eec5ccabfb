import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

extension GuestIntake {
    /// Where a guest's photo waits, and its small picture.
    package struct Box: Sendable {
        private let folder: FilePath
        private let freeBytes: @Sendable (FilePath) -> Int64?

        /// - Parameters:
        ///   - folder: absolute; made when it is needed.
        ///   - freeBytes: on the disk of a path; blocks. `nil` where that cannot be told.
        package init(_ folder: FilePath, freeBytes: @escaping @Sendable (FilePath) -> Int64?) {
            self.folder = folder
            self.freeBytes = freeBytes
        }

        package func file(of photo: GuestPhoto) -> FilePath {
            place(of: photo.share).appending("\(photo.slot).\(MediaType.ending(ofContentType: photo.contentType))")
        }

        /// There is none of a photo that cannot be decoded here.
        package func thumbnail(of photo: GuestPhoto) -> FilePath {
            place(of: photo.share).appending("\(photo.slot).thumbnail.jpg")
        }

        func place(of share: ShareID) -> FilePath { folder.appending("\(share)") }

        /// While it is read.
        func draft(_ share: ShareID, _ slot: Int) -> FilePath { place(of: share).appending("\(slot).new") }

        /// What is kept of a share, by its slots.
        func kept(_ share: ShareID) throws -> [(slot: Int, file: FilePath)] {
            let place = place(of: share)
            return try (Folder.names(in: place) ?? []).compactMap { name in
                let parts = name.string.split(separator: ".")
                guard parts.count == 2, parts[1] != "new", let slot = Int(parts[0]) else { return nil }
                return (slot, place.appending(name))
            }
        }

        /// One process at a time takes photos of a share in.
        /// - Returns: what holds the lock; `nil` while another has it.
        func lock(_ share: ShareID) throws -> FileDescriptor? {
            try Folder.make(place(of: share), permissions: .ownerReadWriteExecute)
            let folder = try FileDescriptor.opened(place(of: share), .readOnly, [.directory, .noFollow, .closeOnExec])
            if folder.tryLock() { return folder }
            try folder.close()
            return nil
        }

        /// The ledger is on the same disk.
        func requireRoom(for bytes: Int64) throws {
            guard freeBytes(folder) ?? .max >= bytes + Self.roomKept else { throw NoRoom(folder: folder) }
        }

        /// Bytes that guests leave free.
        fileprivate static let roomKept: Int64 = 1 << 30
    }

    /// The disk is all but full.
    package struct NoRoom: Error, Hashable, Sendable, CustomStringConvertible {
        let folder: FilePath

        package var description: String {
            "less than \(Box.roomKept >> 30) GiB would be free on the disk of \(folder.string.escapingControls); make room there"
        }
    }
}
