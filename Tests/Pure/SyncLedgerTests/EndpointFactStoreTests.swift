import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct EndpointFactStoreTests {
    private let memory: any EndpointFactStore
    private let ledger: Ledger

    init() throws {
        ledger = try Ledger.inMemory()
        memory = ledger
    }

    @Test func `an upload in parts is known until it is forgotten, the oldest first`() throws {
        let uploads = try (1...3).map {
            StoredUpload(
                id: "id-\($0)", key: try ObjectKey("users/ana/originals/\($0).dat"),
                began: Date(timeIntervalSince1970: 1_000 - Double($0)))
        }
        for upload in uploads { memory.noteUpload(upload) }
        #expect(memory.unfinishedUploads() == uploads.reversed())
        memory.noteUpload(uploads[0])
        memory.forgetUpload("id-2")
        memory.forgetUpload("unknown")
        #expect(memory.unfinishedUploads() == [uploads[2], uploads[0]])
    }

    @Test func `facts are kept for each place, the last word counts`() {
        memory.remember("checksums", value: "yes", of: "s3://one")
        memory.remember("checksums", value: "no", of: "s3://one")
        memory.remember("region", value: "eu-central-1", of: "s3://one")
        memory.remember("checksums", value: "yes", of: "s3://two")
        #expect(memory.facts(of: "s3://one") == ["checksums": "no", "region": "eu-central-1"])
        #expect(memory.facts(of: "s3://two") == ["checksums": "yes"])
        #expect(memory.facts(of: "s3://three") == [:])
    }
}
