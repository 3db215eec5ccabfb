import Glibc
import SystemPackage

/// Finds what the ledger calls a path that a person wrote. A watched folder may be a symbolic link, or lie behind one.
struct PathLocator {
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
