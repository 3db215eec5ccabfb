import Glibc

/// One record of the kernel's queue (inotify(7), `struct inotify_event`).
struct InotifyEvent: Hashable {
    /// Identifies a watched folder within its queue; the kernel does not use a number twice.
    typealias WatchID = Int32

    struct Mask: OptionSet, Hashable {
        let rawValue: UInt32

        static let modify = Mask(IN_MODIFY)
        static let attributes = Mask(IN_ATTRIB)
        static let closeWrite = Mask(IN_CLOSE_WRITE)
        static let movedFrom = Mask(IN_MOVED_FROM)
        static let movedTo = Mask(IN_MOVED_TO)
        static let create = Mask(IN_CREATE)
        static let delete = Mask(IN_DELETE)
        static let deleteSelf = Mask(IN_DELETE_SELF)
        static let moveSelf = Mask(IN_MOVE_SELF)
        /// The file system was unmounted.
        static let unmount = Mask(IN_UNMOUNT)
        /// The kernel dropped events.
        static let overflow = Mask(IN_Q_OVERFLOW)
        /// The watch is no more.
        static let ignored = Mask(IN_IGNORED)
        /// The event is about a folder.
        static let folder = Mask(IN_ISDIR)

        /// What a folder is watched for. Files that were unlinked and are still written to are left out.
        static let watched: Mask = [
            .modify, .attributes, .closeWrite, .movedFrom, .movedTo, .create, .delete, .deleteSelf, .moveSelf,
            Mask(IN_EXCL_UNLINK), Mask(IN_ONLYDIR),
        ]

        init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        private init(_ bit: Int32) {
            self.init(rawValue: UInt32(bitPattern: bit))
        }
    }

    var watch: WatchID
    var mask: Mask
    /// The entry of the folder that it is about; `nil` when it is about the folder itself.
    var name: EntryName?

    /// Calls `body` with each record of a filled part of a read buffer, but those about ignored names.
    static func forEach(in buffer: UnsafeRawBufferPointer, _ body: (InotifyEvent) -> Void) {
        var rest = buffer[...]
        while rest.count >= headerSize {
            let record = UnsafeRawBufferPointer(rebasing: rest)
            let length = Int(record.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
            guard record.count >= headerSize + length else { return }
            rest = rest.dropFirst(headerSize + length)
            var event = InotifyEvent(
                watch: record.loadUnaligned(as: WatchID.self),
                mask: Mask(rawValue: record.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
            if length > 0 {
                // The kernel pads names with at least one NUL.
                let name = record[headerSize..<headerSize + length].prefix { $0 != 0 }
                guard name.count < length else { continue }
                let entry = UnsafeRawBufferPointer(rebasing: record[headerSize...])
                    .withMemoryRebound(to: CChar.self) { characters in
                        characters.baseAddress.flatMap { EntryName(unlessIgnored: $0) }
                    }
                guard let entry else { continue }
                event.name = entry
            }
            body(event)
        }
    }

    private static let headerSize = 16
}
