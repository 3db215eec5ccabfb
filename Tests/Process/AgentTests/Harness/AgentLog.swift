import SyncTestSupport
import SystemPackage

/// What the agent's log tells of one photo that it is done with.
struct LoggedOutcome: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case stored, alreadyStored
        case failed(reason: String)
    }

    var path: String
    var kind: Kind

    /// Reads a line such as `2026-11-21T03:21:01Z info: stored PATH (3.8 KiB, sent 2.7 KiB)`.
    init?(line: some StringProtocol) {
        func rest(after start: String) -> Substring? {
            line.firstRange(of: start).map { Substring(line[$0.upperBound...]) }
        }
        if let rest = rest(after: " info: stored "), let size = rest.lastIndex(of: "(") {
            self.init(path: String(rest[..<size].dropLast()), kind: .stored)
        } else if let rest = rest(after: " info: already stored: ") {
            self.init(path: String(rest), kind: .alreadyStored)
        } else if let rest = rest(after: " warning: cannot be stored: "), let colon = rest.firstRange(of: ": ") {
            self.init(path: String(rest[..<colon.lowerBound]), kind: .failed(reason: String(rest[colon.upperBound...])))
        } else {
            return nil
        }
    }

    init(path: String, kind: Kind) {
        self.path = path
        self.kind = kind
    }
}

extension ChildProcess {
    /// What it has logged of photos so far.
    var outcomes: [LoggedOutcome] { progress.value.outcomes }

    /// Waits for a line of standard error.
    @discardableResult
    func logged(_ isIt: (Substring) -> Bool) async throws -> String {
        try await untilOver(for: "a line of the log") { $0.errorLines.first(where: isIt).map(String.init) }
    }

    /// Waits for a line of what it prints.
    func printed(_ isIt: (Substring) -> Bool) async throws -> String {
        try await untilOver(for: "a line of its output") { $0.outputLines.first(where: isIt).map(String.init) }
    }

    /// Waits until the log tells that it is done with a photo. Its last word counts.
    func outcome(of path: FilePath) async throws -> LoggedOutcome.Kind {
        try await untilOver(for: "an outcome of \(path)") { progress in
            progress.outcomes.last { $0.path == path.string }?.kind
        }
    }

    /// Waits until a photo is told to be stored, whatever was told of it before. It may be read once more at once, and then is
    /// there already.
    func comesToStore(_ path: FilePath) async throws {
        try await untilOver(for: "\(path) to be stored") { progress in
            switch progress.outcomes.last(where: { $0.path == path.string })?.kind {
            case .stored, .alreadyStored: ()
            case .failed, nil: nil
            }
        }
    }

    /// Waits until so many lines tell of a photo stored.
    func stored(atLeast count: Int) async throws {
        try await untilOver(for: "\(count) photos stored") { progress in
            progress.outcomes.count { $0.kind == .stored } >= count ? () : nil
        }
    }

    /// Waits until every one of the photos has been told of.
    /// - Returns: what was logged of them.
    @discardableResult
    func outcomes(of paths: [FilePath]) async throws -> [LoggedOutcome] {
        let names = Set(paths.map(\.string))
        return try await untilOver(for: "an outcome of \(paths.count) photos") { progress in
            let told = progress.outcomes.filter { names.contains($0.path) }
            return Set(told.map(\.path)) == names ? told : nil
        }
    }

    private func untilOver<Found>(for what: String, _ look: (Progress) -> Found?) async throws -> Found {
        try await progress.wait(for: what) { progress in
            if let found = look(progress) { return found }
            if progress.isOver { throw Overdue(what: what, seen: "\(progress)") }
            return nil
        }
    }
}

extension ChildProcess.Progress {
    fileprivate var outcomes: [LoggedOutcome] { errorLines.compactMap { LoggedOutcome(line: $0) } }
}
