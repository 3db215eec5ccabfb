/// What pages of other things show.
extension SitePage {
    /// Cards.
    package struct Listing: Sendable {
        package struct Link: Sendable {
            package var label: String
            package var target: String

            package init(_ label: String, _ target: String) {
                self.label = label
                self.target = target
            }
        }

        package struct Row: Sendable {
            package var title: String
            package var state: String
            package var facts: [String]
            package var link: String?
            /// Done and to be done, where it goes on.
            package var progress: (done: Int, total: Int)?
            package var links: [Link]
            /// The address of a small picture.
            package var picture: String?

            package init(
                title: String, state: String, facts: [String], link: String? = nil,
                progress: (done: Int, total: Int)? = nil, links: [Link] = [], picture: String? = nil
            ) {
                self.title = title
                self.state = state
                self.facts = facts
                self.link = link
                self.progress = progress
                self.links = links
                self.picture = picture
            }
        }

        package struct Search: Sendable {
            package var address: String
            package var text: String
            package var label: String
            package var filters: [Timeline.Filter]
            package var isFiltered: Bool

            package init(
                address: String, text: String, label: String, filters: [Timeline.Filter], isFiltered: Bool
            ) {
                self.address = address
                self.text = text
                self.label = label
                self.filters = filters
                self.isFiltered = isFiltered
            }
        }

        /// Of all of them together.
        package var facts: [Fact]
        package var rows: [Row]
        /// What has to be said besides, a sentence each.
        package var remarks: [String]
        /// What stands there when there are none.
        package var whenEmpty: String
        package var search: Search?
        /// The link to further ones.
        package var next: String?

        package init(
            facts: [Fact] = [], rows: [Row], remarks: [String] = [], whenEmpty: String, search: Search? = nil,
            next: String? = nil
        ) {
            self.facts = facts
            self.rows = rows
            self.remarks = remarks
            self.whenEmpty = whenEmpty
            self.search = search
            self.next = next
        }
    }

    /// One share, with its link.
    package struct Share: Sendable {
        /// A square picture as an SVG path.
        package struct Code: Sendable {
            package var side: Int
            package var path: String

            package init(side: Int, path: String) {
                self.side = side
                self.path = path
            }
        }

        package var id: String
        package var state: String
        package var facts: [Fact]
        /// Absolute, or beginning with a slash; `nil` while nobody can see it.
        package var link: String?
        /// What opens a message with the link in it.
        package var send: [Listing.Link]
        /// When the link ends, and why then.
        package var linkEnd: String?
        /// The same as a QR code; `nil` where no other machine can open it.
        package var code: Code?
        /// Who can open the link, in words.
        package var reach: String
        package var canBeEnded: Bool
        package var progress: (done: Int, total: Int)?
        /// `nil` where no photo of a guest waits.
        package var guests: Guests?

        package init(
            id: String, state: String, facts: [Fact], link: String?, send: [Listing.Link] = [], linkEnd: String? = nil,
            code: Code?, reach: String, canBeEnded: Bool, progress: (done: Int, total: Int)?, guests: Guests? = nil
        ) {
            self.send = send
            self.linkEnd = linkEnd
            self.guests = guests
            self.id = id
            self.state = state
            self.facts = facts
            self.link = link
            self.code = code
            self.reach = reach
            self.canBeEnded = canBeEnded
            self.progress = progress
        }
    }

    /// Photos that guests have added to a share, and that nobody else sees.
    package struct Guests: Sendable {
        package struct Photo: Sendable {
            package var number: Int
            /// Its size, and when it came.
            package var facts: String

            package init(number: Int, facts: String) {
                self.number = number
                self.facts = facts
            }
        }

        package var photos: [Photo]
        package var canDecide: Bool

        package init(photos: [Photo], canDecide: Bool) {
            self.photos = photos
            self.canDecide = canDecide
        }
    }

    /// Sharing a vacation: its photos, to choose among by looking.
    package struct ShareForm: Sendable {
        package struct Photo: Sendable {
            package var id: String
            package var name: String
            package var isChosen: Bool

            package init(id: String, name: String, isChosen: Bool) {
                self.id = id
                self.name = name
                self.isChosen = isChosen
            }
        }

        /// An open share, and what becomes of it; the order brings its id back.
        package struct Update: Sendable {
            package var share: String
            package var text: String

            package init(share: String, text: String) {
                self.share = share
                self.text = text
            }
        }

        /// What bringing photos back costs first; the order brings the number back.
        package struct Price: Sendable {
            package var dollars: String
            package var text: String

            package init(dollars: String, text: String) {
                self.dollars = dollars
                self.text = text
            }
        }

        /// Its number.
        package var vacation: String
        package var photos: [Photo]
        package var sharedBy: String
        package var days: Int
        package var isFull: Bool
        package var remarks: [String]
        /// Open shares of the same vacation, which stay as they are.
        package var others: [Listing.Link]
        /// The one that changes by this order.
        package var update: Update?
        package var price: Price?
        /// Whether guests could reach its page.
        package var canTakeGuests: Bool
        package var takesGuests: Bool
        /// What the button that ticks photos says.
        package var all: String

        package init(
            vacation: String, photos: [Photo], sharedBy: String, days: Int, isFull: Bool, remarks: [String],
            others: [Listing.Link], update: Update?, price: Price?, canTakeGuests: Bool = false,
            takesGuests: Bool = false, all: String = "Tick all"
        ) {
            self.all = all
            self.vacation = vacation
            self.photos = photos
            self.sharedBy = sharedBy
            self.days = days
            self.isFull = isFull
            self.remarks = remarks
            self.others = others
            self.update = update
            self.price = price
            self.canTakeGuests = canTakeGuests
            self.takesGuests = takesGuests
        }
    }

    /// What a command prints.
    package struct Text: Sendable {
        package var lines: [String]
        /// A form without fields.
        package var button: Listing.Link?
        /// What the button does, in words.
        package var remark: String

        package init(_ lines: [String], button: Listing.Link? = nil, remark: String = "") {
            self.lines = lines
            self.button = button
            self.remark = remark
        }
    }

    package struct Message: Sendable {
        package var text: String
        package var link: (label: String, target: String)?

        package init(text: String, link: (label: String, target: String)? = nil) {
            self.text = text
            self.link = link
        }
    }

    package struct Password: Sendable {
        package var problem: String?

        package init(problem: String? = nil) {
            self.problem = problem
        }
    }
}
