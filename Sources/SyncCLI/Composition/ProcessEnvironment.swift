import Foundation
import FoundationEssentials
import Glibc
import SyncCore
import SyncWatch
import SystemPackage

/// What the process was started with.
enum ProcessEnvironment {
    /// The words of the command line, without that of the program.
    ///
    /// Not `CommandLine.arguments`: the standard library looks for them in front of `environ`, where the kernel has put
    /// both. A preloaded library that sets a variable before main (libfaketime, tcmalloc) moves `environ` to the heap, and
    /// there are none then, or worse. The kernel knows where they are (proc(5), `/proc/pid/cmdline`).
    static var arguments: [String] {
        words(inCommandLine: ProcFile.bytes("/proc/self/cmdline")) ?? Array(CommandLine.arguments.dropFirst())
    }

    /// Each word as ``RawText``: a path need not be UTF-8, and the parser of the command line knows text only.
    /// - Parameter bytes: each word with a NUL behind it, the program first; `nil` where there is no /proc.
    static func words(inCommandLine bytes: [UInt8]?) -> [String]? {
        guard let bytes, bytes.last == 0 else { return nil }
        return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false).dropFirst()
            .map { RawText.text(of: Array($0)) }
    }

    /// The file of this program (proc(5), `/proc/pid/exe`).
    static var executable: FilePath {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        return count > 0 ? FilePath(platformString: buffer) : "/"
    }

    static var current: [String: String] { ProcessInfo.processInfo.environment }

    static var workingFolder: FilePath {
        guard let buffer = getcwd(nil, 0) else { return "/" }
        defer { free(buffer) }
        return FilePath(platformString: buffer)
    }

    /// A path that a person wrote, from the root.
    static func absolute(_ path: String) -> FilePath {
        workingFolder.pushing(FilePath(argument: path)).lexicallyNormalized()
    }

    /// The name that the user is known by on this machine; the answer of getpwuid(3), else `$USER`.
    static var userName: String? {
        if let entry = getpwuid(geteuid()), let name = entry.pointee.pw_name { return String(cString: name) }
        return current["USER"]
    }

    /// As gethostname(2) tells it.
    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "machine" }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.isEmpty ? "machine" : text
    }

    static var processorCount: Int { max(ProcessInfo.processInfo.activeProcessorCount, 1) }
}

extension TimeSource {
    /// The clocks of this machine.
    static let system: TimeSource = {
        let start = ContinuousClock.now
        return TimeSource(
            now: { Date() },
            monotonic: { start.duration(to: .now) },
            sleep: { try await Task.sleep(for: $0) },
            random: { Double.random(in: 0..<1) }
        )
    }()

    /// Runs `body`, which is cancelled when it takes longer.
    /// - Throws: `overdue` then, and what `body` throws.
    func within<Value: Sendable>(
        _ limit: Duration, else overdue: any Error = Overdue(), _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: body)
            group.addTask {
                try await self.sleep(limit)
                throw overdue
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw overdue }
            return value
        }
    }
}

/// What was waited for has not come in time.
struct Overdue: Error, CustomStringConvertible {
    var description: String { "it took too long" }
}

/// What the time zone of this machine is called in the tz database.
struct MachineZoneName {
    /// `nil` where its rules have no name there (`TZ=JST-9`).
    let zone: TimeZone?

    /// As the C library finds it (tzset(3)): `TZ`, else what `/etc/localtime` leads to, else UTC.
    /// - Parameter variable: what `TZ` says.
    init(_ variable: String?, localTime: FilePath = "/etc/localtime") {
        if let variable {
            let name = variable.drop { $0 == ":" }
            zone = Self.zone(named: name.isEmpty ? "UTC" : Self.name(behindDatabase: name))
            return
        }
        let targets = Self.targets(of: localTime)
        for target in targets where target.contains("zoneinfo/") {
            zone = Self.zone(named: Self.name(behindDatabase: target[...]))
            return
        }
        // Of a copied file nobody knows the name, which then is in `/etc/timezone`.
        let noted = Self.line(of: localTime.removingLastComponent().appending("timezone"))
        let isUnknown = !targets.isEmpty || FileManager.default.fileExists(atPath: localTime.string)
        zone = noted.map { Self.zone(named: $0[...]) } ?? (isUnknown ? nil : Self.zone(named: "UTC"))
    }

    private static func zone(named name: Substring) -> TimeZone? {
        TimeZone(identifier: String(name))
    }

    /// `Asia/Tokyo` of `../usr/share/zoneinfo/posix/Asia/Tokyo`.
    private static func name(behindDatabase path: Substring) -> Substring {
        guard let database = path.firstRange(of: "zoneinfo/") else { return path }
        let name = path[database.upperBound...]
        for variant in ["posix/", "right/"] where name.hasPrefix(variant) { return name.dropFirst(variant.count) }
        return name
    }

    private static let mostLinks = 8

    /// Where a link leads, and where that leads.
    private static func targets(of file: FilePath) -> [String] {
        var (file, targets) = (file, [String]())
        while targets.count < mostLinks,
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file.string)
        {
            targets.append(target)
            file = file.removingLastComponent().pushing(FilePath(target)).lexicallyNormalized()
        }
        return targets
    }

    /// The first one with something in it that is no comment.
    private static func line(of file: FilePath) -> String? {
        (try? String(contentsOfFile: file.string, encoding: .utf8))?.split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }.first { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}
