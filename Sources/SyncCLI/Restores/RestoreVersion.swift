import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage

/// Which earlier version of photos `restore --version` means: its number, a day on which it was the stored one, or the
/// first digits of its id.
enum RestoreVersion: Hashable {
    case number(Int)
    case day(CalendarDay)
    case id(String)

    /// Digits of an id that cannot be a number.
    private static let shortestID = 6

    init?(_ text: String) {
        if let day = CalendarDay(text) {
            self = .day(day)
        } else if let number = Int(text), number >= 1, text.utf8.count < Self.shortestID {
            self = .number(number)
        } else if text.utf8.count >= Self.shortestID, text.allSatisfy(\.isHexDigit) {
            self = .id(text.lowercased())
        } else {
            return nil
        }
    }

    /// The one that is meant of a photo's versions; `nil` when there is none.
    func choose(from versions: [PhotoVersion]) -> PhotoVersion? {
        switch self {
        case .number(let number): return versions.first { $0.number == number }
        // In UTC, as all that `status` tells; the latest of that day.
        case .day(let day):
            return versions.first { version in
                CalendarDay(version.storedAt) <= day && day <= CalendarDay(version.replacedAt)
            }
        case .id(let id):
            return versions.first { version in
                version.object.md5.map { "\($0)".hasPrefix(id) } ?? false
                    || version.object.key.lastSegment.hasPrefix(id)
            }
        }
    }

    /// The keys of the versions, in place of the paths of photos.
    /// - Throws: ``CommandFailure`` that names what has no such version.
    func keys(
        of paths: [String], in ledger: Ledger, _ locator: PathLocator
    ) throws -> [String] {
        var keys: [String] = []
        var unknown: [String] = []
        for path in paths {
            let before = keys.count
            let isKnown = try locator.photos(at: path, in: ledger) { photo, _ in
                guard let version = choose(from: try ledger.versions(of: photo)) else { return }
                keys.append(version.object.key.rawValue)
            }
            if !isKnown {
                unknown.append(UnknownPaths.message(path))
            } else if keys.count == before {
                unknown.append(
                    "\(ProcessEnvironment.absolute(path).text.escapingControls): no such version is stored; sync-agent status "
                        + "\(RawText.shown(path).escapingControls) lists those that are")
            }
        }
        guard unknown.isEmpty else { throw CommandFailure(.noSuchPath, unknown.joined(separator: "\n")) }
        return keys
    }
}
