import SyncCore
import SystemPackage

extension FilePath {
    /// The part of the path below `root`: empty for the root itself, `nil` when the path is not below it, or goes up.
    func below(_ root: FilePath) -> FilePath? {
        var relative = self
        guard relative.removePrefix(root), !relative.components.contains(where: { $0.kind != .regular }) else {
            return nil
        }
        return relative
    }
}

extension FilePath.Component {
    /// A name as the system gives it, left out when it is one of ``IgnoredNames``. Bytes that are not UTF-8 are kept.
    init?(unlessIgnored name: UnsafePointer<CChar>) {
        guard !IgnoredNames.contains(String(cString: name)) else { return nil }
        self.init(platformString: name)
    }

    var isIgnored: Bool { IgnoredNames.contains(string) }
}
