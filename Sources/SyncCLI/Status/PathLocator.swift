import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

/// Finds what the ledger calls a path that a person wrote. A watched folder may be a symbolic link, or lie behind one.
struct PathLocator: Sendable {
    private let roots: [(configured: FilePath, real: FilePath)]

    init(roots: [FilePath]) {
        self.roots = roots.map { ($0, $0.resolved ?? $0) }
    }

    /// The path as it is, then the same place below a watched folder as it is configured.
    func candidates(for path: FilePath) -> [FilePath] {
        guard let real = path.resolvedAsFarAsThere else { return [path] }
        let others = roots.compactMap { root -> FilePath? in
            var rest = real
            guard root.real != root.configured || real != path, rest.removePrefix(root.real) else { return nil }
            return root.configured.pushing(rest)
        }
        return [path] + others.filter { $0 != path }
    }

    /// What is known at a path that a person wrote: of a file, or of all below a folder.
    /// - Parameter visit: also gets the path as the ledger calls it.
    /// - Returns: whether anything is known there.
    func photos(at path: String, in ledger: Ledger, visit: (PhotoStatus, FilePath) throws -> Void) throws -> Bool {
        for candidate in candidates(for: ProcessEnvironment.absolute(path)) {
            if try ledger.photos(at: candidate, visit: { try visit($0, candidate) }) > 0 { return true }
        }
        guard let place = LedgerRebuild.place(named: path) else { return false }
        return try ledger.photos(at: place, visit: { try visit($0, place) }) > 0
    }

    /// As for one path.
    /// - Returns: the paths of which nothing is known.
    func photos(at paths: [String], in ledger: Ledger, visit: (PhotoStatus) throws -> Void) throws -> UnknownPaths {
        try UnknownPaths(paths.filter { path in try !photos(at: path, in: ledger) { photo, _ in try visit(photo) } })
    }
}

/// Paths of which the ledger knows nothing. Exit code 66.
struct UnknownPaths {
    private(set) var paths: [String]

    init(_ paths: [String] = []) { self.paths = paths }

    mutating func add(_ path: String) { paths.append(path) }

    /// `nil` where something is known of each.
    var failure: CommandFailure? {
        if paths.isEmpty { return nil }
        let isRefused = paths.contains { ProcessEnvironment.absolute($0).unreadableFolder != nil }
        return CommandFailure(isRefused ? .refused : .noSuchPath, paths.map(Self.message).joined(separator: "\n"))
    }

    static func message(_ path: String) -> String {
        let path = ProcessEnvironment.absolute(path)
        let unknown = "nothing is known of this path; is it below a watched folder, and was it synced?"
        let isLink = (try? FileStatus(at: path))?.kind == .link
        let link = isLink ? "it is a symbolic link: links are not followed, and nothing is stored of it" : nil
        return "\(path.text.escapingControls): \(obstacle(to: path) ?? link ?? unknown)"
    }

    /// What to say of a folder that keeps us from what is in it, so that nobody can say that nothing is there;
    /// `nil` where there is none.
    static func obstacle(to path: FilePath) -> String? {
        path.unreadableFolder.map {
            "nothing is known of it, and nobody can tell what is there: \($0.text.escapingControls) may not be read "
                + "and entered; allow it (chmod u+rx), then sync-agent sync"
        }
    }
}

extension Installation {
    var pathLocator: PathLocator { PathLocator(roots: settings.watch.map(\.path)) }

    /// Where names of photos and vacations are looked up.
    var restorePlaces: RestoreSelection.Places {
        let locator = pathLocator
        return RestoreSelection.Places(
            workingFolder: ProcessEnvironment.workingFolder,
            vacationRoots: settings.watch.filter { $0.kind == .vacations }.map(\.path),
            candidates: { locator.candidates(for: $0) })
    }
}
