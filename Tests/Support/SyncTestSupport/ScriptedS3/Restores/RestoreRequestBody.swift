/// The body of RestoreObject.
struct RestoreRequestBody {
    let days: Int?
    let tier: RestoreRecord.Tier

    init(_ bytes: [UInt8], _ ability: StoreAbilities.Restores) throws(S3Failure) {
        let root = try XMLDocumentReader.read(bytes, root: "RestoreRequest")
        let parameters = root.first("GlacierJobParameters")
        if ability == .daysOnly, parameters != nil { throw .malformedXML }
        let known = ["Days", "GlacierJobParameters", "Description"]
        guard root.children.allSatisfy({ known.contains($0.name) }) else { throw .malformedXML }
        if let element = root.first("Days") {
            guard let days = Int(element.text), days >= 1 else { throw .malformedXML }
            self.days = days
        } else {
            days = nil
        }
        if let parameters {
            let text = parameters.first("Tier")?.text ?? ""
            guard let tier = RestoreRecord.Tier(rawValue: text) else { throw .malformedXML }
            self.tier = tier
        } else {
            tier = .standard
        }
        if ability == .standardTierOnly, tier != .standard {
            throw S3Failure(501, "NotImplemented", "Only the tier Standard is implemented.")
        }
    }
}
