import SyncCore
package import SystemPackage

/// Where the ledger has photos that are of no watched folder here.
extension LedgerRebuild {
    package static let recoveredFolder: FilePath = "/recovered"
    package static let machinesFolder: FilePath = "/machines"

    /// Where the ledger has what `rebuild` tells as `recovered/…` and `machines/…`; `nil` for other names.
    /// - Parameter name: as ``RawText``.
    package static func place(named name: String) -> FilePath? {
        let path = FilePath(argument: "/" + name).lexicallyNormalized()
        guard !name.hasPrefix("/"), path.starts(with: recoveredFolder) || path.starts(with: machinesFolder) else {
            return nil
        }
        return path
    }

    /// The name of the folder of a machine.
    static func fileName(_ name: String) -> String {
        let text = name.escapingControls.replacing("/", with: "_")
        return text.isEmpty || text == "." || text == ".." ? "machine" : text
    }
}
