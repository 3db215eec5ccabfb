import Foundation
import SyncTestSupport
import SystemPackage

/// A program that tests look at results with, past ours.
enum Tool: String, Sendable {
    case exiftool = "/usr/bin/exiftool"
    case chromium = "/usr/bin/chromium"
    case ffmpeg = "/usr/bin/ffmpeg"
    case strace = "/usr/bin/strace"
    case desktopFileValidate = "/usr/bin/desktop-file-validate"

    /// Whether it can be left out: not in CI, and not where servers are required either.
    var isMissing: Bool {
        !S3Server.isRequired && !FileManager.default.isExecutableFile(atPath: rawValue)
    }

    /// Runs a program that may take its time to its end.
    /// - Returns: what it prints.
    static func run(_ program: FilePath, _ arguments: [String], home: AgentHome) async throws -> [UInt8] {
        let process = try ChildProcess(program, arguments, environment: home.environment)
        // Its children do the work, which is no effort of its own.
        let finished = try await eventually(
            "the end of \(program)", within: Patience.limit * 4, seen: { "\(process.progress.value)" }
        ) {
            process.progress.value.isOver ? try await process.finished() : nil
        }
        guard finished.code == 0 else { throw UnexpectedEnd(finished: finished) }
        return finished.output
    }
}
