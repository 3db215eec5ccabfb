/// Why an image, a video or a JSON file is not stored on purpose. It is counted and named beside what is safe, since
/// its owner may not know that it is left out. The ledger and `status --json` know it by these names.
package enum LeftOut: String, Hashable, Sendable, CaseIterable {
    /// The image of a project that is another one's duplicate.
    case duplicate
    /// The image of a project that has been in the making for too long.
    case dropped
    /// The image of a project that failed.
    case failed
    /// An image of which `projects.json` has no record that can be used.
    case unrecorded
    /// Of a kind that its folder does not store: a video among projects.
    case unfit
    /// A JSON file of a gallery that cannot be read: it may hold events.
    case unreadable
}
