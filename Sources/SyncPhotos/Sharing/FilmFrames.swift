import SyncCore
import SyncSystem
package import SystemPackage

/// Makes a picture of a film by ffmpeg(1), as a child process: nothing of a stranger's film is decoded in this one.
///
/// It reads that one file and nothing else (no network, no list of other files), and is bounded in time and output. What
/// it does not manage is no error: the film has no picture then.
package final class FilmFrames: Sendable {
    /// Bytes of a picture.
    private static let outputLimit = 24 << 20
    /// Bytes of address space.
    private static let mostMemory = 2 << 30

    package let program: FilePath
    private let path: String
    private let timeout: Duration
    private let report: @Sendable (String) -> Void
    private let hasTold = Lock(false)

    /// - Parameters:
    ///   - path: `PATH`; where ffmpeg is looked up, and what it gets of the environment.
    ///   - timeout: for one picture.
    ///   - report: gets the first trouble that there is, in plain words. On any thread.
    /// - Returns: `nil` where ffmpeg is not installed.
    package init?(
        path: String, timeout: Duration = .seconds(20), report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        let candidates = path.split(separator: ":").map { FilePath(String($0)).appending("ffmpeg") }
        guard let program = candidates.first(where: { $0.isAbsolute && $0.allows(.execute) }) else { return nil }
        (self.program, self.path, self.timeout, self.report) = (program, path, timeout, report)
    }

    /// The frame at the first second, or in the middle of what is shorter, as ffmpeg has made it.
    /// - Parameter side: the longer side at most, in pixels.
    func frame(of film: FilePath, lasting duration: Duration?, within side: Int) throws(PhotoError) -> [UInt8]? {
        let moment = min(Duration.seconds(1), duration.map { $0 / 2 } ?? .zero)
        let child = ChildProcess(
            words: words(for: film, at: moment, within: side), environment: ["PATH": path], timeout: timeout,
            outputLimit: Self.outputLimit)
        do {
            let ending = try child.run(PooledWork.currentFlag)
            guard ending.status == .exited(0) else {
                reportTrouble(String(decoding: ending.errors, as: UTF8.self))
                return nil
            }
            return ending.output
        } catch is CancellationError {
            throw PhotoError(.stopped, "it was not waited for any longer")
        } catch let failure as ChildProcess.Failure {
            reportTrouble(words(for: failure))
            return nil
        } catch {
            reportTrouble("\(error)")
            return nil
        }
    }

    func reportTrouble(_ words: String) {
        let isFirst = hasTold.withLock { hasTold in
            defer { hasTold = true }
            return !hasTold
        }
        guard isFirst else { return }
        let said = words.split(separator: "\n").last.map { ": " + String($0.prefix(200)).escapingControls } ?? ""
        report("\(program.string.escapingControls) makes no picture of a film\(said); it is shared without one")
    }

    private func words(for film: FilePath, at moment: Duration, within side: Int) -> [String] {
        // An agent that is killed leaves no program behind that goes on for ever, and none takes the machine's memory.
        let bounds = ["timeout", "-k", "5", "\(timeout.components.seconds + 5)", "prlimit", "--as=\(Self.mostMemory)"]
        let scale = "scale='min(\(side),iw)':'min(\(side),ih)':force_original_aspect_ratio=decrease"
        return bounds + [
            "nice", "-n", "10", program.string, "-nostdin", "-v", "error", "-threads", "1", "-protocol_whitelist",
            "file,pipe", "-f", "mov", "-ss", moment.secondsText, "-i", "file:\(film.string)", "-map", "0:V:0", "-an",
            "-sn", "-dn", "-frames:v", "1", "-vf", scale, "-c:v", "mjpeg", "-q:v", "3", "-f", "image2pipe", "pipe:1",
        ]
    }

    private func words(for failure: ChildProcess.Failure) -> String {
        switch failure {
        case .notStarted(let error): "it cannot be started: \(error.description)"
        case .tooSlow: "it did not end within \(timeout.components.seconds) seconds"
        case .tooMuch: "its answer was too long"
        }
    }
}
