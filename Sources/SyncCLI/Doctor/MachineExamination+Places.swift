import SyncCore
import SyncEngine
import SyncLedger

extension MachineExamination {
    /// Failed photos that are looked through.
    private static let mostFailed = 1_000

    /// What `photos.strip_location` keeps on this machine; nothing where it is off.
    func lookAtPlaces(_ ledger: Ledger, _ policy: ReducePolicy?) {
        guard let policy, policy.stripLocation else { return }
        let name = "positions"
        let promise = "no photo is stored with what says where it was taken"
        let kept = ((try? ledger.failedPhotos(limit: Self.mostFailed)) ?? [])
            .count { $0.error?.contains("photos.strip_location") == true }
        checks.add(
            kept == 0
                ? .ok(name, promise + "; what was stored before photos.strip_location was set is as it was")
                : .limited(
                    name,
                    "\(promise): \(Quantities.counted(kept, "file")) cannot be freed of it and \(kept == 1 ? "is" : "are") not "
                        + "stored",
                    instead:
                        "sync-agent status names them. Remove the position from the files, or set photos.strip_location: "
                        + "false and run sync-agent retry"))
    }
}
