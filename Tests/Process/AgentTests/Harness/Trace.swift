import Foundation
import SyncTestSupport
import SystemPackage

/// What a run of the program asks of the disk, in its order, as strace(1) tells it.
struct Trace: Sendable {
    /// A call that has ended well: its name, and its arguments with the paths of descriptors.
    struct Call: Sendable {
        var name: Substring
        var arguments: Substring
    }

    var calls: [Call] = []

    /// Runs a command to its end under strace.
    init(_ home: AgentHome, _ arguments: [String]) async throws {
        let log = home.tree.path("trace-\(UInt32.random(in: .min ... .max))")
        let options = [
            "-f", "-qq", "-y", "-s", "0", "-e", "trace=pwrite64,fsync,fdatasync,rename,link,renameat2,unlink,unlinkat",
            "-o", log.string,
        ]
        let process = try ChildProcess(
            FilePath(Tool.strace.rawValue), options + ["--", AgentBinary.path.string] + arguments,
            environment: home.environment)
        let finished = try await process.finished()
        guard finished.code == 0 else { throw UnexpectedEnd(finished: finished) }
        var unfinished: [Substring: Substring] = [:]
        for line in String(decoding: try log.bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2 else { continue }
            var text = parts[1].drop { $0 == " " }
            if text.hasSuffix("<unfinished ...>") {
                unfinished[parts[0]] = text.dropLast("<unfinished ...>".count)
                continue
            }
            if text.hasPrefix("<... "), let start = unfinished.removeValue(forKey: parts[0]),
                let end = text.range(of: "resumed>")
            {
                text = start + text[end.upperBound...]
            }
            guard let open = text.firstIndex(of: "("), !text.contains(" = -1 ") else { continue }
            calls.append(Call(name: text[..<open], arguments: text[text.index(after: open)...]))
        }
    }

    /// Whether a transaction was on the disk before the first call that `isPromise` finds: frames were written to the
    /// write-ahead log, and it was synced after them. To sync the log's header, which comes before them, is not enough.
    /// - Parameter wholly: whether all that was written before has to be, and not only the first of it.
    func isLedgerDurable(wholly: Bool = false, before isPromise: (Call) -> Bool) -> Bool? {
        guard let promise = calls.firstIndex(where: isPromise) else { return nil }
        let earlier = calls[..<promise].filter { $0.arguments.contains("ledger.sqlite-wal>") }
        let isPage = { (call: Call) in call.name == "pwrite64" && call.arguments.contains(", 4096, ") }
        guard let written = wholly ? earlier.lastIndex(where: isPage) : earlier.firstIndex(where: isPage) else {
            return false
        }
        return earlier[written...].contains { $0.name == "fdatasync" || $0.name == "fsync" }
    }
}
