/// `<CopyObjectResult>`: only with it the copy is there, whatever the status said before.
package struct CopyReply: Decodable {
    /// - Throws: `XMLReply.Invalid`.
    package static func check(_ body: [UInt8]) throws(XMLReply.Invalid) {
        _ = try XMLReply.decode(Self.self, root: "CopyObjectResult", from: body)
    }
}
