import Glibc
import SystemPackage
import Testing

@testable import SyncWatch

@Suite struct InotifyEventTests {
    @Test func `records are read one after the other`() {
        let bytes =
            record(watch: 7, mask: IN_CLOSE_WRITE, name: "a.jpg") + record(watch: 7, mask: IN_CREATE, name: ".hidden")
            + record(watch: 3, mask: IN_DELETE_SELF, name: "") + record(watch: -1, mask: IN_Q_OVERFLOW, name: "")
        #expect(
            events(in: bytes) == [
                InotifyEvent(watch: 7, mask: .closeWrite, name: "a.jpg"),
                InotifyEvent(watch: 7, mask: .create, name: ".hidden"),
                InotifyEvent(watch: 3, mask: .deleteSelf, name: nil),
                InotifyEvent(watch: -1, mask: .overflow, name: nil),
            ])
    }

    @Test(arguments: [0, 1, 15, 17, 31])
    func `a record that is cut off is left alone`(length: Int) {
        let bytes = record(watch: 7, mask: IN_CLOSE_WRITE, name: "a.jpg")
        #expect(bytes.count == 32)
        #expect(events(in: Array(bytes.prefix(length))) == [])
    }

    private func events(in bytes: [UInt8]) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        bytes.withUnsafeBytes { buffer in InotifyEvent.forEach(in: buffer) { events.append($0) } }
        return events
    }

    private func record(watch: Int32, mask: Int32, name: String) -> [UInt8] {
        let padded = name.isEmpty ? [] : Array(name.utf8) + Array(repeating: 0, count: 16 - name.utf8.count % 16)
        let header = [UInt32(bitPattern: watch), UInt32(bitPattern: mask), 0, UInt32(padded.count)]
        return header.flatMap { word in withUnsafeBytes(of: word) { Array($0) } } + padded
    }
}
