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

        /// Those of which there is something.
        func shares() throws -> [ShareID] {
            try (Folder.names(in: folder) ?? []).compactMap { ShareID($0.string) }
        }

        /// What is kept of a share, by its slots. What has no name of ours is somebody else's.
        func kept(_ share: ShareID) throws -> [(slot: Int, file: FilePath)] {
            let place = place(of: share)
            return try (Folder.names(in: place) ?? []).compactMap { name in
                let parts = name.string.split(separator: ".")
                guard parts.count == 2, parts[1] != "new", let slot = Int(parts[0]), slot >= 0,
                    name.string == "\(slot).\(parts[1])"
                else { return nil }
                return (slot, place.appending(name))
            }
        }

        /// One process at a time takes photos of a share in.
        /// - Returns: what holds the lock; `nil` while another has it.
        func lock(_ share: ShareID) throws -> FileDescriptor? {
            let place = place(of: share)
            for _ in 0..<Self.attempts {
                try Folder.make(place, permissions: .ownerReadWriteExecute)
                guard let folder = try open(place) else { continue }
                let isOurs = folder.tryLock()
                if isOurs, Self.isStill(folder, at: place) { return folder }
                try folder.close()
                if !isOurs { return nil }
            }
            return nil
        }

        /// Removes the folder of a share in which nothing is left, unless photos of it are just taken in: a lock on a
        /// folder that has no name keeps nobody out.
        func removeIfEmpty(_ share: ShareID) throws {
            guard let folder = try open(place(of: share)) else { return }
            defer { try? folder.close() }
            if folder.tryLock() { try place(of: share).removeFolder() }
        }

        /// - Returns: `nil` when it is not there.
        private func open(_ place: FilePath) throws -> FileDescriptor? {
            do throws(Errno) {
                return try FileDescriptor.opened(place, .readOnly, [.directory, .noFollow, .closeOnExec])
            } catch {
                guard error == .noSuchFileOrDirectory else { throw error }
                return nil
            }
        }

        private static func isStill(_ folder: FileDescriptor, at place: FilePath) -> Bool {
            guard let there = try? FileStatus.find(place), let held = try? FileStatus(of: folder) else { return false }
            return there.isSameFile(as: held)
        }

        /// How often a folder may be removed while it is being locked.
        private static let attempts = 10

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
