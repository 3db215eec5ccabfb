package import SystemPackage

/// The names that a mirror gives to photos: `001_2024-06-15_Paris.jpg`. Nothing of the manifest gets into them but
/// letters, marks and digits.
package struct MirrorName: Hashable, Sendable {
    private static let maximumPlaceLength = 60

    /// The day of a photo without a capture time.
    private let startDate: CalendarDay
    /// Empty where nothing is left of it.
    private let place: String

    package init(_ share: CheckedShare) {
        startDate = share.manifest.startDate
        place = Self.place(share.manifest.locationName)
    }

    /// - Parameter isOther: whether another photo had this place in the share before: then the name gets the beginning of
    ///   the digest.
    package func name(of photo: CheckedShare.Photo, isOther: Bool = false) -> FilePath.Component {
        let day = photo.takenAt?.day ?? startDate
        var parts = [Self.number(of: photo), "\(day)"]
        if !place.isEmpty { parts.append(place) }
        if isOther { parts.append(String(photo.sha256.description.prefix(8))) }
        guard let name = FilePath.Component("\(parts.joined(separator: "_")).\(Self.ending(of: photo))") else {
            preconditionFailure("\(parts) makes no name")
        }
        return name
    }

    /// Whether a name is one that this photo can have been given, under whatever place and day the share had then, or by its
    /// own name as the share tells it now.
    package static func admits(_ name: FilePath.Component, of photo: CheckedShare.Photo) -> Bool {
        name.string.hasPrefix("\(number(of: photo))_") && name.string.hasSuffix(".\(ending(of: photo))")
            || photo.originalName?.admits(name, number: number(of: photo)) ?? false
    }

    private static func ending(of photo: CheckedShare.Photo) -> String { photo.film?.ending ?? "jpg" }

    static func number(of photo: CheckedShare.Photo) -> String { (photo.orderIndex + 1).padded(to: 3) }

    /// Runs of all else become one `_`; cut between two characters.
    static func place(_ location: String) -> String {
        var words: [[Character]] = [[]]
        for character in location {
            if character.unicodeScalars.allSatisfy(isKept) {
                words[words.count - 1].append(character)
            } else if words.last?.isEmpty == false {
                words.append([])
            }
        }
        var place = words.filter { !$0.isEmpty }.map { String($0) }.joined(separator: "_")
        while place.utf8.count > maximumPlaceLength { place.removeLast() }
        while place.last == "_" { place.removeLast() }
        return place
    }

    private static func isKept(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .nonspacingMark, .spacingMark:
            true
        default: false
        }
    }
}

/// A file's own name, as a share tells it. Whoever wrote it may mean harm: what is made of it here names a plain, visible file
/// of the kind that is downloaded, in whichever folder it comes into.
package struct OriginalName: Hashable, Sendable {
    /// Bytes of the stem: a number, a digest and an ending have room behind it, and the name of a part file around it.
    private static let longestStem = 180
    /// Characters that some disks refuse in names.
    private static let replaced: Set<Unicode.Scalar> = ["\\", ":", "*", "?", "\"", "<", ">", "|"]

    private var stem: String
    private let ending: String

    /// - Parameter film: what kind of film it is; `nil` for a photo.
    /// - Returns: `nil` where nothing harmless is left of it, or it is as ``MirrorName`` names others.
    package init?(_ text: String, film: FilmType?) {
        let line = ShareManifestRules.plain(text)
        // Scalar by scalar: with a mark behind it, a slash is another character, and still a slash.
        guard !line.unicodeScalars.contains("/"), let first = line.unicodeScalars.first,
            !".-~".unicodeScalars.contains(first)
        else { return nil }
        var scalars = String.UnicodeScalarView()
        for scalar in line.unicodeScalars { scalars.append(Self.replaced.contains(scalar) ? "_" : scalar) }
        let name = String(scalars)
        var stem = name[...]
        var ending = Self.endings(film)[0]
        if let dot = name.lastIndex(of: "."), Self.isEnding(name[dot...].dropFirst()) {
            stem = name[..<dot]
            let own = String(name[dot...].dropFirst())
            if Self.endings(film).contains(own.lowercased()) { ending = own }
        }
        while stem.utf8.count > Self.longestStem || stem.last == " " || stem.last == "." { stem.removeLast() }
        guard !stem.isEmpty, !Self.isNumbered(stem), FilePath.Component("\(stem).\(ending)") != nil else { return nil }
        self.stem = String(stem)
        self.ending = ending
    }

    /// As the manifest of a mirror keeps it.
    package var text: String { "\(stem).\(ending)" }

    /// What two names have in common that some disk takes for one: letters in upper and lower case, and in any form of Unicode.
    var folded: String { text.lowercased() }

    /// The same with something behind the stem.
    func with(_ parts: [String]) -> OriginalName {
        var copy = self
        copy.stem = ([stem] + parts).joined(separator: "_")
        return copy
    }

    var component: FilePath.Component {
        guard let name = FilePath.Component(text) else { preconditionFailure("\(text) makes no name") }
        return name
    }

    /// Whether a name is one that a mirror can have given to this photo.
    func admits(_ name: FilePath.Component, number: String) -> Bool {
        if [self, with([number])].contains(where: { $0.text.inBytes == name.string.inBytes }) { return true }
        guard let digest = name.string.dropLast(ending.utf8.count + 1).split(separator: "_").last,
            digest.utf8.count == 8
        else { return false }
        return with([number, String(digest)]).text.inBytes == name.string.inBytes
    }

    /// The first one is what a name without any gets.
    private static func endings(_ film: FilmType?) -> [String] {
        switch film {
        case nil: ["jpg", "jpeg"]
        case .mp4: ["mp4", "m4v"]
        case .quickTime: ["mov", "qt"]
        }
    }

    private static func isEnding(_ text: Substring) -> Bool {
        (1...5).contains(text.utf8.count) && text.utf8.allSatisfy(\.isAlphanumeric)
    }

    /// Whether it begins as ``MirrorName`` has it: `001_2024-06-15`.
    private static func isNumbered(_ stem: Substring) -> Bool {
        let parts = stem.split(separator: "_", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count > 1 && parts[0].count >= 3 && parts[0].allSatisfy(\.isNumber)
            && CalendarDay(String(parts[1])) != nil
    }
}

/// The names that a share tells of its photos, each for one of them, as a mirror gives them.
package struct OriginalNames: Hashable, Sendable {
    /// By order index.
    private let names: [Int: OriginalName]

    /// - Parameter taken: what the folder has of other photos, by order index: none of those names is given to another one.
    package init(_ share: CheckedShare, taken: [Int: [String]] = [:]) {
        var owners: [String: Int] = [:]
        for (index, names) in taken.sorted(by: { $0.key < $1.key }) {
            for name in names { owners[name.lowercased()] = index }
        }
        var names: [Int: OriginalName] = [:]
        for photo in share.photos.sorted(by: { $0.orderIndex < $1.orderIndex }) {
            guard let told = photo.originalName else { continue }
            let choices = [told, told.with([MirrorName.number(of: photo)])]
            // What is left has its number for a name.
            guard let name = choices.first(where: { owners[$0.folded] ?? photo.orderIndex == photo.orderIndex }) else {
                continue
            }
            owners[name.folded] = photo.orderIndex
            names[photo.orderIndex] = name
        }
        self.names = names
    }

    /// - Parameter isOther: whether another photo had this place in the share before.
    /// - Returns: `nil` where the share tells none that can be given.
    package func name(of photo: CheckedShare.Photo, isOther: Bool = false) -> FilePath.Component? {
        guard let name = names[photo.orderIndex] else { return nil }
        guard isOther else { return name.component }
        return name.with([MirrorName.number(of: photo), String(photo.sha256.description.prefix(8))]).component
    }
}
