/// What pages of other things show.
extension SitePage {
    /// Cards.
    struct Listing: Sendable {
        struct Link: Sendable {
            var label: String
            var target: String

            init(_ label: String, _ target: String) {
                self.label = label
                self.target = target
            }
        }

        struct Row: Sendable {
            var title: String
            var state: String
            var facts: [String]
            var link: String?
            /// Done and to be done, where it goes on.
            var progress: (done: Int, total: Int)?
            var links: [Link] = []
            /// The address of a small picture.
            var picture: String?
        }

        struct Search: Sendable {
            var address: String
            var text: String
            var label: String
            var filters: [Timeline.Filter]
            var isFiltered: Bool
        }

        /// Of all of them together.
        var facts: [Fact] = []
        var rows: [Row]
        /// What has to be said besides, a sentence each.
        var remarks: [String] = []
        /// What stands there when there are none.
        var whenEmpty: String
        var search: Search?
        /// The link to further ones.
        var next: String?
    }

    /// One share, with its link.
    struct Share: Sendable {
        /// A square picture as an SVG path.
        struct Code: Sendable {
            var side: Int
            var path: String
        }

        var id: String
        var state: String
        var facts: [Fact]
        /// Absolute, or beginning with a slash; `nil` while nobody can see it.
        var link: String?
        /// What opens a message with the link in it.
        var send: [Listing.Link] = []
        /// When the link ends, and why then.
        var linkEnd: String?
        /// The same as a QR code; `nil` where no other machine can open it.
        var code: Code?
        /// Who can open the link, in words.
        var reach: String
        var canBeEnded: Bool
        var progress: (done: Int, total: Int)?
        /// `nil` where no photo of a guest waits.
        var guests: Guests?
    }

    /// Photos that guests have added to a share, and that nobody else sees.
    struct Guests: Sendable {
        struct Photo: Sendable {
            var number: Int
            /// Its size, and when it came.
            var facts: String
        }

        var photos: [Photo]
        var canDecide: Bool
    }

    /// Sharing a vacation: its photos, to choose among by looking.
    struct ShareForm: Sendable {
        struct Photo: Sendable {
            var id: String
            var name: String
            var isChosen: Bool
        }

        /// An open share, and what becomes of it; the order brings its id back.
        struct Update: Sendable {
            var share: String
            var text: String
        }

        /// What bringing photos back costs first; the order brings the number back.
        struct Price: Sendable {
            var dollars: String
            var text: String
        }

        /// Its number.
        var vacation: String
        var photos: [Photo]
        var sharedBy: String
        var days: Int
        var isFull: Bool
        var remarks: [String]
        /// Open shares of the same vacation, which stay as they are.
        var others: [Listing.Link]
        /// The one that changes by this order.
        var update: Update?
        var price: Price?
        /// Whether guests could reach its page.
        var canTakeGuests = false
        var takesGuests = false
        /// What the button that ticks photos says.
        var all = "Tick all"
    }

    /// What a command prints.
    struct Text: Sendable {
        var lines: [String]
        /// A form without fields.
        var button: Listing.Link?
        /// What the button does, in words.
        var remark: String
    }

    struct Message: Sendable {
        var text: String
        var link: (label: String, target: String)?
    }

    struct Password: Sendable {
        var problem: String?
    }
}
