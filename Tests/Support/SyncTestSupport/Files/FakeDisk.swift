package import SyncCore
import SyncDigest
import SyncSystem
package import SystemPackage

/// Files in memory, as scanner and reducer see them. A file's text decides what it is: `broken…` cannot be decoded,
/// `text…` is no photo, what begins with a bracket in a file named `.json` is JSON, everything else is a JPEG whose
/// reduced copy is its text in capitals.
package final class FakeDisk: TreeScanner, PhotoReducer {
    private struct File {
        var text: String
        var stamp: FileStamp
    }

    private struct State {
        var files: [FilePath: File] = [:]
        var unreadable: Set<FilePath> = []
        var folders: Set<FilePath> = []
        var unseen: Set<FilePath> = []
        var beingWritten: Set<FilePath> = []
        var cuts: [FilePath: Int] = [:]
        var belowLinks: Set<FilePath> = []
        var links: Set<FilePath> = []
        var isMounted = true
        /// Drives below folders, and whether each is mounted. What is below one that is not cannot be seen.
        var drives: [FilePath: Bool] = [:]
        var identities: [FilePath: DriveIdentity] = [:]
        var examined: [FilePath] = []
        var reduced: [FilePath] = []
        var textReads = 0
        var mountReads = 0
        var thereChecks = 0
        var stampReads = 0
        /// How often something was mounted or taken out.
        var mountChanges = 0
        var onScan: @Sendable (FilePath) -> Void = { _ in }
        var onReduce: @Sendable (FilePath) -> Void = { _ in }
        var onCopy: @Sendable (inout StoredCopy) -> Void = { _ in }
        var onPhoto: @Sendable (String) throws(PhotoError) -> Void = { _ in }
        var onExamine: @Sendable (FilePath) -> Void = { _ in }
        var lastInode: UInt64 = 0
        private var lastTick: Int64 = 0

        /// The next reading of the disk's clock.
        mutating func tick() -> Int64 {
            lastTick += 1
            return lastTick
        }
    }

    private let state = Lock(State())

    package init() {}

    /// Makes or changes a file; its stamp becomes a new one.
    /// - Parameter size: bytes that it seems to have, when they are not those of the text.
    package func write(_ text: String, to path: FilePath, size: Int64? = nil, modifiedSeconds: Int64 = 1_000_000) {
        state.withLock { state in
            state.lastInode += 1
            let stamp = FileStamp(
                device: 1, inode: state.lastInode, size: size ?? Int64(text.utf8.count),
                modified: modifiedSeconds * 1_000_000_000, changed: state.tick(), born: Int64(state.lastInode))
            state.files[path] = File(text: text, stamp: stamp)
        }
    }

    /// As a rename of a folder above does it: nothing of the file's stamp moves.
    package func move(_ path: FilePath, to other: FilePath) {
        state.withLock { $0.files[other] = $0.files.removeValue(forKey: path) }
    }

    /// As file systems do it: the time of the last change moves.
    package func rename(_ path: FilePath, to other: FilePath) {
        move(path, to: other)
        touch(other)
    }

    /// What moves the time of the last change and nothing else: `chmod`, a link; or a rewrite that sets the rest back.
    package func touch(_ path: FilePath, rewriting text: String? = nil) {
        state.withLock { state in
            let time = state.tick()
            state.files[path]?.stamp.changed = time
            if let text { state.files[path]?.text = text }
        }
    }

    /// Sets the time of a file's last change (ctime), nanoseconds since 1970.
    package func setChanged(_ path: FilePath, _ changed: Int64) {
        state.withLock { $0.files[path]?.stamp.changed = changed }
    }

    package func remove(_ path: FilePath) { state.withLock { $0.files[path] = nil } }
    package func setMounted(_ isMounted: Bool) { changeMounts { $0.isMounted = isMounted } }
    /// Makes a link to a photo elsewhere.
    package func makeLink(_ path: FilePath) { _ = state.withLock { $0.links.insert(path) } }
    /// Makes a folder that is there also without a file in it, as the one that a drive is mounted at.
    package func makeFolder(_ path: FilePath) { _ = state.withLock { $0.folders.insert(path) } }
    package func setUnreadable(_ folder: FilePath) { _ = state.withLock { $0.unreadable.insert(folder) } }
    /// Nobody can tell whether there is such a file, as on a drive that fails.
    package func setUnseen(_ file: FilePath) { _ = state.withLock { $0.unseen.insert(file) } }
    /// A folder above the file is a link, for those who open it.
    package func setBelowLink(_ path: FilePath, _ isBelow: Bool) {
        state.withLock { state in
            if isBelow { state.belowLinks.insert(path) } else { state.belowLinks.remove(path) }
        }
    }
    package func setBeingWritten(_ path: FilePath, _ isWritten: Bool) {
        state.withLock { state in
            if isWritten { state.beingWritten.insert(path) } else { state.beingWritten.remove(path) }
        }
    }
    /// So many times, what decodes it finds its end too early, as by a read that ends where the file does not.
    package func setCut(_ path: FilePath, times: Int) { state.withLock { $0.cuts[path] = times } }
    package func onReduce(_ action: @escaping @Sendable (FilePath) -> Void) { state.withLock { $0.onReduce = action } }
    /// Changes what is told of each copy of a file that is made from now on.
    package func onCopy(_ change: @escaping @Sendable (inout StoredCopy) -> Void) {
        state.withLock { $0.onCopy = change }
    }
    /// Called with the text of each photo in a file of events before it is decoded.
    package func onPhoto(_ action: @escaping @Sendable (String) throws(PhotoError) -> Void) {
        state.withLock { $0.onPhoto = action }
    }
    package func onExamine(_ action: @escaping @Sendable (FilePath) -> Void) {
        state.withLock { $0.onExamine = action }
    }
    /// What was read whole, in order.
    package var examined: [FilePath] { state.withLock { $0.examined } }
    /// Called with each folder of a scan before it is read. What comes and goes by that is seen, folders are not.
    package func onScan(_ action: @escaping @Sendable (FilePath) -> Void) { state.withLock { $0.onScan = action } }
    /// How often the mounts were asked for.
    package var mountReads: Int { state.withLock { $0.mountReads } }
    /// How often it was asked whether something is there.
    package var thereChecks: Int { state.withLock { $0.thereChecks } }
    /// How often somebody asked for the stamp of one file.
    package var stampReads: Int { state.withLock { $0.stampReads } }
    /// How many texts were looked at first.
    package var textReads: Int { state.withLock { $0.textReads } }
    /// What was reduced, in order.
    package var reduced: [FilePath] { state.withLock { $0.reduced } }

    /// Mounts a drive, or unmounts it.
    package func setDrive(_ path: FilePath, isMounted: Bool) { changeMounts { $0.drives[path] = isMounted } }
    /// Leaves the plain folder that is below a drive.
    package func removeDrive(_ path: FilePath) { changeMounts { $0.drives[path] = nil } }
    package func mountTable() -> [UInt8] { Array("\(state.withLock { $0.mountChanges })".utf8) }
    package func mountPoints(below root: FilePath) -> [FilePath] {
        state.withLock { state in
            state.mountReads += 1
            return state.drives.filter { $0.value && $0.key.starts(with: root) }.keys.map { $0.relative(to: root) }
        }
    }

    /// Says which drive is at a path and below it; `nil` where nothing tells.
    package func setIdentity(_ drive: DriveIdentity?, at path: FilePath) {
        changeMounts { $0.identities[path] = drive }
    }
    private func changeMounts(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            state.mountChanges += 1
        }
    }
    package func drive(at path: FilePath) -> DriveIdentity? {
        state.withLock { state in
            state.identities.filter { path.starts(with: $0.key) }
                .max { $0.key.components.count < $1.key.components.count }?.value
        }
    }

    private var files: [FilePath: File] {
        state.withLock { state in
            let away = state.drives.filter { !$0.value }.keys
            guard state.isMounted else { return [:] }
            if away.isEmpty { return state.files }
            return state.files.filter { file in !away.contains { file.key.starts(with: $0) } }
        }
    }

    // MARK: TreeScanner

    package func scan(root: FilePath, from start: FilePath, visit: (ScannedFolder) throws -> Void) throws {
        let files = files
        let (unreadable, made, links) = state.withLock { state in
            (
                state.unreadable.filter { $0.starts(with: root) }, state.folders.filter { $0.starts(with: root) },
                state.links
            )
        }
        var folders = unreadable.union(made).union([root])
        for path in files.keys where path.starts(with: root) {
            var folder = path.removingLastComponent()
            while folder != root {
                folders.insert(folder)
                folder.removeLastComponent()
            }
        }
        guard folders.contains(start) else { throw ScanError(.missing, path: start, message: "no such folder") }
        func isHidden(_ folder: FilePath) -> Bool { unreadable.contains { $0 != folder && folder.starts(with: $0) } }
        let visible = folders.filter { $0.starts(with: start) && !isHidden($0) }
        for folder in visible.sorted(by: { $0.string < $1.string }) {
            var relative = folder
            _ = relative.removePrefix(root)
            let action = state.withLock { $0.onScan }
            action(folder)
            if unreadable.contains(folder) {
                let error = ScanError(.denied, path: folder, message: "permission denied")
                try visit(ScannedFolder(path: relative, files: [], error: error))
                continue
            }
            let found = self.files.filter { $0.key.removingLastComponent() == folder }
                .sorted { $0.key.string < $1.key.string }
                .compactMap { path, file in path.lastComponent.map { ScannedFile(name: $0, stamp: file.stamp) } }
            var scanned = ScannedFolder(path: relative, files: found)
            scanned.others = links.filter { $0.removingLastComponent() == folder }.compactMap(\.lastComponent)
                .map { ScannedOther(name: $0, kind: .link) }
            try visit(scanned)
        }
    }

    package func stamp(of file: FilePath) throws(ScanError) -> FileStamp? {
        let isUnseen = state.withLock { state in
            state.stampReads += 1
            return state.unseen.contains(file)
        }
        if isUnseen { throw ScanError(.failed, path: file, message: "I/O error") }
        return files[file]?.stamp
    }
    /// All is there that is on no drive which is not mounted.
    package func isThere(_ path: FilePath) -> Bool {
        state.withLock { state in
            state.thereChecks += 1
            return !state.drives.contains { !$0.value && path.starts(with: $0.key) }
        }
    }
    package func isBeingWritten(_ file: FilePath) -> Bool { state.withLock { $0.beingWritten.contains(file) } }

    // MARK: PhotoReducer

    package func examine(_ path: FilePath) throws(PhotoError) -> PhotoFacts {
        let action = state.withLock { state in
            state.examined.append(path)
            return state.onExamine
        }
        action(path)
        let file = try open(path)
        let isJSON = path.extension == "json" && ["[", "{"].contains(file.text.first)
        let type: MediaType =
            isJSON
            ? .json
            : file.text.hasPrefix("text")
                ? .unknown : file.text.hasPrefix("film") ? FilmType.mp4.mediaType : .jpeg
        return PhotoFacts(stamp: file.stamp, type: type, digest: ContentDigest(of: Array(file.text.utf8)))
    }

    private func open(_ path: FilePath) throws(PhotoError) -> File {
        if state.withLock({ $0.belowLinks.contains(path) }) {
            throw PhotoError(.notAFile, "a symbolic link, which is not followed")
        }
        guard let file = files[path] else { throw PhotoError(.missing, "it is gone") }
        return file
    }

    package func whyUnwanted(_ path: FilePath, stamp: FileStamp) -> String? {
        guard let file = files[path], file.stamp == stamp, file.text.hasPrefix("text") else { return nil }
        state.withLock { $0.textReads += 1 }
        return "neither a photo nor a video; it stays on this machine"
    }

    package func reduce(
        _ path: FilePath, examined: PhotoFacts, policy: ReducePolicy
    ) throws(PhotoError) -> StoredCopy {
        let (action, change) = state.withLock { state in
            state.reduced.append(path)
            return (state.onReduce, state.onCopy)
        }
        PooledWork.step { action(path) }
        guard let file = files[path], file.stamp == examined.stamp else { throw PhotoError(.changed, "it changed") }
        let isCut = state.withLock { state in
            guard let times = state.cuts[path], times > 0 else { return false }
            state.cuts[path] = times - 1
            return true
        }
        if isCut { throw PhotoError(.truncated, "Premature end of JPEG file") }
        var copy = try Self.copy(of: file.text)
        change(&copy)
        return copy
    }

    package func reduce(
        _ photo: [UInt8], as type: MediaType?, policy: ReducePolicy
    ) throws(PhotoError) -> StoredCopy {
        let text = String(decoding: photo, as: UTF8.self)
        let action = state.withLock { $0.onPhoto }
        try action(text)
        if text.hasPrefix("text") { throw PhotoError(.notAPhoto, "its photo is no picture") }
        return try Self.copy(of: text)
    }

    package func read(_ path: FilePath, _ range: Range<Int>, stamp: FileStamp) throws(PhotoError) -> [UInt8] {
        let file = try open(path)
        guard file.stamp == stamp else { throw PhotoError(.changed, "it changed") }
        return Array(Array(file.text.utf8)[range])
    }

    private static func copy(of text: String) throws(PhotoError) -> StoredCopy {
        if text.hasPrefix("broken") { throw PhotoError(.truncated, "Premature end of JPEG file") }
        let bytes = Array(text.uppercased().utf8)
        return StoredCopy(
            content: .reduced(bytes), type: .jpeg, digest: ContentDigest(of: bytes), width: 4, height: 3)
    }
}
