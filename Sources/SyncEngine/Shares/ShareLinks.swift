package import FoundationEssentials
package import SyncCore
import SyncLedger

/// Under which addresses a share is seen.
package struct ShareLinks: Sendable {
    package enum Kind: Hashable, Sendable {
        /// Everybody can read what is below an address, which does not end in a slash.
        case open(String)
        /// The store signs a link for each object.
        case signed
        /// By its id, in this store only.
        case byID
    }

    /// How many links are asked of the store at once.
    private static let requestsInFlight = 8

    /// Seconds. A store signs whole seconds, from the last whole one on: so much may be missing at the end of a link.
    private static let slack: TimeInterval = 2

    private let store: any ObjectStore
    package let kind: Kind
    private let time: TimeSource

    /// - Parameter publicBaseURL: where everybody can read the store's objects; `nil` when nobody can.
    package init(store: any ObjectStore, publicBaseURL: URL?, time: TimeSource) {
        self.store = store
        self.time = time
        if let base = publicBaseURL?.absoluteString {
            kind = .open(Self.withoutShares(base))
        } else {
            kind = store.capabilities.links ? .signed : .byID
        }
    }

    /// Whether a live share is reached in the way in which shares are reached now: the configuration may have changed.
    func fit(_ share: ShareRecord) -> Bool {
        guard share.state == .live, let link = share.link else { return true }
        return switch kind {
        case .open(let base): link.url == open(share.keys.page, below: base)
        case .signed: share.linksEndAt != nil
        case .byID: link.url == Self.byID(share.id)
        }
    }

    static func byID(_ id: ShareID) -> String { RestoreSelection.shareScheme + id.description }

    /// An address that needs no signature.
    func open(_ key: ObjectKey, below base: String) -> String { "\(base)/\(key.rawValue)" }

    /// Links that last until `end`, or as long as the store allows. None is said to end later.
    func signed(_ keys: [ObjectKey], until end: Date) async throws -> [ObjectKey: StoreLink] {
        let life = max(end.timeIntervalSince(time.now()), 1).rounded(.up) + Self.slack
        let links = try await keys.concurrently(Self.requestsInFlight) { [store] key in
            var link = try await store.link(to: key, lasting: .seconds(life))
            if link.endsAt.addingTimeInterval(Self.slack) >= end, link.isEndKnown { link.endsAt = end }
            return (key, link)
        }
        return Dictionary(links, uniquingKeysWith: { $1 })
    }

    /// The base may name the store's top or its `shares/`: both mean the same objects.
    private static func withoutShares(_ base: String) -> String {
        var base = base
        while base.hasSuffix("/") { base.removeLast() }
        let shares = "/" + ShareKeys.prefix.dropLast()
        return base.hasSuffix(shares) ? String(base.dropLast(shares.count)) : base
    }
}
