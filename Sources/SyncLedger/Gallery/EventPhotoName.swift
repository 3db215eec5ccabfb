import SyncCore
package import SystemPackage

/// What the photos in a file of gallery events are called, where they are to be files: `june.json` holds `june.jpg`, or, with
/// several of them, `june-1.jpg` and so on.
package enum EventPhotoName {
    /// - Parameters:
    ///   - index: of the photo among those of its file.
    ///   - contentType: of the stored copy.
    package static func path(in file: FilePath, index: Int, of count: Int, contentType: String) -> FilePath {
        let mark = count > 1 ? "-\(index + 1)" : ""
        let ending = "\(mark).\(MediaType.ending(ofContentType: contentType))"
        guard let component = FilePath.Component(bytes: stem(of: file) + Array(ending.utf8)) else { return file }
        return file.removingLastComponent().appending(component)
    }

    /// What all of these names begin with.
    static func stem(of file: FilePath) -> [UInt8] {
        guard let name = file.lastComponent?.bytes else { return [] }
        // As FilePath has it: a dot at the beginning begins no ending.
        let dot = name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? name.endIndex
        return Array(name[..<dot])
    }
}
