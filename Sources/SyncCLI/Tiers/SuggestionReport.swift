import SyncCore
import SyncEngine
import SystemPackage

/// Albums that may be wanted back. It only tells: whoever wants one asks for it.
struct SuggestionReport: Report {
    struct Album: Encodable {
        var folder: String
        /// In plain words.
        var reason: String
        /// What is archived of it.
        var photos: Int
        var bytes: Int64
        var costUSD: Double
        @Nullable var hours: Double?

        init(_ suggestion: Suggestion) {
            folder = suggestion.folder.text
            reason = suggestion.reason.words
            photos = suggestion.photos
            bytes = suggestion.bytes
            costUSD = suggestion.estimate.totalUSD.roundedUSD
            hours = suggestion.estimate.hours
        }

        /// `12 photos of Paris are archived, and 3 were requested lately: to bring back the album as one would cost $0.02`
        var sentence: String {
            let name = (FilePath(folder).lastComponent?.text ?? folder).escapingControls
            let verb = photos == 1 ? "is" : "are"
            let wait = hours.map { ", within \(Quantities.span(.seconds($0 * 3_600)))" } ?? ""
            return
                "\(Quantities.counted(photos, "photo")) of \(name) \(verb) archived, and \(reason): to bring back the "
                + "album as one would cost \(Quantities.dollars(costUSD))\(wait)"
        }
    }

    var suggestions: [Album]

    init(_ suggestions: [Suggestion]) {
        self.suggestions = suggestions.map(Album.init)
    }

    /// For people, in 80 columns; the command that brings an album back stands below it.
    func lines(on terminal: Terminal) -> [String] {
        guard !suggestions.isEmpty else { return ["Nothing to suggest."] }
        return suggestions.flatMap { album in
            terminal.wrapped(album.sentence)
                + [terminal.styled("  sync-agent restore \(album.folder.asShellWord)", .dim)]
        }
    }
}

extension Suggestion.Reason {
    var words: String {
        switch self {
        case .opened(let photos): "\(Quantities.count(photos)) \(photos == 1 ? "was" : "were") requested lately"
        case .sameWeek(let year): "some were taken in this week of \(year)"
        }
    }
}
