/// Rules as other people and programs write them, made from a seed.
struct ForeignRules {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// A document, and its rules in their order.
    mutating func document() -> (text: String, rules: [String]) {
        let space = pick(["", "", "", "s3:"])
        let root = "\(space)LifecycleConfiguration"
        let declared = space.isEmpty ? "xmlns" : "xmlns:s3"
        let rules = (0..<next(6)).map { rule($0, space) }
        var text = pick(["", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", "\u{FEFF}<?xml version='1.0'?>"])
        text += pick(["", "<!-- <Rule> of the house -->", "<!DOCTYPE x [<!ENTITY org \"]>\"> <!-- ' -->]>\n"])
        text += "<\(root) \(declared)=\"http://s3.amazonaws.com/doc/2006-03-01/\" xmlns:x='urn:x' x:note=\"a>b\">"
        for rule in rules { text += pick(["", "\n  ", "\r\n\t", "<!-- </Rule> -->", "<?x </Rule> ?>"]) + rule }
        text += pick(["", "\n"]) + "</\(root)\(pick(["", " ", "\n"]))>" + pick(["", "\n", "<!-- end -->"])
        return (text, rules)
    }

    private mutating func rule(_ number: Int, _ space: String) -> String {
        let tag = { (name: String, content: String) in "<\(space)\(name)>\(content)</\(space)\(name)>" }
        let id = pick([
            "", tag("ID", "rule \(number)"), tag("ID", "a&amp;b \(number)"), tag("ID", "<![CDATA[</Rule>\(number)]]>"),
            tag("ID", "sync-agent-photos-\(number) in other/"),
        ])
        let days = tag("Days", "30")
        let parts = [
            id,
            pick([
                tag("Filter", tag("Tag", tag("Key", "k\(number)") + tag("Value", "v&#10;&lt;/Rule&gt;"))),
                tag("Filter", tag("And", tag("Prefix", "users/") + tag("ObjectSizeLessThan", "5"))),
                tag("Filter", tag("Prefix", "logs/")), "<\(space)Filter/>", tag("Prefix", "old/"),
                "<\(space)Filter a='>' b=\"/>\" ><!-- <Prefix>p</Prefix> --></\(space)Filter >",
            ]),
            tag("Status", pick(["Enabled", "Disabled", " Enabled "])),
            pick([
                tag(
                    "NoncurrentVersionTransition",
                    tag("NoncurrentDays", "1") + tag("StorageClass", "GLACIER")),
                tag("Transition", tag("Date", "2030-01-01T00:00:00Z") + tag("StorageClass", "GLACIER")),
                tag("Transition", days + tag("StorageClass", "STANDARD_IA"))
                    + tag("Transition", tag("Days", "90") + tag("StorageClass", "GLACIER")),
                tag("Expiration", tag("ExpiredObjectDeleteMarker", "true")), tag("Expiration", days),
            ]),
            pick(["", "<x:Rule>&org;<Rule/></x:Rule>", "<New xmlns='urn:new'><Rule>1</Rule></New>", "\n<!-- ]]> -->"]),
        ]
        return "<\(space)Rule\(pick(["", " ", "\n"]))>" + parts.joined(separator: pick(["", "\n    "]))
            + "</\(space)Rule>"
    }

    private mutating func pick(_ choices: [String]) -> String { choices[next(choices.count)] }

    /// SplitMix64.
    private mutating func next(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        word ^= word >> 31
        return Int(word % UInt64(limit))
    }
}
