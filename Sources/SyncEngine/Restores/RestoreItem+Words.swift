import SyncCore
import SyncLedger

/// What is told of a photo of which no restore comes to anything, each with the next step, whoever finds it out.
extension RestoreItem {
    /// What is wrong with its object, for good.
    enum Ruin {
        case gone, damaged
        /// It is stored as an earlier version by now, which has to be asked for by itself.
        case setAside
    }

    func endWords(_ ruin: Ruin) -> String {
        switch ruin {
        case .gone: "nothing is stored under \(key) any more; \(nextStep)"
        case .damaged: "what is stored under \(key) is damaged, or is another than was stored; \(nextStep)"
        case .setAside: "what was stored under \(key) is an earlier version by now; restore it again"
        }
    }

    /// Why it has failed, by what the store has said of it.
    func words(of error: StoreError) -> String { error.code == .notFound ? endWords(.gone) : "\(error)" }

    private var nextStep: String {
        key.copyOfOriginal == nil
            ? "any copy of the photo in a watched folder brings it back (sync-agent sync), or a backup of the store"
            : "restore the stored copy (without --original), or put its file into a watched folder: the original is "
                + "kept anew"
    }

    /// Whether what is stored is whole, and has other bytes than when it was asked for.
    func isOfAnother(_ object: ObjectRecord) -> Bool {
        guard object.problem == nil, let asked = sha256, let stored = object.sha256 else { return false }
        return asked != stored
    }
}
