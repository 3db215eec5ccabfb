import FoundationEssentials
package import SyncCore

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

/// Days and moments in words: capture times as the clock of the place showed them, all else in UTC.
package enum PageDates {
    package static func day(_ day: CalendarDay, _ language: PageLanguage = .en) -> String {
        switch language {
        case .en, .de, .fr: "\(dayAndMonth(day, language)) \(day.year)"
        case .es: "\(dayAndMonth(day, language)) de \(day.year)"
        case .zh: "\(day.year)年\(dayAndMonth(day, language))"
        }
    }

    /// `15–22 June 2024`: what both days have in common is said once.
    static func range(_ start: CalendarDay, _ end: CalendarDay, _ language: PageLanguage = .en) -> String {
        if start == end { return day(start, language) }
        let (isOneYear, isOneMonth) = (start.year == end.year, start.year == end.year && start.month == end.month)
        if language == .zh {
            let last = isOneMonth ? number(end, language) : isOneYear ? dayAndMonth(end, language) : day(end, language)
            return "\(day(start, language))至\(last)"
        }
        if isOneMonth { return "\(number(start, language))–\(day(end, language))" }
        return "\(isOneYear ? dayAndMonth(start, language) : day(start, language)) – \(day(end, language))"
    }

    /// `15 June 2024, 14:03`.
    static func moment(_ date: Date, _ language: PageLanguage = .en) -> String {
        let minutes = Int((date.timeIntervalSince1970 / 60).rounded(.down))
        let ofDay = (minutes % 1_440 + 1_440) % 1_440
        return moment(CalendarDay(date), "\((ofDay / 60).padded(to: 2)):\((ofDay % 60).padded(to: 2))", language)
    }

    /// `15 June 2024, 07:30`.
    static func moment(_ time: CaptureTime, _ language: PageLanguage = .en) -> String {
        moment(time.day, time.hourAndMinute, language)
    }

    /// For `datetime` attributes and scripts: ISO 8601 in UTC, whole seconds.
    static func machine(_ date: Date) -> String {
        date.formatted(.iso8601)
    }

    /// - Parameter number: 1 to 12.
    package static func month(_ number: Int, _ language: PageLanguage = .en) -> String {
        let names =
            switch language {
            case .en:
                "January February March April May June July August September October November December"
            case .de: "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
            case .es:
                "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
            case .fr: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
            case .zh: "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月"
            }
        return String(names.split(separator: " ")[number - 1])
    }

    private static func moment(_ day: CalendarDay, _ time: String, _ language: PageLanguage) -> String {
        "\(self.day(day, language))\(language == .zh ? "" : ",") \(time)"
    }

    private static func dayAndMonth(_ day: CalendarDay, _ language: PageLanguage) -> String {
        let (number, month) = (number(day, language), month(day.month, language))
        return switch language {
        case .en, .de, .fr: "\(number) \(month)"
        case .es: "\(number) de \(month)"
        case .zh: "\(month)\(number)"
        }
    }

    private static func number(_ day: CalendarDay, _ language: PageLanguage) -> String {
        switch language {
        case .en, .es: "\(day.day)"
        case .de: "\(day.day)."
        case .fr: day.day == 1 ? "1er" : "\(day.day)"
        case .zh: "\(day.day)日"
        }
    }
}
