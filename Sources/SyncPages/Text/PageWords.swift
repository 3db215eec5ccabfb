import FoundationEssentials
import SyncCore

/// What the page of a share says, in one language. The home of its words is `share-words.json`, which its script has, too.
struct PageWords: Sendable {
    /// A sentence, or its forms by the categories of plurals in CLDR. `{name}` is a place for a value.
    enum Sentence: Decodable, Hashable, Sendable {
        case plain(String)
        case forms([String: String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .plain(text)
            } else {
                self = .forms(try container.decode([String: String].self))
            }
        }
    }

    /// A sentence around an element of the page.
    struct Around: Sendable {
        let before: String
        let after: String
    }

    /// By key, then by the tag of the language.
    static let table = Result {
        try JSONDecoder().decode([String: [String: Sentence]].self, from: Data(PackageResources.share_words_json))
    }

    let language: PageLanguage
    /// Those without forms, as they stand: what the template reads.
    let plain: [String: String]
    private let forms: [String: [String: String]]

    init(_ language: PageLanguage) throws(PageError) {
        let table: [String: [String: Sentence]]
        switch Self.table {
        case .success(let found): table = found
        case .failure(let error): throw PageError(.template, "the words of a page cannot be parsed: \(error)")
        }
        var (plain, forms) = ([String: String](), [String: [String: String]]())
        for (key, sentences) in table {
            switch sentences[language.tag] {
            case .plain(let text): plain[key] = text
            case .forms(let found): forms[key] = found
            case nil: throw PageError(.template, "the words of a page lack \(key) in \(language)")
            }
        }
        (self.language, self.plain, self.forms) = (language, plain, forms)
    }

    /// - Parameter count: fills `{count}`, and chooses the form.
    func text(_ key: String, count: Int? = nil, _ values: [String: String] = [:]) -> String {
        var values = values
        if let count { values["count"] = "\(count)" }
        let form = forms[key].flatMap { $0[isOne(count ?? 0) ? "one" : "other"] ?? $0["other"] }
        return Self.fill(form ?? plain[key] ?? key, values)
    }

    /// What stands before and after the place of this name.
    func around(_ place: String, _ key: String) -> Around {
        let parts = text(key, [place: "\u{0}"]).split(separator: "\u{0}", omittingEmptySubsequences: false)
        return Around(before: String(parts.first ?? ""), after: String(parts.dropFirst().first ?? ""))
    }

    /// What there is, in one line: `15 June 2024, 14:03, 1:12`.
    func joined(_ texts: String?...) -> String {
        let texts = texts.compactMap(\.self)
        return texts.dropFirst().reduce(texts.first ?? "") { text("pair", ["a": $0, "b": $1]) }
    }

    /// As CLDR has it for whole numbers.
    private func isOne(_ count: Int) -> Bool {
        switch language {
        case .en, .de, .es: count == 1
        case .fr: count < 2
        case .zh: false
        }
    }

    private static func fill(_ sentence: String, _ values: [String: String]) -> String {
        var text = ""
        var rest = sentence[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            text += rest[..<open]
            text += values[String(rest[rest.index(after: open)..<close])] ?? ""
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }
}
