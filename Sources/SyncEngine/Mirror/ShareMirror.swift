package import FoundationEssentials
package import SyncCore
package import SyncSystem
package import SystemPackage

/// Keeps a copy of a share in a folder.
///
/// Promises:
/// - Before the manifest was held against the rules, nothing is written. Afterwards nothing is written but files of our
///   names in this one folder; links there are not followed.
/// - A photo gets its name when all of its bytes are there and have the SHA-256 of the manifest. None is fetched twice: a
///   run that was cut short is gone on from, photo by photo and within them.
/// - What the person changed or deleted, and what was there before, stays as it is. Photos that leave the share stay, too.
/// - By a name that the share tells, nothing is replaced that this mirror has not put there.
package struct ShareMirror: Sendable {
    package struct Options: Hashable, Sendable {
        /// Only the first three photos.
        package var isPreview: Bool
        /// Fetch again what the person changed or deleted, and replace what has our names.
        package var isForced: Bool
        /// New photos get the names of their files, where the share tells them.
        package var keepsNames: Bool

        package init(isPreview: Bool = false, isForced: Bool = false, keepsNames: Bool = false) {
            self.isPreview = isPreview
            self.isForced = isForced
            self.keepsNames = keepsNames
        }
    }

    package static let previewCount = 3
    /// Readings of the manifest in one run, where the share changes all the time.
    private static let maximumPasses = 3

    /// One run's work on the folder, as far as it has come.
    struct Visit {
        let folder: MirrorFolder
        var state: MirrorState
        /// The state as it is on the disk.
        var written: MirrorState?
        /// How many photos were noted since.
        var unwritten = 0
        var fetched: Set<Int> = []
        /// Whether photos may have been put there, and nobody knows under which names.
        let hasForgotten: Bool
        var result: MirrorResult

        init(_ share: CheckedShare, in folder: MirrorFolder, _ memory: KnownMirror) {
            self.folder = folder
            state = memory.known ?? MirrorState(shareID: share.id)
            // What could be read of it is whole when it is written.
            state.isDamaged = false
            written = memory.written
            hasForgotten = memory.hasForgotten(share.id)
            result = MirrorResult(shareID: share.id, destination: folder.path)
            result.hadPhotos = memory.hadPhotos
            if memory.isDamaged {
                let part = memory.known == nil ? "" : " in part"
                result.notes.append(
                    "\(MirrorFolder.stateName) could not be read\(part): what you changed or deleted before is not known any "
                        + "more")
            }
        }
    }

    private let source: any ShareSource
    let asked: ShareID?
    package let destination: FilePath
    package var options: Options
    /// By an earlier round of this process.
    var filled: FilledFolder?
    let pool: BlockingPool
    private let policy: RetryPolicy
    private let time: TimeSource
    let calls: DownloadCalls

    /// - Parameters:
    ///   - asked: the share, where the person's reference tells it.
    ///   - destination: absolute. It is made when there is something to put into it.
    ///   - pool: for all that waits for the disk.
    ///   - policy: for reading the manifest, and for each photo.
    package init(
        _ source: any ShareSource, asked: ShareID?, to destination: FilePath, options: Options = Options(),
        pool: BlockingPool, policy: RetryPolicy = RetryPolicy(maximumAttempts: 5), time: TimeSource,
        calls: DownloadCalls = DownloadCalls()
    ) {
        self.source = source
        self.asked = asked
        self.destination = destination
        self.options = options
        self.pool = pool
        self.policy = policy
        self.time = time
        self.calls = calls
    }

    /// Brings the folder up to the share.
    /// - Parameter observe: gets how far it is, on any thread.
    /// - Throws: ``MirrorError``, ``ShareRefusal``, ``DownloadError``, `StoreError` where nothing could be done at all;
    ///   `.notFound` for a share that was never mirrored here. `CancellationError`.
    package func run(_ observe: @escaping @Sendable (MirrorProgress) -> Void = { _ in }) async throws -> MirrorResult {
        do {
            return try await downloadShare(observe)
        } catch let error as Errno {
            throw DownloadError(error, destination)
        }
    }

    private func downloadShare(_ observe: @escaping @Sendable (MirrorProgress) -> Void) async throws -> MirrorResult {
        var folder = try await pool.run { [destination] in try Self.folder(destination) }
        defer { folder?.unlock() }
        let memory = try await pool.run { [folder, filled, asked] in
            try KnownMirror(of: folder, filled: filled, asked: asked)
        }
        if let known = memory.known, let asked { try requireSame(known, asked) }
        let read: ReadShare
        do {
            read = try await self.read(remembered: memory.known?.remembered)
        } catch let error as StoreError where error.code == .notFound {
            guard let result = try await gone(memory, in: folder) else { throw error }
            await discardParts(in: folder)
            return result
        }
        if let known = memory.known { try requireSame(known, read.share.id) }
        if let end = end(of: read.share) {
            var result = try await ended(read.share, end, memory, in: folder)
            guard memory.known != nil || result.hadPhotos || result.alreadyThere > 0 else {
                throw StoreError(
                    .notFound, operation: "get", message: "this share has ended, and nothing of it is in \(destination)"
                )
            }
            result.share = read.share
            await discardParts(in: folder)
            return result
        }
        if memory.isLost { throw MirrorError.lost(destination) }
        if folder == nil {
            folder = try await pool.run { [destination] in
                try Folder.make(destination, permissions: FilePermissions(rawValue: 0o777))
                return try MirrorFolder(destination)
            }
        }
        guard let folder else { throw Errno.noSuchFileOrDirectory }
        var visit = Visit(read.share, in: folder, memory)
        try await downloadAll(read, &visit, observe)
        visit.result.filled = FilledFolder(
            identity: await pool.finish { folder.identity }, state: visit.state, written: visit.written)
        if visit.result.end != nil { await discardParts(in: folder) }
        return visit.result
    }

    /// Of a share that has ended there is nothing to go on with.
    private func discardParts(in folder: MirrorFolder?) async {
        guard let folder else { return }
        await pool.finish { try? NewFile.discardAll(in: folder.held) }
    }

    /// A share may change, or end, while it is read: then what failed is tried once more by the manifest as it is now.
    private func downloadAll(
        _ first: ReadShare, _ visit: inout Visit, _ observe: @escaping @Sendable (MirrorProgress) -> Void
    ) async throws {
        var read = first
        for pass in 1...Self.maximumPasses {
            let download = ObjectDownload(store: read.photos, pool: pool, policy: policy, time: time, calls: calls)
            try await self.pass(over: read, &visit, download, observe)
            guard pass < Self.maximumPasses, visit.result.obstacle == nil,
                visit.result.failures.contains(where: { Self.mayBeOutdated($0.error) })
            else { return }
            do {
                let now = try await self.read(remembered: read.manifestLink)
                guard now.share != read.share, now.share.id == read.share.id else { return }
                if let end = end(of: now.share) { return visit.result.noteEnd(end) }
                read = now
            } catch let error as StoreError where error.code == .notFound {
                return visit.result.noteEnd(.gone)
            } catch is StoreError, is ShareRefusal {
                // The photos' own errors say more.
                return
            }
        }
    }

    private static func mayBeOutdated(_ error: any Error) -> Bool {
        switch (error as? StoreError)?.code {
        case .notFound, .linkEnded, .badDigest, .invalidRange: true
        default: false
        }
    }

    private func read(remembered: WebLink?) async throws -> ReadShare {
        try await policy.retrying(time) { try await source.read(remembered: remembered) }
    }

    private func end(of share: CheckedShare) -> MirrorResult.End? {
        share.manifest.expiresAt <= time.now() ? .expired(share.manifest.expiresAt) : nil
    }

    private func requireSame(_ known: MirrorState, _ id: ShareID) throws {
        guard known.shareId == id.description else { throw MirrorError.otherShare(destination, known.shareId) }
    }

    /// `nil` where there is none yet.
    private static func folder(_ path: FilePath) throws -> MirrorFolder? {
        do {
            return try MirrorFolder(path)
        } catch Errno.noSuchFileOrDirectory {
            return nil
        }
    }
}

extension MirrorResult {
    /// What failed is explained by the end of the share.
    fileprivate mutating func noteEnd(_ end: End) {
        self.end = end
        neverFetched += failures.map(\.name)
        failures = []
    }

    fileprivate mutating func noteDoubt() {
        let found = if case .expired? = end { "has ended by this machine's clock" } else { "cannot be read now" }
        end = nil
        (kept, neverFetched) = ([], [])
        notes.append("the share \(found); when the next look finds the same, it has ended")
    }
}

/// Follows a share until it ends. That has to be found twice in a row: a server in trouble, or one that blocks us for a
/// while, says once that it cannot be read, and a wrong clock that its time is over. A folder that is another one by now
/// (a drive that is not mounted) is not filled again.
package struct MirrorWatch: Sendable {
    private var mirror: ShareMirror
    private let interval: Duration
    private let time: TimeSource

    /// - Parameter interval: between two looks at the manifest.
    package init(_ mirror: ShareMirror, every interval: Duration = .seconds(300), time: TimeSource) {
        self.mirror = mirror
        self.interval = interval
        self.time = time
    }

    /// Returns when the share has ended. What the person changed or deleted is fetched again by the first round only, also
    /// where the mirror is forced.
    /// - Parameter ended: each round's outcome; a failure of a later one is tried again at the next.
    /// - Throws: what keeps the first round from beginning; `.notFound` where the share has ended, and its folder is lost;
    ///   `CancellationError`.
    package func run(
        observe: @escaping @Sendable (MirrorProgress) -> Void = { _ in },
        ended: (Result<MirrorResult, any Error>) async -> Void
    ) async throws {
        var mirror = mirror
        var isFirst = true
        var hadEnded = false
        while true {
            do {
                var result = try await mirror.run(observe)
                let isDoubtful = result.end != nil && !hadEnded
                hadEnded = result.end != nil
                mirror.filled = result.filled ?? mirror.filled
                if isDoubtful { result.noteDoubt() }
                await ended(.success(result))
                if result.end != nil { return }
            } catch let error where !isFirst && !(error is CancellationError) {
                let isGone = (error as? StoreError)?.code == .notFound
                if isGone, hadEnded { throw error }
                hadEnded = isGone
                await ended(.failure(error))
            }
            isFirst = false
            mirror.options.isForced = false
            try await time.sleep(interval)
        }
    }
}

/// What a mirror has come to.
package struct MirrorResult: Sendable {
    /// A photo that is not as the share has it, and stays so.
    package struct Kept: Hashable, Sendable {
        package enum Reason: String, Hashable, Sendable {
            /// By the person, after it was put there.
            case changed, deleted
            /// Something else has the name: another file, an empty one, or what is no file.
            case nameTaken
        }

        package let name: String
        package let reason: Reason
    }

    package struct Failure: Sendable {
        package let name: String
        package let error: any Error
    }

    /// Why there is nothing more to come.
    package enum End: Hashable, Sendable {
        case expired(Date)
        /// Revoked, or expired and removed, or the link has ended: nobody can tell which.
        case gone
    }

    package let shareID: ShareID
    package let destination: FilePath
    /// As it was read last; `nil` when it could not be read any more.
    package internal(set) var share: CheckedShare?
    /// Names, in the order of their arrival.
    package internal(set) var downloaded: [String] = []
    package internal(set) var alreadyThere = 0
    package internal(set) var kept: [Kept] = []
    package internal(set) var failures: [Failure] = []
    /// Photos that were put there, and of which nobody can tell what has become of them.
    package internal(set) var unreadable: [Failure] = []
    /// Files beside the photos that could not be written: the manifest, and what is known of the mirror.
    package internal(set) var unwritten: [Failure] = []
    /// Names of photos that a share had until it ended, and that did not come before.
    package internal(set) var neverFetched: [String] = []
    /// Names of photos that were not tried, or not to their end, for the obstacle.
    package internal(set) var untried: [String] = []
    /// What no photo would have got past: the disk is full, the host is away.
    package internal(set) var obstacle: (any Error)?
    package internal(set) var end: End?
    /// Whether all photos that the share has were dealt with; of one that has ended, whether all that it had last are here.
    package internal(set) var isComplete = false
    /// Whether photos of it were here before, or may have been.
    var hadPhotos = false
    /// What the person should know besides.
    package internal(set) var notes: [String] = []
    /// The folder that was written into.
    var filled: FilledFolder?

    /// Photos that should be there and are not, as far as can be told.
    package var failed: Int { failures.count + untried.count + neverFetched.count + unreadable.count }

    /// Whether photos of the share are here.
    package var hasPhotos: Bool { !downloaded.isEmpty || alreadyThere > 0 }

    /// Whether the share has ended, and nothing of it ever was here.
    package var neverCame: Bool {
        end != nil && !hadPhotos && downloaded.isEmpty && alreadyThere == 0
            && kept.allSatisfy { $0.reason == .nameTaken }
    }

    mutating func noteUnreadable(_ name: String, _ errno: Errno) {
        unreadable.append(Failure(name: name, error: DownloadError.unreadable(errno, destination.appending(name))))
    }

    /// Whether the photo that the share has is here, or what the person made of it.
    var isAllHere: Bool { failed == 0 && kept.allSatisfy { $0.reason == .changed } }
}
