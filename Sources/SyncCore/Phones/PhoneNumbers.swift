package import FoundationEssentials

/// Reads telephone numbers as people write them.
package protocol PhoneNumbers: Sendable {
    /// - Parameter region: two letters (ISO 3166-1) whose numbers may be written without a country code; `nil` when each has
    ///   to have one.
    /// - Throws: ``InvalidPhoneNumber`` with the reason.
    func parse(_ text: String, region: String?) throws(InvalidPhoneNumber) -> PhoneNumber
}

/// A telephone number in E.164: `+17788143739`.
package struct PhoneNumber: Hashable, Sendable, CustomStringConvertible {
    package let e164: String

    /// - Parameter e164: as a ``PhoneNumbers`` has found it.
    package init(e164: String) {
        self.e164 = e164
    }

    package var description: String { e164 }
    /// Without the `+`, as `https://wa.me/` wants it.
    package var digits: Substring { e164.dropFirst() }
}

package struct InvalidPhoneNumber: Error, Hashable, Sendable, CustomStringConvertible {
    package let number: String
    /// In plain words, with the next step.
    package let reason: String
    /// Whether it would be one but for what is dialled in front of area codes: it may be complete in one town only.
    package let isIncomplete: Bool

    package init(_ number: String, reason: String, isIncomplete: Bool = false) {
        self.number = number
        self.reason = reason
        self.isIncomplete = isIncomplete
    }

    package var description: String { "\"\(number.escapingControls)\" is no telephone number: \(reason)" }
}

/// What a profile's id is, as far as it can be told.
package enum ProfileIdentity: Hashable, Sendable {
    /// A UUID, a name, a short number: it may stand in keys.
    case id
    /// It is a telephone number, or holds one.
    case number(PhoneNumber)
    /// It looks like a telephone number, and cannot be read as one. What may be somebody's number comes to stand in no key.
    case unreadNumber
    /// It holds as many digits as a telephone number has, and nothing proves that they are something else. In keys and
    /// metadata stands a pseudonym of it.
    case doubtful
}

extension PhoneNumbers {
    /// The one place that decides whether a profile's id may leave this machine, in a key or beside an object.
    ///
    /// A number is seen wherever it stands in the id. Behind `+`, or `00` as most of the world dials abroad, it is one in
    /// any company, and so is what a word such as `whatsapp:` announces. Other digits among letters are a number when the
    /// region's own plan says so. What shapes a number may have nobody can list: seven digits that nothing proves to be
    /// something else are in doubt, and do not leave either.
    /// - Parameter region: whose numbers may be written without a country code.
    package func identity(ofProfile id: String, region: String?) -> ProfileIdentity {
        identity(of: ProfileText(id), region: region)
    }

    /// Whether a text that is no profile's id, such as that of an event, may tell somebody's telephone number.
    /// - Parameter times: moments at which it may have been made: apps make ids of the clock.
    package func mayTellNumber(_ text: String, region: String?, times: ClosedRange<Date>? = nil) -> Bool {
        // Nearly all ids: no other digits can hide in ASCII that is not percent-encoded.
        let utf8 = text.utf8
        if utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }),
            utf8.count(where: { $0.isDigit }) < ProfileText.fewestDigits
        {
            return false
        }
        let text = ProfileText(text)
        return identity(of: times.map { text.withoutMoments(in: $0) } ?? text, region: region) != .id
    }

    private func identity(of text: ProfileText, region: String?) -> ProfileIdentity {
        let rest = text.withoutChance
        if let number = number(in: text, besidesChance: rest, region: region) {
            return Self.holdsMore(rest, than: number) ? .unreadNumber : .number(number)
        }
        if text.afterPlus.contains(where: { Self.digits($0).utf8.count >= 7 }) { return .unreadNumber }
        if isWrittenAsNumber(rest, region: region) { return .unreadNumber }
        let isInDoubt = text.mayHoldNumber { digits in
            international(digits) != nil || region != nil && (try? parse(digits, region: region)) != nil
        }
        return isInDoubt ? .doubtful : .id
    }

    private func number(in text: ProfileText, besidesChance rest: ProfileText, region: String?) -> PhoneNumber? {
        if let number = text.afterPlus.lazy.compactMap({ number(behindPrefix: $0) }).first { return number }
        // Digits of a day may be a number in the region (Denmark's have eight); where they are, privacy comes first.
        if text.isAllDigits || Self.isSpelledLikeANumber(rest.string) || text.string.hasPrefix("tel:"),
            Self.isLongEnough(text), let number = try? parse(text.string, region: region)
        {
            return number
        }
        return number(among: rest, region: region)
    }

    /// Whether there are enough digits for a second number: whose profile it is cannot be told then.
    private static func holdsMore(_ text: ProfileText, than number: PhoneNumber) -> Bool {
        let digits = digits(text.runs.joined())
        let others = digits.replacing(number.digits, with: "")
        let count =
            others.utf8.count < digits.utf8.count
            ? others.utf8.count : digits.utf8.count - number.digits.utf8.count
        return count >= ProfileText.fewestDigits
    }

    // MARK: Reading

    /// What follows `+` or `00`. What stands behind the number itself may be digits, too.
    private func number(behindPrefix groups: [ProfileText.Group]) -> PhoneNumber? {
        // Ten digits in one piece are no part of a longer number.
        if let first = groups.first, first.digits.utf8.count >= 10, let number = international(first.digits) {
            return number
        }
        return (1...max(groups.count, 1)).reversed().lazy
            .compactMap { international(Self.digits(groups.prefix($0))) }.first
    }

    private func international(_ digits: String) -> PhoneNumber? {
        // E.164 has 15 at most; "(0)" may be among them. The shortest that can be dialled from abroad have 7.
        guard (7...16).contains(digits.utf8.count) else { return nil }
        return try? parse("+\(digits)", region: nil)
    }

    private func number(among text: ProfileText, region: String?) -> PhoneNumber? {
        let runs = text.runs
        for run in runs {
            for start in run.indices {
                guard run[start].digits.hasPrefix("00") else { continue }
                var groups = Array(run[start...])
                groups[0].digits.removeFirst(2)
                if groups[0].digits.isEmpty { groups.removeFirst() }
                // A count that was filled up with zeros is hardly ever a number: no country begins with a third one, and
                // the rest has to be one of that country's.
                if let number = number(behindPrefix: groups) { return number }
            }
        }
        let isSaid = text.saysNumber
        guard isSaid || region != nil else { return nil }
        for run in runs {
            for part in Self.parts(of: run) where isSaid || !part.contains(where: \.isInWord) {
                let digits = Self.digits(part)
                if isSaid, let number = international(digits) { return number }
                if region != nil, let number = try? parse(digits, region: region) { return number }
            }
        }
        return nil
    }

    /// What may be a number in a run of groups: the longest first, then the first.
    private static func parts(of run: [ProfileText.Group]) -> [ArraySlice<ProfileText.Group>] {
        var parts: [(digits: Int, groups: ArraySlice<ProfileText.Group>)] = []
        for start in run.indices {
            var digits = 0
            for end in start..<run.endIndex {
                digits += run[end].digits.utf8.count
                guard digits <= 17 else { break }
                if digits >= 7 { parts.append((digits, run[start...end])) }
            }
        }
        return parts.sorted { $0.digits > $1.digits }.map(\.groups)
    }

    private static func digits(_ groups: some Sequence<ProfileText.Group>) -> String {
        groups.reduce(into: "") { $0 += $1.digits }
    }

    // MARK: What cannot be read

    /// Whether a profile is written as people write telephone numbers, so that it must be taken for one even where it
    /// cannot be read: it lacks its country or its town, or is too short.
    private func isWrittenAsNumber(_ profile: ProfileText, region: String?) -> Bool {
        let text = profile.string
        if profile.isAllDigits { return isDialledSomewhere(text, region: region) }
        if text.hasPrefix("tel:") || Self.isSpelledLikeANumber(text) { return true }
        if isNational(profile, region: region) { return true }
        let scalars = profile.scalars.drop { !ProfileText.isDigit($0) && $0 != "+" }
        let before = profile.scalars.prefix(upTo: scalars.startIndex)
        guard let first = scalars.first, !before.contains(where: \.properties.isAlphabetic) else { return false }
        if !ProfileText.isDigit(first) { return true }
        // What follows the number itself.
        let end = scalars.firstIndex(where: \.properties.isAlphabetic) ?? scalars.endIndex
        let (number, rest) = (scalars[..<end], scalars[end...])
        guard number.count(where: ProfileText.isDigit) >= 7 else { return false }
        return rest.first == "x" || rest.starts(with: "ext".unicodeScalars)
            || number.contains { " ()".unicodeScalars.contains($0) }
    }

    /// Whether digits alone may be a number. Where no country is set they are one of some country; else they are an id,
    /// unless they begin as numbers do, are one with the country code in front, or one without its town.
    private func isDialledSomewhere(_ digits: String, region: String?) -> Bool {
        // E.164 has 15 at most, and two zeros may stand in front. The shortest that can be dialled from abroad have 7.
        guard (7...17).contains(digits.utf8.count) else { return false }
        return region == nil || digits.hasPrefix("0") || (try? parse("+\(digits)", region: nil)) != nil
            || isIncomplete(digits, region: region)
    }

    /// Whether digits among letters lack a country, or a town, to be read.
    private func isNational(_ profile: ProfileText, region: String?) -> Bool {
        let isSaid = profile.saysNumber
        return profile.runs.contains { run in
            if isSaid {
                let digits = Self.digits(run)
                return digits.utf8.count >= 7
                    && (region == nil || digits.hasPrefix("0") || isIncomplete(digits, region: region))
            }
            // Nine and more: with less it is a count that was filled up.
            return region == nil
                && Self.parts(of: run).contains { part in
                    let digits = Self.digits(part)
                    return (9...12).contains(digits.utf8.count) && digits.hasPrefix("0") && !digits.hasPrefix("00")
                        && !part.contains(where: \.isInWord)
                }
        }
    }

    private func isIncomplete(_ digits: String, region: String?) -> Bool {
        do {
            _ = try parse(digits, region: region)
            return false
        } catch {
            return error.isIncomplete
        }
    }

    private static func isLongEnough(_ text: ProfileText) -> Bool {
        text.scalars.count(where: ProfileText.isDigit) >= 7
    }

    private static func isSpelledLikeANumber(_ text: String) -> Bool {
        // RFC 3966
        let number = text.hasPrefix("tel:") ? text.dropFirst(4) : text[...]
        var digits = 0
        for scalar in number.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .decimalNumber: digits += 1
            case .spaceSeparator, .dashPunctuation, .openPunctuation, .closePunctuation: continue
            default: guard "+./−".unicodeScalars.contains(scalar) else { return false }
            }
        }
        // The shortest numbers that can be dialled from abroad have 7 digits with their country code (E.164 sets none).
        return (7...20).contains(digits)
    }
}

/// Why what is of a profile waits, with the next step.
package enum ProfileObstacle: Error, Hashable, Sendable, CustomStringConvertible {
    case noProfile(PhoneNumber)
    /// ``ProfileIdentity/unreadNumber``
    case unread(region: String?)

    package var description: String {
        switch self {
        case .noProfile(let number): "no profile for \(number): add it with sync-agent profiles add"
        case .unread(region: nil):
            "its profile looks like a telephone number without its country: set share.phone_region, such as US, and it "
                + "is read; one that holds two numbers needs to have one"
        case .unread:
            "its profile is written like a telephone number and cannot be read as one; begin it with + and the country "
                + "code, leave out a second number, or correct share.phone_region"
        }
    }
}
