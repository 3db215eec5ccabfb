import SyncCore

/// The memory of a store that is examined: what earlier runs learned is not believed, so that all is tried anew, and what
/// is found is remembered as ever.
struct UnbelievingMemory: StoreMemory {
    let base: any StoreMemory

    init(_ base: any StoreMemory) {
        self.base = base
    }

    func facts(of place: String) -> [String: String] { [:] }

    func remember(_ fact: String, value: String, of place: String) { base.remember(fact, value: value, of: place) }

    func noteUpload(_ upload: StoredUpload) { base.noteUpload(upload) }

    func forgetUpload(_ id: String) { base.forgetUpload(id) }

    func unfinishedUploads() -> [StoredUpload] { base.unfinishedUploads() }
}
