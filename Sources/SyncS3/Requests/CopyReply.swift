/// `<CopyObjectResult>`: only with it the copy is there, whatever the status said before.
package enum CopyReply {
    /// - Throws: ``InvalidReply``.
    package static func check(_ body: [UInt8]) throws(InvalidReply) {
        _ = try XMLElement(document: body, root: "CopyObjectResult")
    }
}
