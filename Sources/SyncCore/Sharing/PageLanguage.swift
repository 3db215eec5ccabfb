/// A language in which the page of a share can be read.
package enum PageLanguage: String, Hashable, Sendable, CaseIterable {
    case en, de, es, fr, zh

    /// For `lang` (BCP 47). Chinese is in simplified characters.
    package var tag: String { self == .zh ? "zh-Hans" : rawValue }
}
