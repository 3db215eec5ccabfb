import SyncCore
import SyncSystem
package import SystemPackage

extension Ledger {
    /// Gives the file of a ledger that nobody has open another name, and so what SQLite keeps beside it: nothing is deleted.
    /// Behind a link that is done where the file lies, and an empty one takes its place, in one step where the file system
    /// can: the next ledger lies there, too, and could not be made behind a link that leads nowhere.
    ///
    /// A kill at any moment leaves the old ledger whole, or the one that was set aside. When this throws, all is where it
    /// was.
    /// - Parameter before: called before each step. Tests script it.
    /// - Returns: where it is now.
    /// - Throws: `Errno`.
    package static func moveAside(
        _ path: FilePath, before: @escaping SetAside.Before = { _ in }
    ) throws(Errno) -> FilePath {
        try SetAside(of: path, before).run()
    }
}

/// How a ledger gets its other name, step by step.
///
/// A ledger without its log has lost what was committed last, and a log beside a ledger that is not its own would be
/// replayed into that (https://www.sqlite.org/howtocorrupt.html, 1.4). So the log gets its second name first, and loses the
/// first one last: between them the ledger is moved, in one step. What a kill leaves of the log under the first name then
/// stands beside no ledger, or an empty one, and SQLite removes it before it writes to that.
package struct SetAside {
    package enum Step: CaseIterable, Sendable {
        /// The new name is taken, by an empty file that is to have the old one.
        case reserve
        /// The log has both names.
        case keepLog
        case move
        /// The move is on the disk for good.
        case settle
        /// The old names of what SQLite keeps beside a ledger are free.
        case clear
    }

    package typealias Before = (Step) throws(Errno) -> Void

    private let file: FilePath
    private let place: FilePath
    private let isLinked: Bool
    private let before: Before

    /// What is to be undone.
    private struct Done {
        var isReserved = false
        var hasLog = false
        var isMoved = false
    }

    fileprivate init(of path: FilePath, _ before: @escaping Before) throws(Errno) {
        let target = try FileStatus.find(path)?.kind == .link ? path.resolved : nil
        let file = target ?? path
        place = try Self.freeName(for: file)
        self.file = file
        isLinked = target != nil
        self.before = before
    }

    /// - Throws: `Errno`.
    fileprivate func run() throws(Errno) -> FilePath {
        var done = Done()
        do {
            try before(.reserve)
            // First: where there is no room for it, all stays as it is.
            if isLinked {
                try Errno.only { _ = try NewFile.make([UInt8](), at: place) }
                done.isReserved = true
            }
            try before(.keepLog)
            try keepLog(&done)
            try before(.move)
            try move(&done)
            try before(.settle)
            try Folder.sync(folder)
        } catch {
            undo(done)
            throw error
        }
        clear()
        return place
    }

    // MARK: Steps

    private func keepLog(_ done: inout Done) throws(Errno) {
        guard FileStamp.ofFile(Self.log(file)) != nil else { return }
        do {
            try Self.log(file).link(as: Self.log(place))
        } catch {
            guard NewFile.refusesLinks(error) else { throw error }
            try Self.copy(Self.log(file), to: Self.log(place))
        }
        done.hasLog = true
        // Before the move: a power failure is not to leave that alone.
        try Folder.sync(folder)
    }

    private func move(_ done: inout Done) throws(Errno) {
        guard isLinked else {
            guard FileStamp.ofFile(file) != nil else { return }
            try file.rename(to: place)
            done.isMoved = true
            return
        }
        if try NewFile.exchange(file, place) {
            done.isMoved = true
            return
        }
        try file.rename(to: place)
        done.isMoved = true
        try Errno.only { _ = try NewFile.make([UInt8](), at: file) }
    }

    /// What cannot be removed is no fault: the ledger is whole where it is, and SQLite removes it, or says why it cannot.
    private func clear() {
        guard (try? before(.clear)) != nil else { return }
        if FileStamp.ofFile(Self.index(file)) != nil { try? Self.index(file).rename(to: Self.index(place)) }
        if FileStamp.ofFile(Self.log(place)) != nil { _ = try? Self.log(file).unlink() }
        try? Folder.sync(folder)
    }

    private func undo(_ done: Done) {
        if done.isMoved {
            // With its log, which has both names: where the way back is barred, nothing is taken from it.
            guard (try? place.rename(to: file)) != nil else { return }
        } else if done.isReserved {
            _ = try? place.unlink()
        }
        if done.hasLog { _ = try? Self.log(place).unlink() }
        try? Folder.sync(folder)
    }

    // MARK: Names

    private var folder: FilePath { file.removingLastComponent() }

    private static func log(_ path: FilePath) -> FilePath { FilePath(path.string + "-wal") }
    private static func index(_ path: FilePath) -> FilePath { FilePath(path.string + "-shm") }

    /// One that neither a ledger has nor what belongs to one: a log that lies there would be taken for this ledger's.
    private static func freeName(for file: FilePath) throws(Errno) -> FilePath {
        var (number, place) = (1, FilePath(file.string + ".damaged"))
        while true {
            try undoEarlier(of: file, at: place)
            if try isFree(place) { return place }
            number += 1
            place = FilePath(file.string + ".damaged-\(number)")
        }
    }

    private static func isFree(_ place: FilePath) throws(Errno) -> Bool {
        for name in [place, log(place), index(place)] {
            if try FileStatus.find(name) != nil { return false }
        }
        return true
    }

    /// What was killed before the move has left a second name of the ledger's log, and maybe the empty file.
    private static func undoEarlier(of file: FilePath, at place: FilePath) throws(Errno) {
        guard let own = try FileStatus.find(log(file)), let second = try FileStatus.find(log(place)),
            second.isSameFile(as: own), try FileStatus.find(place) == nil || isEmpty(place)
        else { return }
        if isEmpty(place) { _ = try place.unlink() }
        _ = try log(place).unlink()
    }

    private static func isEmpty(_ path: FilePath) -> Bool { FileStamp.ofFile(path)?.size == 0 }

    /// Where a file has no second name (FAT).
    private static func copy(_ log: FilePath, to place: FilePath) throws(Errno) {
        try Errno.only {
            let source = try FileDescriptor.opened(log, .readOnly, [.noFollow, .closeOnExec])
            defer { try? source.close() }
            let size = try FileStatus(of: source).stamp.size
            let piece = 1 << 20
            try NewFile.make([UInt8](), at: place) { copy in
                var offset: Int64 = 0
                while offset < size {
                    let bytes = try source.bytes(atMost: piece, from: offset)
                    guard !bytes.isEmpty else { throw Errno.ioError }
                    try copy.writeAll(bytes)
                    offset += Int64(bytes.count)
                }
            }
        }
    }
}
