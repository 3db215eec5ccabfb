import FoundationEssentials
import SyncCore
import SyncEngine
import UnixSignals

/// One call of `mirror`, from its first request to its exit code: runs the mirror once or until the share ends, and says
/// what comes of it.
struct MirrorSession: Sendable {
    private let parts: MirrorParts
    private let output: Terminal
    private let errors: Terminal
    private let isJSON: Bool

    init(_ parts: MirrorParts, output: Terminal, errors: Terminal, isJSON: Bool) {
        self.parts = parts
        self.output = output
        self.errors = errors
        self.isJSON = isJSON
    }

    /// - Parameter interval: between two looks; `nil` to look once.
    func run(watchingEvery interval: Duration?) async throws -> ExitStatus {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        return try await withThrowingTaskGroup(of: ExitStatus?.self) { group in
            group.addTask {
                do {
                    if let interval { return try await watch(every: interval) }
                    return try await once()
                } catch is CancellationError {
                    return nil
                }
            }
            group.addTask {
                for await _ in signals { return nil }
                throw CancellationError()
            }
            let first = try await group.next() ?? nil
            group.cancelAll()
            if let first { return first }
            // Stopped: what has arrived is written down before the end.
            if let last = try? await group.next() ?? nil { return last }
            if interval != nil { return .done }
            throw CommandFailure(.failed, "stopped; what has arrived stays, and the same command goes on from there")
        }
    }

    private func once() async throws -> ExitStatus {
        let result = try await mirror()
        let view = view(of: result)
        if !isJSON { view.lines.forEach(output.writeLine) }
        view.complaints.forEach(errors.writeLine)
        if isJSON { output.writeLine(try JSONOutput.text(MirrorReport(result))) }
        return ExitStatus(result)
    }

    private func mirror() async throws -> MirrorResult {
        let line = MirrorLine(terminal: errors, time: parts.time)
        defer { line.finish() }
        do {
            return try await parts.mirror.run(line.note)
        } catch let error as StoreError where error.code == .notFound {
            throw CommandFailure(.noSuchPath, error.message)
        }
    }

    private func watch(every interval: Duration) async throws -> ExitStatus {
        let line = MirrorLine(terminal: errors, time: parts.time)
        var account = MirrorAccount()
        defer { line.finish() }
        do {
            try await MirrorWatch(parts.mirror, every: interval, time: parts.time).run(observe: line.note) { outcome in
                line.finish()
                let isFirst = account.total == nil
                account.note(outcome)
                switch outcome {
                case .success(let result):
                    let view = view(of: result)
                    if !isJSON { (isFirst ? view.lines : view.changes).forEach(output.writeLine) }
                    account.news(in: view.complaints).forEach(errors.writeLine)
                case .failure(let error):
                    account.news(in: ["waiting: \(error)"]).forEach(errors.writeLine)
                }
            }
        } catch let error as StoreError where error.code == .notFound {
            throw CommandFailure(.noSuchPath, error.message)
        } catch is CancellationError where account.total != nil {
            // Stopped, which is how a watch ends.
        }
        if isJSON, let total = account.total { output.writeLine(try JSONOutput.text(total)) }
        return account.status
    }

    private func view(of result: MirrorResult) -> MirrorView {
        MirrorView(result: result, terminal: output, isPreview: parts.mirror.options.isPreview)
    }
}
