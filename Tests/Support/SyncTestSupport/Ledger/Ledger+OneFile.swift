package import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SystemPackage

extension Ledger {
    /// As ``observe(_:drive:stillThere:whySkipped:at:)``, of one file on the drive that the photos of its place were
    /// found on.
    /// - Parameter file: below the folder.
    /// - Returns: whether the photo waits for its upload now.
    package func observe(
        _ folder: FolderID, file: FilePath, stamp: FileStamp, stillThere: (FilePath) -> Bool, at time: Date
    ) throws(LedgerError) -> Bool {
        let file = SettledFile(folder: folder, path: file, stamp: stamp)
        return try observe([file], drive: { _ in .known }, stillThere: stillThere, at: time).queued == 1
    }
}
