/// Who moves old photos to the archive.
package enum TierMode: String, Hashable, Sendable, CaseIterable {
    /// Rules that the bucket keeps and carries out.
    case bucket
    /// The agent, by copying objects onto themselves.
    case agent
    case off
}
