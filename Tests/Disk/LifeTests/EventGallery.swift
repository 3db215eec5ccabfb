import FoundationEssentials
import Glibc
import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage

/// The folder in which another app keeps its events. Unlike the other folders of a home it is one of the system's: what
/// replaces a file asks the system which file it has before it.
final class EventGallery: Sendable {
    private static let folder = "events"

    let path: FilePath
    private let tree: TemporaryTree
    private let clock: LifeClock

    init(in tree: TemporaryTree, clock: LifeClock) throws {
        self.tree = tree
        self.clock = clock
        path = try tree.makeFolder(Self.folder)
    }

    // MARK: What the app does

    /// Puts an event behind the others of a file.
    func add(_ id: String, _ event: EventModel.Event, to name: String) throws {
        let photo = event.photo.map { #", "photoData": "\#(Self.base64($0))""# } ?? ""
        let element = """
            {\(Self.date(id, event)), "userId": "u1", "profileId": "grandpa", "eventType": "taskResponse", \
            "text": "\(Self.words(id))"\(photo)}
            """
        // A cleanup that was killed may have left an empty list.
        let list = try read(name) ?? "[]"
        let others = list.contains("{") ? "\(list.dropLast()), " : "["
        try write("\(others)\(element)]", to: name)
    }

    /// Says more, and gives the event another time or photo.
    func edit(_ id: String, from old: EventModel.Event, to new: EventModel.Event) throws {
        for name in try names {
            guard var text = try read(name), text.contains(Self.words(id)) else { continue }
            text.replace(Self.words(id), with: "\(Self.words(id)) And more.")
            text.replace(Self.date(id, old), with: Self.date(id, new))
            if let old = old.photo, let new = new.photo { text.replace(Self.base64(old), with: Self.base64(new)) }
            try write(text, to: name)
        }
    }

    func rename(_ name: String, to other: String) throws {
        try path.appending(name).rename(to: path.appending(other))
    }

    func remove(_ name: String) throws { try path.appending(name).unlink() }

    private static func words(_ id: String) -> String { "words-of-\(id)." }
    private static func base64(_ photo: String) -> String { Data(photo.utf8).base64EncodedString() }
    private static func date(_ id: String, _ event: EventModel.Event) -> String {
        #""id": "\#(id)", "createdAt": \#(Int(event.created.timeIntervalSince1970))"#
    }

    private func write(_ text: String, to name: String) throws {
        try setTime(of: try tree.write(text, to: "\(Self.folder)/\(name)"))
    }

    /// The system's clock knows nothing of the home's.
    private func setTime(of file: FilePath) throws {
        let time = timespec(tv_sec: Int(clock.now.timeIntervalSince1970), tv_nsec: 0)
        guard utimensat(AT_FDCWD, file.string, [time, time], 0) == 0 else { throw Errno(rawValue: errno) }
    }

    // MARK: What is there

    private var all: [String] { get throws { try tree.files(below: Self.folder) } }
    /// Files of the app's, sorted.
    var names: [String] { get throws { try all.filter { !$0.hasPrefix(".") } } }
    /// Files that only a rewriting has.
    var leftovers: [String] { get throws { try all.filter { $0.hasPrefix(".") } } }

    private func read(_ name: String) throws -> String? {
        guard try names.contains(name) else { return nil }
        return String(decoding: try tree.read("\(Self.folder)/\(name)"), as: UTF8.self)
    }

    /// - Returns: those of the events whose texts are there, with the file of each.
    func texts(of ids: some Sequence<String>) throws -> [String: String] {
        var found: [String: String] = [:]
        for name in try names {
            guard let text = try read(name) else { continue }
            for id in ids where text.contains(Self.words(id)) { found[id] = name }
        }
        return found
    }

    // MARK: What a process does to it

    /// - Parameter steps: what it meets.
    func calls(_ steps: FileSteps) -> FileRewriteCalls {
        @Sendable func step<Value>(_ call: String, _ work: () throws -> Value) throws -> Value {
            try steps.before(call)
            let value = try work()
            try steps.after(call)
            return value
        }
        let system = FileRewriteCalls()
        var calls = FileRewriteCalls()
        calls.write = { bytes, new, model in
            try step("write") {
                _ = try system.write(bytes, new, model)
                try self.setTime(of: new)
                return try FileStamp(of: new)
            }
        }
        calls.exchange = { one, other in try step("exchange") { try system.exchange(one, other) } }
        calls.rename = { one, other in try step("rename") { try system.rename(one, other) } }
        calls.renameIfFree = { one, other in try step("rename back") { try system.renameIfFree(one, other) } }
        calls.remove = { file in try step("remove") { try system.remove(file) } }
        calls.syncFolder = { folder in try step("sync") { try system.syncFolder(folder) } }
        return calls
    }
}

/// What a process meets at each change of a file.
struct FileSteps: Sendable {
    /// What a killed process would have done next.
    struct Killed: Error {}

    var before: @Sendable (_ call: String) throws -> Void = { _ in }
    var after: @Sendable (_ call: String) throws -> Void = { _ in }
}
