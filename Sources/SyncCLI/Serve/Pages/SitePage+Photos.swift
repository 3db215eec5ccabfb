import SyncCore

/// What pages of photos show.
extension SitePage {
    /// The stream of pictures, page by page.
    struct Timeline: Sendable {
        struct Item: Sendable {
            /// Hexadecimal MD5; `nil` before the file was read: it has no page yet.
            var id: String?
            var name: String
            var day: CalendarDay
            var badge: String?
            /// How it stands, in words.
            var state: String
            /// Pixels; 0 where they are not known.
            var width: Int
            var height: Int
            var isFilm: Bool
            var hasThumbnail: Bool
            var canBeRestored: Bool
            /// Its bytes can be had now.
            var canBeKept: Bool
        }

        /// A choice of a filter; the first stands for no choice.
        struct Choice: Sendable {
            var value: String
            var label: String
            var isChosen: Bool
        }

        struct Filter: Sendable {
            var name: String
            var label: String
            var choices: [Choice]
        }

        /// Of the first page, without a query.
        var address: String
        var items: [Item]
        var filters: [Filter]
        var search: String
        /// The link to what is older; `nil` at the end.
        var next: String?
        /// Whether it is the beginning of the stream.
        var isFirst: Bool
        var isFiltered: Bool
        /// What stands there when there is nothing at all.
        var whenEmpty: String
        /// Whether something may be asked for.
        var takesOrders: Bool
        /// What the stream is of, in a sentence.
        var about: String?
        /// The link to the offer for all of the page that can come back.
        var all: String?
        /// The link to one file with all of it that can be read.
        var download: String?
    }

    struct Fact: Sendable {
        var name: String
        var value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// One photo, large, with what is known of it.
    struct Photo: Sendable {
        /// Something that is stored of it beside its copy.
        struct Further: Sendable {
            var text: String
            var links: [Listing.Link]
        }

        var id: String
        var name: String
        var badge: String?
        var state: String
        var facts: [Fact]
        var places: [String]
        var further: [Further] = []
        /// Its picture can be shown; else its thumbnail, if there is one.
        var hasPicture: Bool
        var hasThumbnail: Bool
        var isFilm: Bool
        var canBeRestored: Bool
        /// Its file, or the stored copy.
        var download: String?
    }

    /// What a restore would cost and take, before it is asked for.
    struct Offer: Sendable {
        struct Tier: Sendable {
            var value: String
            var label: String
            var price: String
            /// The same as a number, which the order brings back: nobody pays what nobody was shown.
            var dollars: String
            var wait: String
            var isChosen: Bool
        }

        var photos: [String]
        /// The number of a vacation that is to come back.
        var vacation: String?
        var summary: String
        var tiers: [Tier]
        /// Classes that no price is known of; the order brings them back.
        var unpriced: [String] = []
        /// What is left out of it, and why.
        var remarks: [String]
    }
}
