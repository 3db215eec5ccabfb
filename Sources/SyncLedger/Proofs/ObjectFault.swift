/// What is wrong with a stored object.
package enum ObjectFault: Hashable, Sendable {
    /// The store does not have it any more.
    case missing
    /// The store has other bytes than were stored; the reason is in plain words.
    case damaged(String)

    private static let missingText = "missing"
    private static let damagedText = "damaged: "

    /// As the ledger keeps it.
    package var text: String {
        switch self {
        case .missing: Self.missingText
        case .damaged(let reason): Self.damagedText + reason
        }
    }

    package init(text: String) {
        self =
            text == Self.missingText
            ? .missing
            : .damaged(text.hasPrefix(Self.damagedText) ? String(text.dropFirst(Self.damagedText.count)) : text)
    }

    package var isDamage: Bool { if case .damaged = self { true } else { false } }

    /// Why a photo is not safe: what follows after "what was stored of it".
    package var words: String {
        switch self {
        case .missing: "is no longer in the store"
        case .damaged(let reason): "is damaged in the store (\(reason))"
        }
    }
}
