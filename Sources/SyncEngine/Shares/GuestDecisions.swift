package import SyncCore
import SyncDigest
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Carries out what the owner has decided on photos of guests.
package struct GuestDecisions: Sendable {
    /// Why no photo can be put where it belongs.
    package struct NoFolder: Error, Hashable, Sendable, CustomStringConvertible {
        package let folder: FilePath
        /// It was named for this, and is not just that of the vacation.
        package let isChosen: Bool

        package var description: String {
            let name = folder.string.escapingControls
            return isChosen
                ? "\(name) is no folder: make it first"
                : "\(name) is not what it was when it was shared: bring its disk back, or name a folder with --into"
        }
    }

    /// A photo that goes on waiting.
    package struct Problem: Sendable {
        package let photo: GuestPhoto
        /// In plain words.
        package let reason: String
    }

    private static let mostNames = 100

    private let ledger: LedgerQueue
    package let box: GuestIntake.Box
    private let disk: BlockingPool
    private let time: TimeSource

    package init(ledger: LedgerQueue, box: GuestIntake.Box, disk: BlockingPool, time: TimeSource) {
        self.ledger = ledger
        self.box = box
        self.disk = disk
        self.time = time
    }

    /// Makes files of a vacation of them, under names of ours. A kill between two lines leaves none of them in two places; one
    /// that cannot be put there keeps none of the others from it.
    /// - Parameter isChosen: as ``NoFolder/isChosen``.
    /// - Returns: those that go on waiting.
    /// - Throws: ``NoFolder``, ``LedgerError``, `CancellationError`; those before it are accepted then.
    package func accept(
        _ photos: [GuestPhoto], into folder: FilePath, isChosen: Bool = false
    ) async throws -> [Problem] {
        var problems: [Problem] = []
        for photo in photos where photo.state == .waiting {
            try await requireFolder(folder, of: photo.share, isChosen)
            do {
                let path = try await disk.run { [box] in try Self.place(photo, from: box.file(of: photo), in: folder) }
                if let path {
                    try await note(photo, path)
                } else {
                    problems.append(Problem(photo: photo, reason: Self.lost))
                }
            } catch let error as Errno {
                problems.append(Problem(photo: photo, reason: "\(folder.string.escapingControls): \(error)"))
            }
        }
        return problems
    }

    private static let lost =
        "what is kept of it here is not what the guest has sent: guests --refresh fetches it again as long as the share lasts"

    private func note(_ photo: GuestPhoto, _ path: FilePath) async throws {
        let isDecided = try await ledger.finish {
            try $0.decideGuestPhoto(photo.slot, of: photo.share, .accepted, path: path, at: time.now())
        }
        if !isDecided, try await wasRefused(photo) {
            try await disk.run { _ = try path.unlink() }
        } else {
            await clear(photo)
        }
    }

    /// Meanwhile, somewhere else.
    private func wasRefused(_ photo: GuestPhoto) async throws -> Bool {
        try await ledger { try $0.guestPhotos(of: photo.share) }.contains {
            $0.slot == photo.slot && $0.state == .refused
        }
    }

    /// The empty folder of a drive that is away is not filled: one of the files that are shared has to be there.
    private func requireFolder(_ folder: FilePath, of share: ShareID, _ isChosen: Bool) async throws {
        let files = isChosen ? [] : try await ledger { try $0.sharePhotos(share) }.filter(\.isLocal).map(\.path)
        let isThere = try await disk.run {
            (try? FileStatus(at: folder, followsLinks: true))?.kind == .folder
                && (files.isEmpty || files.contains { FileStamp.ofFile($0) != nil })
        }
        guard isThere else { throw NoFolder(folder: folder, isChosen: isChosen) }
    }

    /// - Throws: ``LedgerError``.
    package func refuse(_ photos: [GuestPhoto]) async throws {
        for photo in photos where photo.state == .waiting {
            let isDecided = try await ledger.finish {
                try $0.decideGuestPhoto(photo.slot, of: photo.share, .refused, at: time.now())
            }
            if isDecided { await clear(photo) }
        }
    }

    /// What stays is of no use to anybody, and in nobody's way.
    private func clear(_ photo: GuestPhoto) async {
        try? await disk.run { [box] in
            for file in [box.file(of: photo), box.thumbnail(of: photo)] { _ = try? file.unlink() }
            try? box.removeIfEmpty(photo.share)
        }
    }

    /// - Returns: the file; `nil` when what is kept is not what was sent.
    private static func place(_ photo: GuestPhoto, from file: FilePath, in folder: FilePath) throws -> FilePath? {
        let stem = "guest-\("\(photo.share)".prefix(8))-\(photo.slot)"
        let ending = MediaType.ending(ofContentType: photo.contentType)
        for number in 1...mostNames {
            let path = folder.appending(number == 1 ? "\(stem).\(ending)" : "\(stem)-\(number).\(ending)")
            if let found = try digest(of: path) {
                if found == photo.sha256 { return path }
                continue
            }
            guard try digest(of: file) == photo.sha256 else { return nil }
            let bytes = try bytes(of: file)
            if try NewFile.save(bytes, to: path, permissions: readable, overwrites: false) { return path }
        }
        throw Errno.fileExists
    }

    /// As a person's own photos are; the umask is taken off.
    private static let readable: FilePermissions = [.ownerReadWrite, .groupReadWrite, .otherReadWrite]

    private static func bytes(of file: FilePath) throws -> [UInt8] {
        let descriptor = try FileDescriptor.opened(file, .readOnly, [.noFollow, .nonBlocking, .closeOnExec])
        defer { try? descriptor.close() }
        // One byte more: what is longer is another one.
        return try descriptor.bytes(atMost: Int(GuestRules.mostBytes) + 1)
    }

    /// - Returns: `nil` where there is no such file.
    static func digest(of file: FilePath) throws -> SHA256Digest? {
        do {
            return SHA256Digest(of: try bytes(of: file))
        } catch Errno.noSuchFileOrDirectory {
            return nil
        }
    }
}
