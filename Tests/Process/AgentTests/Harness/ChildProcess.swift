import Foundation
import Glibc
import SyncTestSupport
import SystemPackage

/// A program at work. Its output is read by threads of its own, so that it never blocks on a full pipe, and it does not
/// outlive this object.
final class ChildProcess: Sendable {
    struct Progress: Sendable, CustomStringConvertible {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var openStreams = 2
        var ending: Ending?

        /// The complete lines of standard output.
        var outputLines: [Substring] { Self.lines(output) }
        /// The complete lines of standard error.
        var errorLines: [Substring] { Self.lines(errors) }

        private static func lines(_ bytes: [UInt8]) -> [Substring] {
            Array(
                String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
                    .dropLast())
        }
        var isOver: Bool { ending != nil && openStreams == 0 }
        var description: String {
            """
            standard output: \(String(decoding: output, as: UTF8.self))
            standard error: \(String(decoding: errors, as: UTF8.self))
            \(ending.map { "ended with \($0)" } ?? "still running")
            """
        }
    }

    enum Ending: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)

        /// - Parameter status: as waitpid(2) gives it.
        init(status: Int32) {
            let signal = status & 0x7F
            self = signal == 0 ? .code(status >> 8 & 0xFF) : .signal(signal)
        }
    }

    let pid: pid_t
    let progress: Observed<Progress>

    /// - Parameter typing: what somebody types, line by line, at the terminal that standard input and standard error then
    ///   are.
    /// - Throws: `Errno` when it cannot be started.
    init(
        _ program: FilePath, _ arguments: [String], environment: [String: String], typing: String? = nil
    ) throws {
        let output = try FileDescriptor.pipe(options: .closeOnExec)
        let errors = try typing.map { try Self.terminal(typing: $0) } ?? FileDescriptor.pipe(options: .closeOnExec)
        defer {
            try? output.writeEnd.close()
            try? errors.writeEnd.close()
        }
        let pid = try Spawn(program: program, arguments: arguments, environment: environment)
            .start(
                input: typing == nil ? nil : errors.writeEnd, output: output.writeEnd, errors: errors.writeEnd)
        self.pid = pid
        progress = Observed(Progress()) { Self.processorTime(of: pid) }
        Self.follow(output.readEnd, progress) { $0.output += $1 }
        Self.follow(errors.readEnd, progress) { $0.errors += $1 }
        Self.reap(pid, progress)
    }

    deinit { send(SIGKILL) }

    /// A pseudoterminal (pty(7)): the program has the end that is written to, and what is typed waits there for it.
    private static func terminal(
        typing text: String
    ) throws -> (readEnd: FileDescriptor, writeEnd: FileDescriptor) {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // ioctl_tty(2): TIOCSPTLCK and TIOCGPTN, whose macros Swift does not import.
        let (unlock, tellNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
        var (isLocked, number) = (Int32(0), UInt32(0))
        guard master >= 0, ioctl(master, unlock, &isLocked) == 0, ioctl(master, tellNumber, &number) == 0 else {
            throw Errno(rawValue: errno)
        }
        let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw Errno(rawValue: errno) }
        let here = FileDescriptor(rawValue: master)
        try here.writeAll(Array(text.utf8))
        return (here, FileDescriptor(rawValue: slave))
    }

    /// Sends a signal, unless the process has ended: its number may be another's by then.
    func send(_ signal: Int32) {
        progress.change { progress in
            if progress.ending == nil { kill(pid, signal) }
        }
    }

    /// Waits for the end, and for the last byte of output.
    func finished() async throws -> Finished {
        try await progress.wait(for: "the end of process \(pid)") { progress in
            guard let ending = progress.ending, progress.isOver else { return nil }
            return Finished(ending: ending, output: progress.output, errors: progress.errors)
        }
    }

    /// What a process has had of the processor, by proc(5); zero when it is gone.
    private static func processorTime(of pid: pid_t) -> Duration {
        guard let line = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            // The name before it may hold anything.
            let fields = line.split(separator: ")").last?.split(separator: " "), fields.count > 12,
            let user = Int(fields[11]), let system = Int(fields[12])
        else { return .zero }
        return .seconds(user + system) / Double(sysconf(CInt(_SC_CLK_TCK)))
    }

    private static func follow(
        _ stream: FileDescriptor, _ progress: Observed<Progress>,
        _ take: @escaping @Sendable (inout Progress, ArraySlice<UInt8>) -> Void
    ) {
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while let count = try? buffer.withUnsafeMutableBytes({ try stream.read(into: $0) }), count > 0 {
                let piece = buffer[..<count]
                progress.change { take(&$0, piece) }
            }
            try? stream.close()
            progress.change { $0.openStreams -= 1 }
        }
    }

    private static func reap(_ pid: pid_t, _ progress: Observed<Progress>) {
        Thread.detachNewThread {
            var info = siginfo_t()
            // Not reaped yet: until it is, under the lock, nobody else gets its number, and `send` cannot hit a stranger.
            while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
            progress.change { progress in
                var status: Int32 = 0
                waitpid(pid, &status, 0)
                progress.ending = Ending(status: status)
            }
        }
    }
}

/// What is left of a process.
struct Finished: Sendable {
    let ending: ChildProcess.Ending
    let output: [UInt8]
    let errors: [UInt8]

    var text: String { String(decoding: output, as: UTF8.self) }
    var complaint: String { String(decoding: errors, as: UTF8.self) }
    var code: Int32? { if case .code(let code) = ending { code } else { nil } }
}
