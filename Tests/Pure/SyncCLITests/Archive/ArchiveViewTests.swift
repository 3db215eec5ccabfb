import FoundationEssentials
import SyncCore
import SyncLedger
import Testing

@testable import SyncCLI
@testable import SyncEngine

@Suite struct ArchiveViewTests {
    private func memory(_ name: String = "e1", class storageClass: StorageClass = .standard) throws
        -> ArchivedGalleryPhoto
    {
        let key = try ObjectKey("gallery-archive/ana/0f3a9c21-6c0e/2025/10/\(name).jpg")
        let info = ObjectInfo(
            key: key, size: 320_000, storageClass: storageClass,
            metadata: [
                MetadataName.originalCreatedAt: "2025-10-20T08:15:30Z", MetadataName.eventType: "taskResponse",
                MetadataName.taskTitle: "Pills", MetadataName.width: "2048",
            ])
        return ArchivedGalleryPhoto(info, at: try #require(ArchivedPhotoPlace(key, of: KeyLayout(user: "ana"))))
    }

    private func lines(_ page: ArchivePage, names: [ByteString: String] = [:]) -> [String] {
        ArchiveView(terminal: .standardOutput([:]), names: names).list(page)
    }

    @Test func `a line tells date, profile, size, class and badge, within 80 columns`() throws {
        let page = ArchivePage(photos: [try memory(), try memory("e2", class: .deepArchive)], next: nil)
        let lines = lines(page, names: ["0f3a9c21-6c0e": "Grandma"])
        #expect(lines[2] == "2025-10-20 08:15  Grandma              313 KiB  STANDARD")
        #expect(lines[3] == "  e1                                    taskResponse    Pills")
        #expect(lines[4] == "2025-10-20 08:15  Grandma              313 KiB  DEEP_ARCHIVE  archived")
        #expect(lines.last == "2 photos")
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test func `an event's id is whole however long it is, and a title is as long as there is room`() throws {
        let id = String(repeating: "0123456789", count: 6)
        let lines = lines(ArchivePage(photos: [try memory(id)], next: nil))
        #expect(lines[3] == "  \(id)  taskResponse    Pills")
    }

    @Test func `the way to the next page is a line to copy`() throws {
        let memory = try memory("it's; $(x)")
        let lines = lines(ArchivePage(photos: [memory], next: memory.key))
        #expect(
            lines.last?.hasSuffix(#"--after 'gallery-archive/ana/0f3a9c21-6c0e/2025/10/it'\''s; $(x).jpg'"#) == true)
        #expect(lines.contains("1 photo, and there are more"))
    }

    @Test func `nothing is said in a sentence`() {
        #expect(lines(ArchivePage(photos: [], next: nil)) == ["No archived photos match."])
    }

    @Test func `JSON has every field that people build on`() throws {
        let page = ArchivePage(photos: [try memory(class: .deepArchive)], next: try memory().key)
        var notes = ProfileNotes()
        notes.names = ["ruth": "Grandma"]
        notes.merges = ["0f3a9c21-6c0e": "ruth"]
        let book = ProfileBook([], notes: notes, phones: NoPhones(), region: nil, pseudonyms: Pseudonyms(key: [1]))
        let text = try JSONOutput.text(ArchiveReport(page, book))
        let expected = """
            {
              "next" : "gallery-archive/ana/0f3a9c21-6c0e/2025/10/e1.jpg",
              "photos" : [
                {
                  "archivedAt" : null,
                  "badge" : "archived",
                  "createdAt" : "2025-10-20T08:15:30Z",
                  "eventId" : "e1",
                  "eventType" : "taskResponse",
                  "height" : null,
                  "key" : "gallery-archive/ana/0f3a9c21-6c0e/2025/10/e1.jpg",
                  "profile" : "ruth",
                  "profileName" : "Grandma",
                  "size" : 320000,
                  "storageClass" : "DEEP_ARCHIVE",
                  "title" : "Pills",
                  "width" : 2048
                }
              ],
              "problems" : [

              ]
            }
            """
        #expect(text == expected)
    }

    private struct NoPhones: PhoneNumbers {
        func parse(_ text: String, region: String?) throws(InvalidPhoneNumber) -> PhoneNumber {
            throw InvalidPhoneNumber(text, reason: "none")
        }
    }
}
