/// Which copies of its photos a share consists of.
package enum ShareQuality: String, Hashable, Sendable, CaseIterable {
    /// Reduced as stored photos are.
    case reduced
    /// The picture as it was taken, where the file is on this machine; else as it is stored.
    case full
}
