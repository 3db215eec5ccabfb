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
