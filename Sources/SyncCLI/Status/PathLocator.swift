import Glibc
import SyncConfig
import SyncCore
import SyncLedger
import SystemPackage

/// Finds what the ledger calls a path that a person wrote. A watched folder may be a symbolic link, or lie behind one.
struct PathLocator: Sendable {
    private let roots: [(configured: FilePath, real: FilePath)]

    init(roots: [FilePath]) {
        self.roots = roots.map { ($0, Self.realPath($0) ?? $0) }
    }

    /// The path as it is, then the same place below a watched folder as it is configured.
    func candidates(for path: FilePath) -> [FilePath] {
        let real =
            Self.realPath(path)
            ?? Self.realPath(path.removingLastComponent()).map { parent in
                path.lastComponent.map(parent.appending) ?? parent
            }
        guard let real else { return [path] }
        let others = roots.compactMap { root -> FilePath? in
            var rest = real
            guard root.real != root.configured || real != path, rest.removePrefix(root.real) else { return nil }
            return root.configured.pushing(rest)
        }
        return [path] + others.filter { $0 != path }
    }

    private static func realPath(_ path: FilePath) -> FilePath? {
        guard let resolved = realpath(path.string, nil) else { return nil }
        defer { free(resolved) }
        return FilePath(platformString: resolved)
    }
}

extension PathLocator {
    /// What is known at a path that a person wrote: of a file, or of all below a folder.
    /// - Parameter visit: also gets the path as the ledger calls it.
    /// - Returns: whether anything is known there.
    func photos(
        at path: String, in ledger: Ledger, visit: (PhotoStatus, FilePath) throws -> Void
    ) throws -> Bool {
        for candidate in candidates(for: ProcessEnvironment.absolute(path)) {
            if try ledger.photos(at: candidate, visit: { try visit($0, candidate) }) > 0 { return true }
        }
        return false
    }

    /// As for one path.
    /// - Returns: the paths of which nothing is known.
    func photos(
        at paths: [String], in ledger: Ledger, visit: (PhotoStatus) throws -> Void
    ) throws -> UnknownPaths {
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
        paths.isEmpty ? nil : CommandFailure(.noSuchPath, paths.map(Self.message).joined(separator: "\n"))
    }

    static func message(_ path: String) -> String {
        "\(ProcessEnvironment.absolute(path).string.escapingControls): nothing is known of this path; is it below a watched "
            + "folder, and was it synced?"
    }
}

extension Installation {
    var pathLocator: PathLocator { PathLocator(roots: settings.watch.map(\.path)) }
}
