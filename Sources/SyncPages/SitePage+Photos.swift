package import SyncCore

/// What pages of photos show.
extension SitePage {
    /// The stream of pictures, page by page.
    package struct Timeline: Sendable {
        package struct Item: Sendable {
            /// Hexadecimal MD5; `nil` before the file was read: it has no page yet.
            package var id: String?
            package var name: String
            package var day: CalendarDay
            package var badge: String?
            /// How it stands, in words.
            package var state: String
            /// Pixels; 0 where they are not known.
            package var width: Int
            package var height: Int
            package var isFilm: Bool
            package var hasThumbnail: Bool
            package var canBeRestored: Bool
            /// Its bytes can be had now.
            package var canBeKept: Bool

            package init(
                id: String?, name: String, day: CalendarDay, badge: String?, state: String, width: Int, height: Int,
                isFilm: Bool, hasThumbnail: Bool, canBeRestored: Bool, canBeKept: Bool
            ) {
                self.id = id
                self.name = name
                self.day = day
                self.badge = badge
                self.state = state
                self.width = width
                self.height = height
                self.isFilm = isFilm
                self.hasThumbnail = hasThumbnail
                self.canBeRestored = canBeRestored
                self.canBeKept = canBeKept
            }
        }

        /// A choice of a filter; the first stands for no choice.
        package struct Choice: Sendable {
            package var value: String
            package var label: String
            package var isChosen: Bool

            package init(value: String, label: String, isChosen: Bool) {
                self.value = value
                self.label = label
                self.isChosen = isChosen
            }
        }

        package struct Filter: Sendable {
            package var name: String
            package var label: String
            package var choices: [Choice]

            package init(name: String, label: String, choices: [Choice]) {
                self.name = name
                self.label = label
                self.choices = choices
            }
        }

        /// Of the first page, without a query.
        package var address: String
        package var items: [Item]
        package var filters: [Filter]
        package var search: String
        /// The link to what is older; `nil` at the end.
        package var next: String?
        /// Whether it is the beginning of the stream.
        package var isFirst: Bool
        package var isFiltered: Bool
        /// What stands there when there is nothing at all.
        package var whenEmpty: String
        /// Whether something may be asked for.
        package var takesOrders: Bool
        /// What the stream is of, in a sentence.
        package var about: String?
        /// The link to the offer for all of the page that can come back.
        package var all: String?
        /// The link to one file with all of it that can be read.
        package var download: String?

        package init(
            address: String, items: [Item], filters: [Filter], search: String, next: String?, isFirst: Bool,
            isFiltered: Bool, whenEmpty: String, takesOrders: Bool, about: String? = nil, all: String? = nil,
            download: String? = nil
        ) {
            self.about = about
            self.all = all
            self.download = download
            self.address = address
            self.items = items
            self.filters = filters
            self.search = search
            self.next = next
            self.isFirst = isFirst
            self.isFiltered = isFiltered
            self.whenEmpty = whenEmpty
            self.takesOrders = takesOrders
        }
    }

    package struct Fact: Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// One photo, large, with what is known of it.
    package struct Photo: Sendable {
        /// Something that is stored of it beside its copy.
        package struct Further: Sendable {
            package var text: String
            package var links: [Listing.Link]

            package init(text: String, links: [Listing.Link]) {
                self.text = text
                self.links = links
            }
        }

        package var id: String
        package var name: String
        package var badge: String?
        package var state: String
        package var facts: [Fact]
        package var places: [String]
        package var further: [Further]
        /// Its picture can be shown; else its thumbnail, if there is one.
        package var hasPicture: Bool
        package var hasThumbnail: Bool
        package var isFilm: Bool
        package var canBeRestored: Bool
        /// Its file, or the stored copy.
        package var download: String?

        package init(
            id: String, name: String, badge: String?, state: String, facts: [Fact], places: [String],
            further: [Further] = [], hasPicture: Bool, hasThumbnail: Bool, isFilm: Bool, canBeRestored: Bool,
            download: String?
        ) {
            self.id = id
            self.name = name
            self.badge = badge
            self.state = state
            self.facts = facts
            self.places = places
            self.further = further
            self.hasPicture = hasPicture
            self.hasThumbnail = hasThumbnail
            self.isFilm = isFilm
            self.canBeRestored = canBeRestored
            self.download = download
        }
    }

    /// What a restore would cost and take, before it is asked for.
    package struct Offer: Sendable {
        package struct Tier: Sendable {
            package var value: String
            package var label: String
            package var price: String
            /// The same as a number, which the order brings back: nobody pays what nobody was shown.
            package var dollars: String
            package var wait: String
            package var isChosen: Bool

            package init(
                value: String, label: String, price: String, dollars: String, wait: String, isChosen: Bool
            ) {
                self.value = value
                self.label = label
                self.price = price
                self.dollars = dollars
                self.wait = wait
                self.isChosen = isChosen
            }
        }

        package var photos: [String]
        /// The number of a vacation that is to come back.
        package var vacation: String?
        package var summary: String
        package var tiers: [Tier]
        /// Classes that no price is known of; the order brings them back.
        package var unpriced: [String]
        /// What is left out of it, and why.
        package var remarks: [String]

        package init(
            photos: [String], vacation: String?, summary: String, tiers: [Tier], unpriced: [String] = [],
            remarks: [String]
        ) {
            self.photos = photos
            self.vacation = vacation
            self.summary = summary
            self.tiers = tiers
            self.unpriced = unpriced
            self.remarks = remarks
        }
    }
}
