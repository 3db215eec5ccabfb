extension Collection<UInt8> {
    /// How many bytes the byte order mark of UTF-8 takes at the beginning of a text: 3, or 0 where there is none.
    /// Editors on Windows write one, and it is no part of the text (RFC 3629, section 6). Only the first one counts.
    package var utf8MarkLength: Int { starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }
}
