package import FoundationEssentials
package import SyncCore
import SyncSystem
package import SystemPackage

/// One object that is to become a file.
package struct DownloadTask: Hashable, Sendable {
    package var key: ObjectKey
    /// Has to be there; where it has a `home`, it is made anew when it went away. Whether the file may go into it is the
    /// caller's to decide.
    package var folder: FilePath
    package var name: FilePath.Component
    /// Of the object's bytes, as we know it ourselves; `nil` to go by what is stored with the object.
    package var sha256: SHA256Digest?
    /// Of the photo of which the object is a copy: a file with these bytes is better than the copy. `nil` where it is not
    /// known.
    package var original: MD5Digest?
    /// What the file's modification time becomes; `nil` for that of the download.
    package var modified: Date?
    /// Whether another file of that name is replaced.
    package var overwrites = false
    /// A folder at or above `folder` that has to stay where it is: nothing is written into what takes its name (a place
    /// where a drive was mounted).
    package var home: RestoreFolder?

    package var destination: FilePath { folder.appending(name) }

    /// Blocks.
    /// - Throws: ``DownloadError``, `.folderAway` where another folder has its name.
    fileprivate func requireHome() throws(DownloadError) { try home?.require(for: destination) }

    /// As well. Where it is away, the part is left there, for the run that finds it again.
    fileprivate func requireHome(of part: PartFile) throws(DownloadError) {
        do {
            try requireHome()
        } catch {
            part.leave()
            throw error
        }
    }
}

/// What a download that did not fail has come to.
package enum DownloadOutcome: Hashable, Sendable {
    /// The file is on the disk. Unverified is one of whose bytes nobody knows a digest: its length is right.
    case saved(isVerified: Bool)
    /// A file with these bytes was there.
    case alreadyThere
    /// The photo itself was there, of which the object is a copy.
    case originalThere
    /// Something else has the name, and was left as it is.
    case kept
}

/// Downloads objects to files, each whole, proven and durable or not at all.
///
/// Promises:
/// - The destination gets its name in one step, when all bytes are there, have the right SHA-256 and are on the disk.
/// - Nothing is replaced that was not meant to be. A file that has the right bytes is not downloaded again.
/// - A cut connection, a cancelled task and a killed process are gone on from, by range; what is there already is hashed
///   again first. Where nobody knows a digest, parts of two reads are never put together.
/// - Memory: one buffer.
package struct ObjectDownload: Sendable {
    /// Names that are taken and found free again: somebody else makes and removes a file there, or the disk is damaged.
    private static let mostTries = 10

    let store: any ObjectSource
    /// For all that waits for the disk but the writing, which happens where the store calls its sinks.
    let pool: BlockingPool
    /// For attempts in a row that bring less than 1 MiB.
    var policy = RetryPolicy(maximumAttempts: 5)
    let time: TimeSource
    var calls = DownloadCalls()
    /// Makes the files of originals that are stored as JPEG XL.
    var recompressor: (any OriginalRecompressor)?

    var now: Date { time.now() }

    /// - Parameters:
    ///   - progress: gets how many of the object's bytes are here, on any thread. It can go back to 0.
    ///   - placing: asked when all bytes are there, before the file gets its name. What it throws, this throws.
    /// - Throws: ``DownloadError``; `StoreError`; `FolderError`; `CancellationError`, and a later run goes on from here.
    package func run(
        _ task: DownloadTask, progress: @escaping @Sendable (Int64) -> Void = { _ in },
        placing: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> DownloadOutcome {
        do {
            return try await attempt(task, progress, placing)
        } catch let error as DownloadError where error.code == .folderMissing {
            // Moved away by somebody, also while the object came. What is at or above its home is not made anew.
            guard let home = task.home else { throw error }
            try await pool.run {
                try home.require(for: task.destination)
                try Folder.make(task.folder, permissions: .readableFolder)
            }
            return try await attempt(task, progress, placing)
        }
    }

    private func attempt(
        _ task: DownloadTask, _ progress: @escaping @Sendable (Int64) -> Void,
        _ placing: @escaping @Sendable () async throws -> Void
    ) async throws -> DownloadOutcome {
        do {
            if let outcome = try await check(task) { return outcome }
            let part = try await pool.run { [calls] in
                let part = try PartFile(for: task.destination, calls: calls)
                try task.requireHome(of: part)
                return part
            }
            return try await save(task, in: part, progress, placing)
        } catch let error as Errno {
            throw DownloadError(error, task.destination)
        }
    }

    private func save(
        _ task: DownloadTask, in part: PartFile, _ progress: @escaping @Sendable (Int64) -> Void,
        _ placing: @escaping @Sendable () async throws -> Void
    ) async throws -> DownloadOutcome {
        let fetch = ObjectFetch(
            store: store, pool: pool, policy: policy, time: time, task: task, part: part, progress: progress)
        var proven = task
        let isVerified: Bool
        do {
            let content = try await fetch.run()
            proven.sha256 = content.digest.sha256
            isVerified = content.isVerified
            if task.key.copyOfOriginal != nil, content.info.originalEncoding == .jxl {
                proven.sha256 = try await unpack(task, part).sha256
            }
            try await placing()
        } catch {
            let isUseless = Self.isPartUseless(after: error)
            // Here, and not when the last thread lets go of it: whoever asked finds what is left, and no more.
            await pool.finish { part.leave(isUseless: isUseless) }
            throw error
        }
        for _ in 0..<Self.mostTries {
            let isPlaced = try await pool.run {
                try task.requireHome(of: part)
                return try part.place(modified: task.modified, overwrites: task.overwrites)
            }
            if isPlaced { return .saved(isVerified: isVerified) }
            // Somebody has taken the name meanwhile.
            if let outcome = try await check(proven) {
                try await pool.run { try part.remove() }
                return outcome
            }
        }
        await pool.finish { part.leave(isUseless: true) }
        throw DownloadError(
            .nameTaken, task.destination,
            "the file system says that something has this name, and shows nothing there; check the disk, or name another "
                + "folder")
    }

    /// Makes the file of an original that came as JPEG XL: what comes of it has to have the photo's MD5.
    private func unpack(_ task: DownloadTask, _ part: PartFile) async throws -> ContentDigest {
        func failure(_ message: String) -> DownloadError { DownloadError(.ioFailed, task.destination, message) }
        guard let recompressor else {
            throw failure(
                "its original is stored as JPEG XL, and nothing here makes the file of it: install sync-agent-decoder beside "
                    + "sync-agent")
        }
        do {
            let digest = try await pool.run {
                try part.replaceBytes { try recompressor.reconstruct($0, size: $1, into: $2) }
            }
            guard "\(digest.md5).dat" == task.key.lastSegment else {
                throw failure(
                    "the JPEG that comes of the stored JPEG XL is not the photo's file; its object was left as it is "
                        + "(\(task.key))")
            }
            return digest
        } catch let error as PhotoError {
            if error.code == .stopped { throw CancellationError() }
            throw failure("its file cannot be made of the stored JPEG XL: \(error.message)")
        }
    }

    /// What has become of a file whose name is taken; `nil` when it is free, or to be replaced.
    private func check(_ task: DownloadTask) async throws -> DownloadOutcome? {
        let isTaken = try await pool.run {
            try task.requireHome()
            return try FileStatus.find(task.destination) != nil
        }
        guard isTaken else { return nil }
        var info: ObjectInfo?
        if task.sha256 == nil {
            info = try await store.head(task.key)
            if info == nil {
                throw StoreError(
                    .notFound, operation: "get", key: task.key.rawValue, message: "nothing is stored under this key")
            }
        }
        // The photo has another size than its copy.
        let size = task.original == nil ? info?.size : nil
        let digest = try await pool.runChecking { try FileDigest.of(task.destination, size: size, $0) }
        let isThere = digest.map { DownloadProof(expected: task.sha256, info: info).accepts($0) == true } ?? false
        let isOriginal = digest.map { $0.md5 == task.original } ?? false
        if !isThere, !isOriginal, task.overwrites { return nil }
        // Nobody goes on from a part whose file is there: that of a download that was killed between link and unlink, or
        // of one that somebody else has finished.
        try await pool.run { try NewFile.discard(for: task.destination) }
        if isThere { return .alreadyThere }
        return isOriginal ? .originalThere : .kept
    }

    /// A full disk needs the space; an object that is gone does not come back as it was; nobody goes on with what is not
    /// wanted.
    private static func isPartUseless(after error: any Error) -> Bool {
        switch error {
        case let error as DownloadError: error.code == .noSpace || error.code == .notWanted
        case let error as StoreError: error.code == .notFound
        default: false
        }
    }
}

/// Why a download failed on this side. What the store has against it is a `StoreError`.
package struct DownloadError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        case noSpace, tooLarge, folderMissing, notAllowed, nameTaken, ioFailed
        /// Another process, or another task of this one, downloads the same file.
        case inUse
        /// What has the name of the folder is another one by now.
        case folderAway
        /// Somebody has said meanwhile that nothing more is to be saved.
        case notWanted
    }

    package var code: Code
    package var path: FilePath
    /// The reason, and the next step.
    package var message: String

    package init(_ code: Code, _ path: FilePath, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// Whether the next file would meet the same.
    package var concernsAll: Bool { [.noSpace, .folderAway, .notWanted].contains(code) }

    package var description: String { "\(path.string.escapingControls): \(message)" }

    /// - Parameter path: a file that is there, and that nobody can look at.
    static func unreadable(_ errno: Errno, _ path: FilePath) -> DownloadError {
        guard errno.isRefusal else { return DownloadError(errno, path) }
        return DownloadError(.notAllowed, path, "no permission to read it; change its owner or mode, or move it away")
    }

    package init(_ errno: Errno, _ path: FilePath, or advice: String = "name another folder") {
        let fault = FileFault(errno, or: advice)
        self.init(Code(rawValue: fault.code.rawValue) ?? .ioFailed, path, fault.message)
    }
}

/// Downloads many objects, a few at once. One that fails does not stop the others, unless they would all meet the same.
package struct DownloadBatch: Sendable {
    package typealias Outcome = Result<DownloadOutcome, any Error>

    let download: ObjectDownload
    /// How many at once.
    var width = 3
    /// Of the whole run, where this batch is a part of it.
    var denied: DeniedObjects?

    /// - Parameters:
    ///   - progress: which task, by its index, and how many of its bytes are here; on any thread.
    ///   - finished: each task's outcome as soon as it is known, one after the other.
    ///   - placing: which task's file gets its name next, as ``ObjectDownload/run(_:progress:placing:)`` tells.
    /// - Returns: one for each task, in their order. What was not begun has the error that ended the batch: the store's or
    ///   the disk's, or `CancellationError`.
    package func run(
        _ tasks: [DownloadTask], progress: @escaping @Sendable (Int, Int64) -> Void = { _, _ in },
        finished: (Int, Outcome) async -> Void = { _, _ in },
        placing: @escaping @Sendable (Int) async throws -> Void = { _ in }
    ) async -> [Outcome] {
        var outcomes: [Outcome?] = Array(repeating: nil, count: tasks.count)
        var obstacle: (any Error)?
        let denied = denied ?? DeniedObjects()
        await withTaskGroup(of: (Int, Outcome).self) { group in
            var rest = tasks.indices.makeIterator()
            func beginNext() {
                guard obstacle == nil, !Task.isCancelled, let index = rest.next() else { return }
                group.addTask {
                    let outcome = await Result {
                        try await download.run(
                            tasks[index], progress: { progress(index, $0) }, placing: { try await placing(index) })
                    }
                    return (index, outcome)
                }
            }
            for _ in 0..<width { beginNext() }
            while let (index, outcome) = await group.next() {
                outcomes[index] = outcome
                let met = await Self.obstacle(outcome, of: tasks[index].key, denied)
                obstacle = obstacle ?? met
                await finished(index, outcome)
                beginNext()
            }
        }
        return outcomes.map { $0 ?? .failure(obstacle ?? CancellationError()) }
    }

    /// Seconds after which nobody is expected to go on from a part any more.
    private static let partLife: TimeInterval = 7 * 86_400

    /// As ``removeLeftovers(_:isComplete:_:now:)``, by what has become of all tasks.
    static func removeLeftovers(_ folder: FilePath, after outcomes: [Outcome], _ pool: BlockingPool, now: Date) async {
        let isComplete = outcomes.allSatisfy { if case .success = $0 { true } else { false } }
        await removeLeftovers(folder, isComplete: isComplete, pool, now: now)
    }

    /// Removes what earlier runs left in a folder, once all that was asked for is there. As long as something is not, a
    /// part may be what the next run goes on from; but not for ever: that run may ask for something else.
    static func removeLeftovers(_ folder: FilePath, isComplete: Bool, _ pool: BlockingPool, now: Date) async {
        let end = now.timeIntervalSince1970 - partLife
        let idleSince: Int64? = isComplete ? nil : Int64(end) * 1_000_000_000
        // What cannot be removed harms nobody.
        await pool.finish { try? NewFile.discardAll(in: folder, idleSince: idleSince) }
    }

    /// What all others would meet, too.
    private static func obstacle(
        _ outcome: Outcome, of key: ObjectKey, _ denied: DeniedObjects
    ) async -> (any Error)? {
        do {
            switch outcome {
            case .success: try await denied.noteGiven(key)
            case .failure(let error) where concernsAll(error): return error
            case .failure(let error as StoreError): try await denied.note(error, of: key)
            case .failure: break
            }
            return nil
        } catch {
            return error
        }
    }

    /// Whether the next download would meet the same. A store that denies one object may give the next.
    static func concernsAll(_ error: any Error) -> Bool {
        switch error {
        case let error as StoreError: error.concernsWholeStore && (error.key == nil || !error.mayConcernOneObject)
        case let error as DownloadError: error.concernsAll
        case let error as FolderError: error.concernsAll
        default: false
        }
    }
}
